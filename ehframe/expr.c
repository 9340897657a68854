// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DWARF expressions as patterns: operations are read, brought into normal form and compared
 * with what compilers, linkers and hand-written assembly are known to use.
 */
#include "ehframe/expr.h"

#include "ehframe/dwarf.h"

/* How an operation's operands are written: DWARF 5, 7.7.1, table 7.9. */
enum operand {
	BAD,		/* no such operation, or one that .eh_frame cannot use */
	NONE,
	ADDR,
	U1, S1, U2, S2, U4, S4, U8, S8,
	ULEB,
	SLEB,
	REG_OFF,	/* ULEB register, SLEB offset */
};

static const u8 operands[256] = {
	[DW_OP_addr]		= ADDR,
	[DW_OP_deref]		= NONE,
	[DW_OP_const1u]		= U1,
	[DW_OP_const1s]		= S1,
	[DW_OP_const2u]		= U2,
	[DW_OP_const2s]		= S2,
	[DW_OP_const4u]		= U4,
	[DW_OP_const4s]		= S4,
	[DW_OP_const8u]		= U8,
	[DW_OP_const8s]		= S8,
	[DW_OP_constu]		= ULEB,
	[DW_OP_consts]		= SLEB,
	[DW_OP_dup]		= NONE,
	[DW_OP_drop]		= NONE,
	[DW_OP_over]		= NONE,
	[DW_OP_pick]		= U1,
	[DW_OP_swap]		= NONE,
	[DW_OP_rot]		= NONE,
	[DW_OP_xderef]		= NONE,
	[DW_OP_abs]		= NONE,
	[DW_OP_and]		= NONE,
	[DW_OP_div]		= NONE,
	[DW_OP_minus]		= NONE,
	[DW_OP_mod]		= NONE,
	[DW_OP_mul]		= NONE,
	[DW_OP_neg]		= NONE,
	[DW_OP_not]		= NONE,
	[DW_OP_or]		= NONE,
	[DW_OP_plus]		= NONE,
	[DW_OP_plus_uconst]	= ULEB,
	[DW_OP_shl]		= NONE,
	[DW_OP_shr]		= NONE,
	[DW_OP_shra]		= NONE,
	[DW_OP_xor]		= NONE,
	[DW_OP_bra]		= S2,
	[DW_OP_eq]		= NONE,
	[DW_OP_ge]		= NONE,
	[DW_OP_gt]		= NONE,
	[DW_OP_le]		= NONE,
	[DW_OP_lt]		= NONE,
	[DW_OP_ne]		= NONE,
	[DW_OP_skip]		= S2,
	[DW_OP_lit0 ... DW_OP_lit31]	= NONE,
	[DW_OP_reg0 ... DW_OP_reg31]	= NONE,
	[DW_OP_breg0 ... DW_OP_breg31]	= SLEB,
	[DW_OP_regx]		= ULEB,
	[DW_OP_bregx]		= REG_OFF,
	[DW_OP_deref_size]	= U1,
	[DW_OP_nop]		= NONE,
};

/**
 * ehf_raw_op_read() - read one operation as it is written
 * @c: cursor over the expression; moves past the operation
 * @op: filled in
 *
 * Sets @c->stop to EHF_STOP_TRUNCATED where the window ends inside it. Source: DWARF 5, 2.5
 * and 7.7.1.
 *
 * Return: false for an operation that is unknown, and so of unknown length.
 */
bool ehf_raw_op_read(struct ehf_cursor *c, struct ehf_raw_op *op)
{
	op->code = ehf_u8(c);
	op->arg = 0;
	op->off = 0;
	switch (operands[op->code]) {
	case NONE:
		break;
	case ADDR:
		op->arg = ehf_fixed(c, c->ctx->abi->addr_size);
		break;
	case U1:
		op->arg = ehf_u8(c);
		break;
	case S1:
		op->arg = ehf_sign_extend(ehf_u8(c), 1);
		break;
	case U2:
		op->arg = ehf_fixed(c, 2);
		break;
	case S2:
		op->arg = ehf_sign_extend(ehf_fixed(c, 2), 2);
		break;
	case U4:
		op->arg = ehf_fixed(c, 4);
		break;
	case S4:
		op->arg = ehf_sign_extend(ehf_fixed(c, 4), 4);
		break;
	case U8:
	case S8:
		op->arg = ehf_fixed(c, 8);
		break;
	case ULEB:
		op->arg = ehf_uleb(c);
		break;
	case SLEB:
		op->off = ehf_sleb(c);
		op->arg = (u64)op->off;
		break;
	case REG_OFF:
		op->arg = ehf_uleb(c);
		op->off = ehf_sleb(c);
		break;
	default:
		return false;
	}
	if (op->code >= DW_OP_breg0 && op->code <= DW_OP_breg31)
		op->arg = op->code - DW_OP_breg0;
	return true;
}

