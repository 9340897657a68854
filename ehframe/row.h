/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rules and rows: what a CFA program says of CFA, FP, RA and SP at one pc, as values.
 */
#ifndef EHFRAME_ROW_H
#define EHFRAME_ROW_H

#include "ehframe/stop.h"

/* A register that no rule of ours can use: numbers from here on are folded into it. */
#define EHF_REG_OTHER	0xffff

/* Set in ehf_rule.expr when the expression stands in the CIE, not in the FDE. */
#define EHF_EXPR_IN_CIE	0x80000000U

enum ehf_rule_kind {
	EHF_RULE_UNSPEC,	/* no rule: the ABI's default (unchanged; for SP: CFA + sp_off) */
	EHF_RULE_SAME,		/* DW_CFA_same_value */
	EHF_RULE_UNDEF,		/* DW_CFA_undefined */
	EHF_RULE_AT_CFA,	/* saved at CFA + off */
	EHF_RULE_VAL_CFA,	/* is CFA + off */
	EHF_RULE_REG,		/* is in register reg */
	EHF_RULE_AT_REG,	/* expression: saved at reg + off */
	EHF_RULE_VAL_REG,	/* val_expression: is reg + off */
	EHF_RULE_STOP,		/* cannot be followed; reg holds the enum ehf_stop */
};

/**
 * struct ehf_rule - how one register of the caller is found
 * @kind: enum ehf_rule_kind
 * @expr_len: bytes of the expression that it was written as; 0 where it was not one
 * @reg: DWARF register, for REG, AT_REG, VAL_REG; the reason, for STOP
 * @expr: where that expression stands: bytes from the start of its FDE, or of its CIE with
 *	EHF_EXPR_IN_CIE set. For printing only
 * @off: bytes, signed, data_align already applied
 */
struct ehf_rule {
	u8 kind;
	u8 expr_len;
	u16 reg;
	u32 expr;
	s64 off;
};

enum ehf_cfa_kind {
	EHF_CFA_NONE,		/* not defined yet */
	EHF_CFA_REG,		/* reg + off */
	EHF_CFA_VAL_EXPR,	/* the same, but written as an expression */
	EHF_CFA_AT_REG,		/* *(reg + off) + add */
	EHF_CFA_AT_SUM,		/* *(reg + off + (reg2 << shift)) + add */
	EHF_CFA_IP_STEP,	/* reg + off + ((ip & 15) >= bound ? 1 << shift : 0), exact ip */
	EHF_CFA_STOP,		/* cannot be followed; reg holds the enum ehf_stop */
};

/**
 * struct ehf_cfa - how the canonical frame address is found
 * @kind: enum ehf_cfa_kind
 * @expr_len: as in struct ehf_rule
 * @reg: DWARF register; the reason, for STOP
 * @expr: as in struct ehf_rule
 * @off: bytes added to @reg
 * @add: bytes added to what was loaded
 * @reg2: second register, for AT_SUM
 * @shift: for AT_SUM and IP_STEP
 * @bound: for IP_STEP: the offset in a 16-byte PLT slot from which one more word is pushed
 */
struct ehf_cfa {
	u8 kind;
	u8 expr_len;
	u16 reg;
	u32 expr;
	s64 off;
	s64 add;
	u16 reg2;
	u8 shift;
	u8 bound;
};

/* The registers that a row has rules for. */
enum ehf_tracked { EHF_FP, EHF_RA, EHF_SP, EHF_NR_TRACKED };

/* Flags of a row. */
#define EHF_ROW_SIGNAL		0x01	/* 'S': an interrupted context was saved, not a call made */
#define EHF_ROW_OUTERMOST	0x02	/* the RA is undefined: no caller */
#define EHF_ROW_RA_SIGNED	0x04	/* AArch64: the return address is signed here */

/* All rules at one place: what DW_CFA_remember_state saves (DWARF 5, 6.4.2.4). */
struct ehf_state {
	struct ehf_cfa cfa;
	struct ehf_rule rule[EHF_NR_TRACKED];
	u8 ra_signed;	/* 0 or 1 */
};

/**
 * struct ehf_row - the rules that hold in [@start, @end), or why there are none
 * @start: first address
 * @end: one past the last address
 * @stop: EHF_STOP_NONE, or why the rules below cannot be used there
 * @flags: EHF_ROW_*
 * @ra_reg: the CIE's return address column: where the RA is when its rule is "unchanged"
 * @cfa: the CFA's rule
 * @rule: rules of FP, RA and SP, by enum ehf_tracked. A STOP rule of FP spoils only FP;
 *	one of RA or SP is repeated in @stop
 */
struct ehf_row {
	u64 start;
	u64 end;
	enum ehf_stop stop;
	u16 flags;
	u16 ra_reg;
	struct ehf_cfa cfa;
	struct ehf_rule rule[EHF_NR_TRACKED];
};

/**
 * struct ehf_plain - a plain row
 * @word: see ehframe/plain.h for its fields
 */
struct ehf_plain {
	u64 word;
};

#endif /* EHFRAME_ROW_H */
