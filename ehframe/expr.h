/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * DWARF expressions: decoded into a few normal forms and matched against known patterns;
 * never evaluated by a stack machine.
 */
#ifndef EHFRAME_EXPR_H
#define EHFRAME_EXPR_H

#include "ehframe/cursor.h"
#include "ehframe/row.h"

enum ehf_op_kind {
	EHF_OP_OTHER,	/* any operation without a kind of its own; code tells which */
	EHF_OP_REG,	/* push reg + num */
	EHF_OP_CONST,	/* push num */
	EHF_OP_ADD,	/* add num to the top */
	EHF_OP_DEREF,	/* replace the top by the word that it points to */
};

/**
 * struct ehf_op - one operation in normal form
 * @kind: enum ehf_op_kind
 * @code: the operation's DWARF code (of the last one where several were folded)
 * @reg: DWARF register, for EHF_OP_REG
 * @num: number, for REG, CONST, ADD
 */
struct ehf_op {
	u8 kind;
	u8 code;
	u16 reg;
	s64 num;
};

/* One operation as it is written; for printing. */
struct ehf_raw_op {
	u8 code;
	u64 arg;	/* register of bregx and regx, size of deref_size, else the operand */
	s64 off;	/* breg and bregx: the offset */
};

bool ehf_raw_op_read(struct ehf_cursor *c, struct ehf_raw_op *op);
void ehf_expr_cfa(struct ehf_cursor *c, u64 fde_or_cie, bool in_cie, struct ehf_cfa *cfa);
void ehf_expr_rule(struct ehf_cursor *c, u64 fde_or_cie, bool in_cie, bool value,
		   struct ehf_rule *rule);

#endif /* EHFRAME_EXPR_H */