/*
 * Brings one operation into normal form. plus with a constant below it becomes ADD of that
 * constant, ADD to a register or to another ADD is folded into it, so that the several ways
 * to write one sum are one pattern. Sums that overflow stay as they are and match nothing.
 */
static u32 normalise(struct ehf_op *ops, u32 nr, const struct ehf_raw_op *raw,
		     const struct ehf_abi *abi)
{
	struct ehf_op op = { .kind = EHF_OP_OTHER, .code = raw->code };

	if (raw->code >= DW_OP_lit0 && raw->code <= DW_OP_lit31) {
		op.kind = EHF_OP_CONST;
		op.num = raw->code - DW_OP_lit0;
	} else if (raw->code >= DW_OP_const1u && raw->code <= DW_OP_consts) {
		op.kind = EHF_OP_CONST;
		op.num = (s64)raw->arg;
	} else if ((raw->code >= DW_OP_breg0 && raw->code <= DW_OP_breg31) ||
		   raw->code == DW_OP_bregx) {
		op.kind = EHF_OP_REG;
		op.reg = raw->arg < EHF_REG_OTHER ? (u16)raw->arg : EHF_REG_OTHER;
		op.num = raw->off;
	} else if (raw->code == DW_OP_deref ||
		   (raw->code == DW_OP_deref_size && raw->arg == abi->addr_size)) {
		op.kind = EHF_OP_DEREF;
	} else if (raw->code == DW_OP_nop) {
		return nr;
	} else if (raw->code == DW_OP_plus_uconst) {
		op.kind = EHF_OP_ADD;
		op.num = (s64)raw->arg;
	} else if (raw->code == DW_OP_plus && nr && ops[nr - 1].kind == EHF_OP_CONST) {
		op.kind = EHF_OP_ADD;
		op.num = ops[--nr].num;
	} else if (raw->code == DW_OP_plus && nr >= 2 && ops[nr - 1].kind == EHF_OP_REG &&
		   ops[nr - 2].kind == EHF_OP_CONST &&
		   !__builtin_add_overflow(ops[nr - 1].num, ops[nr - 2].num, &op.num)) {
		/* The constant first: the sum is the same. */
		op.kind = EHF_OP_REG;
		op.reg = ops[nr - 1].reg;
		ops[nr - 2] = op;
		return nr - 1;
	} else if (raw->code == DW_OP_minus && nr && ops[nr - 1].kind == EHF_OP_CONST &&
		   !__builtin_sub_overflow((s64)0, ops[nr - 1].num, &op.num)) {
		op.kind = EHF_OP_ADD;
		nr--;
	}
	if (op.kind == EHF_OP_ADD && nr &&
	    (ops[nr - 1].kind == EHF_OP_REG || ops[nr - 1].kind == EHF_OP_ADD)) {
		s64 sum;

		if (!__builtin_add_overflow(ops[nr - 1].num, op.num, &sum)) {
			ops[nr - 1].num = sum;
			return nr;
		}
	}
	if (nr < EHF_MAX_OPS)
		ops[nr] = op;
	return nr + 1;
}

/*
 * Reads the expression that the cursor's window holds. Returns the number of operations, or
 * EHF_MAX_OPS + 1 for one that cannot match: longer than any pattern, or with an operation
 * that is unknown.
 */
static u32 read_ops(struct ehf_cursor *c, struct ehf_op *ops)
{
	struct ehf_raw_op raw;
	u32 nr = 0;

	while (ehf_more(c) && nr <= EHF_MAX_OPS) {
		if (!ehf_raw_op_read(c, &raw) || c->stop)
			return EHF_MAX_OPS + 1;
		nr = normalise(ops, nr, &raw, c->ctx->abi);
	}
	return nr;
}

/*
 * The frame of reading one expression: its length, a window of its own, where it stands.
 * Returns the stop that makes the rule unusable; c->stop is set where the program is.
 */
struct block {
	u64 outer;
	u64 len;
	u32 at;
	enum ehf_stop stop;
};

static struct block block_enter(struct ehf_cursor *c, u64 record, bool in_cie)
{
	struct block b = { 0 };
	u64 at;

	b.len = ehf_uleb(c);
	at = ehf_pos(c) - record;
	b.at = (u32)at | (in_cie ? EHF_EXPR_IN_CIE : 0);
	b.outer = ehf_narrow(c, b.len);
	if (b.len > c->ctx->limits->expr_len || b.len > 255)
		b.stop = EHF_STOP_LIMIT_EXPRESSION;
	return b;
}

