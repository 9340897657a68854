/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Plain rows: what nearly every row says, in 40 bits, and the short way to it.
 */
#ifndef EHFRAME_PLAIN_H
#define EHFRAME_PLAIN_H

#include "ehframe/lookup.h"
#include "ehframe/row.h"

/*
 * The fields of struct ehf_plain. Offsets are signed and counted in stack slots of the machine,
 * from the CFA; the CFA's own from SP or FP. The low 24 bits are 0, for a holder to use.
 */
#define EHF_PLAIN_FREE_BITS	24
#define EHF_PLAIN_STOP		(1ULL << 24)	/* no rules: an enum ehf_stop from bit 48 on */
#define EHF_PLAIN_CFA_LOAD	(1ULL << 25)	/* the CFA is what stands there */
#define EHF_PLAIN_SP_SAVED	(1ULL << 26)	/* SP is at the machine's place from the CFA */
#define EHF_PLAIN_CFA_FP	(1ULL << 27)	/* CFA from FP, else from SP */
#define EHF_PLAIN_FP_KEPT	(0ULL << 28)	/* FP is unchanged */
#define EHF_PLAIN_FP_SAVED	(1ULL << 28)	/* FP is at CFA + offset */
#define EHF_PLAIN_FP_LOST	(2ULL << 28)	/* FP is unknown in the caller */
#define EHF_PLAIN_FP_AT_FP	(3ULL << 28)	/* FP is where FP points to (DRAP) */
#define EHF_PLAIN_FP_KIND	(3ULL << 28)
#define EHF_PLAIN_FP_OFF	30		/* 9 bits */
#define EHF_PLAIN_RA_OFF	39		/* 9 bits; 0: there is no rule for the RA */
#define EHF_PLAIN_CFA_OFF	48		/* 16 bits */
#define EHF_PLAIN_STOP_OFF	48

/* All that concerns FP, the RA, the CFA's offset. */
#define EHF_PLAIN_FP		(EHF_PLAIN_FP_KIND | 0x1ffULL << EHF_PLAIN_FP_OFF)
#define EHF_PLAIN_RA		(0x1ffULL << EHF_PLAIN_RA_OFF)
#define EHF_PLAIN_RA_UNDEF	(0x100ULL << EHF_PLAIN_RA_OFF)	/* in a pass: it is undefined */
#define EHF_PLAIN_CFA		(0xffffULL << EHF_PLAIN_CFA_OFF)

/**
 * struct ehf_plain_row - a plain row and where it begins
 * @start: first address; it ends where the next one begins, the last one with its FDE
 * @row: the rules. Where @row.word is EHF_PLAIN_STOP, the rows from here to the end of the FDE are
 *	not plain, or there are none: ask ehf_program_next()
 */
struct ehf_plain_row {
	u64 start;
	struct ehf_plain row;
};

/**
 * struct ehf_plain_run - a program on the short way
 * @p: the next instruction
 * @end: one past the last one; two more bytes can be read
 * @abi: the machine
 * @states: how deep the stack may get
 * @loc: address from which the rules so far hold
 * @depth: states on the stack
 * @row: those rules
 * @stack: remembered states
 */
struct ehf_plain_run {
	const u8 *p;
	const u8 *end;
	const struct ehf_abi *abi;
	u32 states;
	u32 depth;
	u64 loc;
	struct ehf_plain row;
	struct ehf_plain stack[EHF_MAX_STATES];
};

/**
 * struct ehf_pass - all FDEs of a section, front to back
 * @fde: the present one
 * @rec: its record
 * @ctx: as given
 * @s: as given
 * @cie: what is known of its CIE
 * @run: its program
 * @state: what ehf_pass_rows() has left to give
 */
struct ehf_pass {
	struct ehf_fde fde;
	struct ehf_record rec;
	const struct ehf_ctx *ctx;
	const struct ehf_section *s;
	struct ehf_plain_cie cie;
	struct ehf_plain_run run;
	enum { EHF_PASS_RUNS, EHF_PASS_OTHER, EHF_PASS_DONE } state;
};

bool ehf_plain_pack(const struct ehf_abi *abi, const struct ehf_row *row, struct ehf_plain *plain);
void ehf_plain_unpack(const struct ehf_abi *abi, struct ehf_plain plain, struct ehf_row *row);
void ehf_plain_table(const struct ehf_section *s, struct ehf_hand *table);
bool ehf_plain_find(const struct ehf_ctx *ctx, const struct ehf_section *s,
		    const struct ehf_hand *table, u64 pc, struct ehf_plain *plain);

void ehf_pass_start(struct ehf_pass *pass, const struct ehf_ctx *ctx, const struct ehf_section *s);
bool ehf_pass_next(struct ehf_pass *pass, enum ehf_stop *stop);
u32 ehf_pass_rows(struct ehf_pass *pass, struct ehf_plain_row *rows, u32 max);

/* A signed field of @bits bits from @shift on, in bytes; @size is that of a slot. */
static inline u64 ehf_plain_off(struct ehf_plain plain, u32 shift, u32 bits, u32 size)
{
	return (u64)((s64)(plain.word << (64 - shift - bits)) >> (64 - bits)) * size;
}

static inline u64 ehf_plain_cfa_off(struct ehf_plain plain, u32 size)
{
	return ehf_plain_off(plain, EHF_PLAIN_CFA_OFF, 16, size);
}

static inline u64 ehf_plain_ra_off(struct ehf_plain plain, u32 size)
{
	return ehf_plain_off(plain, EHF_PLAIN_RA_OFF, 9, size);
}

static inline u64 ehf_plain_fp_off(struct ehf_plain plain, u32 size)
{
	return ehf_plain_off(plain, EHF_PLAIN_FP_OFF, 9, size);
}

static inline enum ehf_stop ehf_plain_stop(struct ehf_plain plain)
{
	return (enum ehf_stop)(plain.word >> EHF_PLAIN_STOP_OFF);
}

/* Rules that there are none of, for a reason. */
static inline struct ehf_plain ehf_plain_none(enum ehf_stop stop)
{
	return (struct ehf_plain){ EHF_PLAIN_STOP | (u64)stop << EHF_PLAIN_STOP_OFF };
}

/* No caller: what a walk makes of an RA that is undefined. */
static inline struct ehf_plain ehf_plain_outermost(void)
{
	return ehf_plain_none(EHF_STOP_RA_UNDEFINED);
}

#endif /* EHFRAME_PLAIN_H */
