/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The CFA program: executes the instructions of a CIE and an FDE up to a pc, or row by row.
 */
#ifndef EHFRAME_PROGRAM_H
#define EHFRAME_PROGRAM_H

#include "ehframe/lookup.h"
#include "ehframe/row.h"

/**
 * struct ehf_program - a CFA program under way
 * @c: the next instruction
 * @ctx: memory, machine, limits, counters
 * @fde: whose program it is
 * @reg: DWARF numbers of FP, RA and SP, by enum ehf_tracked
 * @tracked: bit n is set where @reg has a number n below 64
 * @code_align: code alignment factor, or 0 where it is so large that products need a check
 * @data_align: data alignment factor, likewise
 * @insns: instructions executed, of CIE and FDE
 * @depth: states on the remember stack
 * @cie_insns: @insns after the CIE's instructions
 * @cie_depth: @depth after them
 * @cie_stop: @stop after them
 * @in_cie: the initial instructions are running
 * @dirty: a rule has changed since @rule_stop and @flags were found
 * @stop: why the program cannot go on
 * @rule_stop: why the present rules cannot be used
 * @flags: of the present row
 * @start: first address of the row that is being built
 * @loc: address from which what is executed now holds
 * @now: the rules so far
 * @initial: the rules after the CIE's instructions, for DW_CFA_restore
 * @stack: remembered states
 */
struct ehf_program {
	struct ehf_cursor c;
	const struct ehf_ctx *ctx;
	const struct ehf_fde *fde;
	u16 reg[EHF_NR_TRACKED];
	bool in_cie;
	bool dirty;
	u64 tracked;
	u32 code_align;
	s32 data_align;
	u32 insns;
	u32 depth;
	u32 cie_insns;
	u32 cie_depth;
	enum ehf_stop cie_stop;
	enum ehf_stop stop;
	enum ehf_stop rule_stop;
	u32 flags;
	u64 start;
	u64 loc;
	struct ehf_state now;
	struct ehf_state initial;
	struct ehf_state stack[EHF_MAX_STATES];
};

/**
 * struct ehf_span - the part of a row that is not rules
 * @start: first address
 * @end: one past the last address
 * @stop: EHF_STOP_NONE, or why the rules cannot be used
 * @flags: EHF_ROW_*
 */
struct ehf_span {
	u64 start;
	u64 end;
	enum ehf_stop stop;
	u32 flags;
};

void ehf_program_start(struct ehf_program *p, const struct ehf_ctx *ctx,
		       const struct ehf_fde *fde);
void ehf_program_restart(struct ehf_program *p, const struct ehf_fde *fde);
bool ehf_program_step(struct ehf_program *p, struct ehf_span *span);
bool ehf_program_next(struct ehf_program *p, struct ehf_row *row);
void ehf_row_eval(const struct ehf_ctx *ctx, const struct ehf_fde *fde, u64 pc,
		  struct ehf_row *row);
enum ehf_stop ehf_row_find(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
			   struct ehf_row *row);

#endif /* EHFRAME_PROGRAM_H */
