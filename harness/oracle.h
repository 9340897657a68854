/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a reference implementation says of one pc, in one form whoever it is.
 */
#ifndef HARNESS_ORACLE_H
#define HARNESS_ORACLE_H

#include "ehframe/expr.h"
#include "ehframe/program.h"
#include "harness/image.h"

/* Operations of one expression that are kept: as many as fit in ehf_limits_file.expr_len. */
#define ORACLE_MAX_OPS	256

enum oracle_kind {
	ORACLE_UNSPEC,		/* no rule, and the oracle can tell that from SAME and UNDEF */
	ORACLE_UNDEF,		/* undefined; for the CFA: no rule */
	ORACLE_SAME,
	ORACLE_AT_CFA,		/* saved at CFA + off */
	ORACLE_VAL_CFA,		/* is CFA + off */
	ORACLE_REG,		/* is in register reg; for the CFA: is reg + off */
	ORACLE_AT_EXPR,		/* saved where the expression, begun with the CFA, leads */
	ORACLE_VAL_EXPR,	/* is the expression's value; the only kind for a CFA */
	ORACLE_REFUSED,		/* the oracle has a row, but not this rule */
};

/**
 * struct oracle_rule - one rule
 * @kind: enum oracle_kind
 * @nr_ops: operations of the expression, more than ORACLE_MAX_OPS where it is longer
 * @reg: DWARF register
 * @off: bytes
 * @ops: in the oracle's row
 */
struct oracle_rule {
	u8 kind;
	u32 nr_ops;
	u64 reg;
	s64 off;
	struct ehf_raw_op *ops;
};

/* Index of the CFA's rule; the others are indexed by enum ehf_tracked. */
#define ORACLE_CFA	EHF_NR_TRACKED
#define ORACLE_NR_RULES	(EHF_NR_TRACKED + 1)

/**
 * struct oracle_row - an oracle's rules at a pc
 * @end: one past the last address that they hold for; 0 where it does not say
 * @signal: a signal frame; meaningful where @knows_signal
 * @knows_signal: the oracle tells signal frames
 * @defaults: rules that are not mentioned have been replaced by the ABI's defaults
 * @ra_reg: the return address column
 * @rule: by enum ehf_tracked, and ORACLE_CFA
 * @why: where there is no row: the oracle's words
 * @ops: room for @rule[].ops
 */
struct oracle_row {
	u64 end;
	bool signal;
	bool knows_signal;
	bool defaults;
	u64 ra_reg;
	struct oracle_rule rule[ORACLE_NR_RULES];
	char why[120];
	struct ehf_raw_op ops[ORACLE_NR_RULES][ORACLE_MAX_OPS];
};

enum oracle_answer {
	ORACLE_ROW,	/* here is a row */
	ORACLE_NONE,	/* it finds no FDE there */
	ORACLE_REFUSES,	/* it finds one, and cannot or will not read it */
	ORACLE_FAILS,	/* it does not work on this file at all */
};

/**
 * struct oracle - a reference implementation, opened on a file
 * @name: as reports have it
 * @weak: it has known faults of its own (docs/oracles.md): its vote counts for us, not against
 * @row: asks for the row at @pc; @fde tells which FDE is meant, for those that can be asked by
 *	FDE
 * @close: gives it back
 */
struct oracle {
	const char *name;
	bool weak;
	enum oracle_answer (*row)(struct oracle *o, u64 pc, const struct ehf_fde *fde,
				  struct oracle_row *row);
	void (*close)(struct oracle *o);
};

struct oracle *oracle_dw_open(struct image *img, char *why, size_t n);
struct oracle *oracle_libdwarf_open(struct image *img, char *why, size_t n);
struct oracle *oracle_llvm_open(struct image *img, char *why, size_t n);

/* Columns in which two rows differ, for oracle_compare(). */
#define ORACLE_DIFF_FP		0x01	/* 1 << enum ehf_tracked */
#define ORACLE_DIFF_RA		0x02
#define ORACLE_DIFF_SP		0x04
#define ORACLE_DIFF_CFA		0x08
#define ORACLE_DIFF_SIGNAL	0x10
#define ORACLE_DIFF_RA_COLUMN	0x20
#define ORACLE_DIFF_MEANING	0x40	/* same expression, but our normal form says otherwise */

u32 oracle_compare(const struct ehf_ctx *ctx, const struct ehu_arch *arch,
		   const struct ehf_fde *fde, const struct ehf_row *ours,
		   const struct oracle_row *theirs);
int oracle_rule_text(char *buf, size_t n, const struct ehu_arch *arch,
		     const struct oracle_row *row, u32 which);

#endif /* HARNESS_ORACLE_H */
