// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Rules of a row as text; expressions are printed from the bytes they were written as. */
#include "harness/rule_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ehframe/dwarf.h"
#include "ehframe/expr.h"

/* Text under construction; len may pass size, as with snprintf(). */
struct out {
	char *buf;
	size_t size;
	size_t len;
};

static void put(struct out *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *format, ...)
{
	bool room = o->len < o->size;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(room ? o->buf + o->len : NULL, room ? o->size - o->len : 0, format, ap);
	va_end(ap);
	if (n > 0)
		o->len += (size_t)n;
}

static struct out begin(char *buf, size_t n)
{
	if (n)
		buf[0] = '\0';
	return (struct out){ .buf = buf, .size = n };
}

static void put_reg(struct out *o, const struct ehu_arch *arch, unsigned int reg)
{
	if (reg < arch->nr_reg_names && arch->reg_name[reg])
		put(o, "%s", arch->reg_name[reg]);
	else if (reg == EHF_REG_OTHER)
		put(o, "r?");
	else
		put(o, "r%u", reg);
}

/* DWARF 5, 7.7.1, table 7.9, without "DW_OP_"; the numbered families are made by put_op(). */
static const char *const op_name[256] = {
	[DW_OP_addr] = "addr", [DW_OP_deref] = "deref",
	[DW_OP_const1u] = "const1u", [DW_OP_const1s] = "const1s",
	[DW_OP_const2u] = "const2u", [DW_OP_const2s] = "const2s",
	[DW_OP_const4u] = "const4u", [DW_OP_const4s] = "const4s",
	[DW_OP_const8u] = "const8u", [DW_OP_const8s] = "const8s",
	[DW_OP_constu] = "constu", [DW_OP_consts] = "consts",
	[DW_OP_dup] = "dup", [DW_OP_drop] = "drop", [DW_OP_over] = "over", [DW_OP_pick] = "pick",
	[DW_OP_swap] = "swap", [DW_OP_rot] = "rot", [DW_OP_xderef] = "xderef",
	[DW_OP_abs] = "abs", [DW_OP_and] = "and", [DW_OP_div] = "div", [DW_OP_minus] = "minus",
	[DW_OP_mod] = "mod", [DW_OP_mul] = "mul", [DW_OP_neg] = "neg", [DW_OP_not] = "not",
	[DW_OP_or] = "or", [DW_OP_plus] = "plus", [DW_OP_plus_uconst] = "plus_uconst",
	[DW_OP_shl] = "shl", [DW_OP_shr] = "shr", [DW_OP_shra] = "shra", [DW_OP_xor] = "xor",
	[DW_OP_bra] = "bra", [DW_OP_eq] = "eq", [DW_OP_ge] = "ge", [DW_OP_gt] = "gt",
	[DW_OP_le] = "le", [DW_OP_lt] = "lt", [DW_OP_ne] = "ne", [DW_OP_skip] = "skip",
	[DW_OP_regx] = "regx", [DW_OP_deref_size] = "deref_size", [DW_OP_nop] = "nop",
};

static void put_op(struct out *o, const struct ehf_raw_op *op)
{
	if (op->code >= DW_OP_lit0 && op->code <= DW_OP_lit31) {
		put(o, "lit%d", op->code - DW_OP_lit0);
		return;
	}
	if (op->code >= DW_OP_reg0 && op->code <= DW_OP_reg31) {
		put(o, "reg%d", op->code - DW_OP_reg0);
		return;
	}
	if (op->code >= DW_OP_breg0 && op->code <= DW_OP_breg31) {
		put(o, "breg%d%+" PRId64, op->code - DW_OP_breg0, op->off);
		return;
	}
	if (op->code == DW_OP_bregx) {
		put(o, "bregx(%" PRIu64 ")%+" PRId64, op->arg, op->off);
		return;
	}
	put(o, "%s", op_name[op->code] ? op_name[op->code] : "?");
	switch (op->code) {
	case DW_OP_addr:
		put(o, "(0x%" PRIx64 ")", op->arg);
		break;
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
	case DW_OP_pick:
	case DW_OP_plus_uconst:
	case DW_OP_regx:
	case DW_OP_deref_size:
		put(o, "+%" PRIu64, op->arg);
		break;
	case DW_OP_const1s:
	case DW_OP_const2s:
	case DW_OP_const4s:
	case DW_OP_const8s:
	case DW_OP_consts:
	case DW_OP_bra:
	case DW_OP_skip:
		put(o, "%+" PRId64, (int64_t)op->arg);
		break;
	}
}

/*
 * The operations of the expression that stands @expr bytes into its record, separated by ';'.
 * A byte that is no operation, and bytes that cannot be read, end the list with '?'.
 */
static void put_ops(struct out *o, const struct ehu_arch *arch, const struct ehf_mem *mem,
		    const struct ehf_fde *fde, u32 expr, u32 len)
{
	struct ehf_cost cost = { 0 };
	const struct ehf_ctx ctx = {
		.mem = mem, .abi = &arch->abi, .limits = &ehf_limits_file, .cost = &cost,
	};
	u64 record = expr & EHF_EXPR_IN_CIE ? fde->cie.addr : fde->addr;
	u64 at = record + (expr & ~EHF_EXPR_IN_CIE);
	struct ehf_cursor c;
	bool first = true;

	ehf_open(&c, &ctx, at, at + len);
	while (ehf_more(&c)) {
		struct ehf_raw_op op;
		bool known = ehf_raw_op_read(&c, &op);

		put(o, "%s", first ? "" : ";");
		first = false;
		if (!known || c.stop) {
			put(o, "?");
			break;
		}
		put_op(o, &op);
	}
	if (first && c.stop)
		put(o, "?");
}

