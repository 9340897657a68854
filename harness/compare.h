/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Two traces of one stack, ours and an oracle's: what came out of the comparison. Pure functions
 * on arrays.
 */
#ifndef HARNESS_COMPARE_H
#define HARNESS_COMPARE_H

#include "unwind/walk.h"

/*	symbol		name			meaning */
#define COMPARE_OUTCOMES(X) \
	X(UNTESTABLE,	"untestable",		"there are no two traces") \
	X(EQUAL,	"equal",		"same pcs and SPs, FP where both know it") \
	X(NEITHER,	"neither",		"one frame on both sides, no end of the stack") \
	X(DIFFERENT,	"different",		"a frame differs") \
	X(OURS_SHORTER,	"ours-shorter",		"we stop, the oracle goes on") \
	X(OURS_LONGER,	"ours-longer",		"the oracle stops, we go on")

enum compare_outcome {
#define X(sym, name, text) COMPARE_##sym,
	COMPARE_OUTCOMES(X)
#undef X
	COMPARE_NR_OUTCOMES
};

/* What differs in the first frame that does. */
enum compare_field { COMPARE_NOTHING, COMPARE_PC, COMPARE_SP, COMPARE_FP };

/* How the oracle came to a frame. */
enum compare_via {
	COMPARE_VIA_REGS,		/* the topmost one */
	COMPARE_VIA_EH_FRAME,
	COMPARE_VIA_DEBUG_FRAME,	/* which ours does not read */
	COMPARE_VIA_GUESS,		/* by the frame pointer, where no CFI covers the pc */
	COMPARE_VIA_SIGNAL,		/* by the code of a signal trampoline without CFI (s390x) */
	COMPARE_NR_VIA
};

/*
 * Faults of libdw that make its trace too short. Each has its proof in docs/oracles.md, and is
 * recognised by what the oracle saw at its last frame, not by the outcome.
 */
#define COMPARE_FAULTS(X) \
	X(NONE,			"none") \
	X(MODULE_REFUSED,	"module-refused")	/* dwfl_report_elf() does not take the file */ \
	X(SIGNAL_CODE,		"signal-code")		/* knows no such trampoline without CFI */ \
	X(SIGNED_RA,		"signed-ra")		/* takes an address with its signature */ \
	X(FPR_ORDER,		"s390-fpr-order")	/* mixes up FPRs behind a signal frame */

enum compare_fault {
#define X(sym, name) COMPARE_FAULT_##sym,
	COMPARE_FAULTS(X)
#undef X
	COMPARE_NR_FAULTS
};

/**
 * struct compare_frame - a frame as an oracle sees it
 * @pc: interrupted pc, or return address
 * @sp: its stack pointer, if @sp_known
 * @fp: its frame pointer, if @fp_known
 * @via: enum compare_via: how it was reached
 * @exact: @pc is no return address: looked up as it is
 */
struct compare_frame {
	u64 pc;
	u64 sp;
	u64 fp;
	u8 via;
	bool sp_known;
	bool fp_known;
	bool exact;
};

/**
 * struct compare_oracle - an oracle's trace
 * @frame: topmost first
 * @nr: frames
 * @full: it would have gone on, but the array was full
 * @fault: a proved fault that ended it
 * @next_pc: for COMPARE_FAULT_SIGNED_RA: the next pc, without its signature
 * @fp_lost: bits of a frame pointer that it does not read from the stack
 */
struct compare_oracle {
	struct compare_frame *frame;
	u32 nr;
	bool full;
	enum compare_fault fault;
	u64 next_pc;
	u64 fp_lost;
};

/**
 * struct compare_chain - what came out of the comparison with a chain of pcs
 * @equal: the same pcs to the end of the stack on both sides
 * @failed: a pc differs, or one side ends early without a reason
 * @at: the first frame that differs, or that only one has
 */
struct compare_chain {
	bool equal;
	bool failed;
	u32 at;
};

/**
 * struct compare_result - what came out
 * @outcome: one of six
 * @explained: true for a shorter or longer trace that has a reason which is no fault of ours
 * @at: the frame where the traces part: the first that differs, or that only one has
 * @field: what differs there, for COMPARE_DIFFERENT
 * @nr_oracle: frames of the oracle that were compared: those before the cut
 * @cut: frames behind it
 * @cut_via: how the first of them was reached, if @cut
 */
struct compare_result {
	enum compare_outcome outcome;
	bool explained;
	u32 at;
	enum compare_field field;
	u32 nr_oracle;
	u32 cut;
	enum compare_via cut_via;
};

void compare_traces(const struct ehu_trace *ours, const struct compare_oracle *oracle,
		    struct compare_result *result);
void compare_chain(const struct ehu_trace *ours, const u64 *pcs, u32 nr,
		   struct compare_chain *result);
bool compare_failed(const struct compare_result *result);
bool compare_same(const struct ehu_trace *a, const struct ehu_trace *b, u32 *at);
bool compare_faulted(const struct ehu_trace *whole, const struct ehu_trace *faulted, u32 *at);
const char *compare_outcome_name(enum compare_outcome outcome);
const char *compare_field_name(enum compare_field field);
const char *compare_via_name(enum compare_via via);
const char *compare_fault_name(enum compare_fault fault);

#endif /* HARNESS_COMPARE_H */