static u8 block_leave(struct ehf_cursor *c, const struct block *b)
{
	if (c->stop == EHF_STOP_TRUNCATED || c->stop == EHF_STOP_LEB_RANGE)
		c->stop = EHF_STOP_BAD_EXPRESSION;
	ehf_widen(c, b->outer);
	return b->stop == EHF_STOP_LIMIT_EXPRESSION ? 0 : (u8)b->len;
}

static bool is_load(const struct ehf_op *op, u32 nr)
{
	return (nr == 2 || (nr == 3 && op[2].kind == EHF_OP_ADD)) &&
	       op[0].kind == EHF_OP_REG && op[1].kind == EHF_OP_DEREF;
}

/**
 * ehf_expr_cfa() - read a DW_CFA_def_cfa_expression's block and match it
 * @c: cursor at the block's length; moves past the block
 * @fde_or_cie: address of the record that holds it
 * @in_cie: that record is the CIE
 * @cfa: filled in; a STOP rule with EHF_STOP_EXPRESSION or EHF_STOP_LIMIT_EXPRESSION where
 *	no pattern fits
 *
 * Sets @c->stop to EHF_STOP_BAD_EXPRESSION where the block ends inside an operation or is
 * empty (a CFA needs a value), to EHF_STOP_TRUNCATED where the block does not fit.
 */
void ehf_expr_cfa(struct ehf_cursor *c, u64 fde_or_cie, bool in_cie, struct ehf_cfa *cfa)
{
	struct block b = block_enter(c, fde_or_cie, in_cie);
	const struct ehf_abi *abi = c->ctx->abi;
	struct ehf_op op[EHF_MAX_OPS] = { 0 };
	u32 nr = 0;

	*cfa = (struct ehf_cfa){ .kind = EHF_CFA_STOP };
	if (!c->stop) {
		if (!b.len)
			ehf_fail(c, EHF_STOP_BAD_EXPRESSION);
		if (!b.stop)
			nr = read_ops(c, op);
		cfa->expr_len = block_leave(c, &b);
	}
	cfa->expr = b.at;
	cfa->reg = (u16)(b.stop ? b.stop : EHF_STOP_EXPRESSION);
	if (c->stop || b.stop || !nr || nr > EHF_MAX_OPS)
		return;
	if (nr == 1 && op[0].kind == EHF_OP_REG) {
		cfa->kind = EHF_CFA_VAL_EXPR;
		cfa->reg = op[0].reg;
		cfa->off = op[0].num;
	} else if (is_load(op, nr)) {
		cfa->kind = EHF_CFA_AT_REG;
		cfa->reg = op[0].reg;
		cfa->off = op[0].num;
		cfa->add = nr == 3 ? op[2].num : 0;
	} else if (abi->match_cfa) {
		struct ehf_cfa found = *cfa;

		if (abi->match_cfa(op, nr, &found))
			*cfa = found;
	}
}

/**
 * ehf_expr_rule() - read the block of a DW_CFA_expression or DW_CFA_val_expression
 * @c: cursor at the block's length; moves past the block
 * @fde_or_cie: address of the record that holds it
 * @in_cie: that record is the CIE
 * @value: val_expression: the result is the value, not where it is saved
 * @rule: filled in; a STOP rule where no pattern fits
 *
 * The evaluation starts with the CFA on the stack (DWARF 5, 6.4.2.3), so an expression that
 * only adds to it is a rule by CFA. @c->stop is set as by ehf_expr_cfa().
 */
void ehf_expr_rule(struct ehf_cursor *c, u64 fde_or_cie, bool in_cie, bool value,
		   struct ehf_rule *rule)
{
	struct block b = block_enter(c, fde_or_cie, in_cie);
	struct ehf_op op[EHF_MAX_OPS] = { 0 };
	u32 nr = 0;

	*rule = (struct ehf_rule){ .kind = EHF_RULE_STOP };
	if (!c->stop) {
		if (!b.stop)
			nr = read_ops(c, op);
		rule->expr_len = block_leave(c, &b);
	}
	rule->expr = b.at;
	rule->reg = (u16)(b.stop ? b.stop : EHF_STOP_EXPRESSION);
	if (c->stop || b.stop || nr > 1)
		return;
	if (!nr || op[0].kind == EHF_OP_ADD) {
		rule->kind = value ? EHF_RULE_VAL_CFA : EHF_RULE_AT_CFA;
		rule->reg = 0;
		rule->off = nr ? op[0].num : 0;
	} else if (op[0].kind == EHF_OP_REG) {
		rule->kind = value ? EHF_RULE_VAL_REG : EHF_RULE_AT_REG;
		rule->reg = op[0].reg;
		rule->off = op[0].num;
	}
}