static int done(const struct out *o)
{
	return (int)o->len;
}

/**
 * rule_text_reg_name() - a register's name
 * @buf: where it goes, always terminated when @n is not 0
 * @n: bytes there
 * @arch: whose register
 * @reg: DWARF number; EHF_REG_OTHER is shown as "r?"
 *
 * Return: the length of the text, which was cut if it is not less than @n.
 */
int rule_text_reg_name(char *buf, size_t n, const struct ehu_arch *arch, unsigned int reg)
{
	struct out o = begin(buf, n);

	put_reg(&o, arch, reg);
	return done(&o);
}

/**
 * rule_text_op() - the text of one operation of an expression
 * @buf: where it goes, always terminated when @n is not 0
 * @n: bytes there
 * @op: the operation
 *
 * Return: the length of the text, which was cut if it is not less than @n.
 */
int rule_text_op(char *buf, size_t n, const struct ehf_raw_op *op)
{
	struct out o = begin(buf, n);

	put_op(&o, op);
	return done(&o);
}

/**
 * rule_text_cfa() - the text of a row's CFA rule
 * @buf: where it goes, always terminated when @n is not 0
 * @n: bytes there; RULE_TEXT_MAX is always enough
 * @arch: the machine
 * @mem: the memory that @fde was read from; an expression is read again to be printed
 * @fde: the FDE that @row comes from
 * @row: the row
 *
 * Return: the length of the text, which was cut if it is not less than @n.
 */
int rule_text_cfa(char *buf, size_t n, const struct ehu_arch *arch, const struct ehf_mem *mem,
		  const struct ehf_fde *fde, const struct ehf_row *row)
{
	const struct ehf_cfa *cfa = &row->cfa;
	struct out o = begin(buf, n);

	switch ((enum ehf_cfa_kind)cfa->kind) {
	case EHF_CFA_NONE:
		put(&o, "undef");
		break;
	case EHF_CFA_REG:
		put_reg(&o, arch, cfa->reg);
		put(&o, "%+" PRId64, cfa->off);
		break;
	case EHF_CFA_VAL_EXPR:
	case EHF_CFA_AT_REG:
	case EHF_CFA_AT_SUM:
	case EHF_CFA_IP_STEP:
		put(&o, "expr{");
		put_ops(&o, arch, mem, fde, cfa->expr, cfa->expr_len);
		put(&o, "}");
		break;
	case EHF_CFA_STOP:
		put(&o, "unsupported(%s)", ehf_stop_name((enum ehf_stop)cfa->reg));
		break;
	}
	return done(&o);
}

/**
 * rule_text_reg() - the text of a row's rule for FP, RA or SP
 * @buf: where it goes, always terminated when @n is not 0
 * @n: bytes there; RULE_TEXT_MAX is always enough
 * @arch: the machine
 * @mem: the memory that @fde was read from; an expression is read again to be printed
 * @fde: the FDE that @row comes from
 * @row: the row
 * @which: EHF_FP, EHF_RA or EHF_SP. Whether SP has a rule at all is the caller's question:
 *	"same" is printed where it has none
 *
 * Return: the length of the text, which was cut if it is not less than @n.
 */
int rule_text_reg(char *buf, size_t n, const struct ehu_arch *arch, const struct ehf_mem *mem,
		  const struct ehf_fde *fde, const struct ehf_row *row, enum ehf_tracked which)
{
	const struct ehf_rule *rule = &row->rule[which];
	struct out o = begin(buf, n);

	if (rule->kind == EHF_RULE_STOP) {
		put(&o, "unsupported(%s)", ehf_stop_name((enum ehf_stop)rule->reg));
		return done(&o);
	}
	if (rule->expr_len) {
		bool value = rule->kind == EHF_RULE_VAL_CFA || rule->kind == EHF_RULE_VAL_REG;

		put(&o, value ? "val{" : "[expr{");
		put_ops(&o, arch, mem, fde, rule->expr, rule->expr_len);
		put(&o, value ? "}" : "}]");
		return done(&o);
	}
	switch ((enum ehf_rule_kind)rule->kind) {
	case EHF_RULE_UNSPEC:
	case EHF_RULE_SAME:
		put(&o, "same");
		break;
	case EHF_RULE_UNDEF:
		put(&o, "undef");
		break;
	case EHF_RULE_AT_CFA:
		put(&o, "[CFA%+" PRId64 "]", rule->off);
		break;
	case EHF_RULE_VAL_CFA:
		put(&o, "val(CFA%+" PRId64 ")", rule->off);
		break;
	case EHF_RULE_REG:
		put(&o, "reg(");
		put_reg(&o, arch, rule->reg);
		put(&o, ")");
		break;
	case EHF_RULE_AT_REG:
	case EHF_RULE_VAL_REG:
	case EHF_RULE_STOP:
		put(&o, "?"); /* cannot be: these are written as expressions or shown above */
		break;
	}
	return done(&o);
}
