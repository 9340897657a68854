// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Compares our row with an oracle's: kinds, registers and offsets, expressions operation by
 * operation, and what our normal form of an expression means.
 */
#include "harness/oracle.h"

#include "harness/oracle_eval.h"
#include "harness/rule_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/**
 * struct defaults - what libdw's backend says of registers that no rule mentions
 * @arch: the machine, which has a backend of its own
 * @same: bit n is set where register n keeps its value; others are undefined
 * @cfa_reg: this one is the CFA; 0xff for none
 */
struct defaults {
	const struct ehu_arch *arch;
	u32 same;
	u8 cfa_reg;
};

/*
 * The *_abi_cfi() functions of elfutils 0.188's backends. That of x86 says 0 (rax) where 3 (rbx)
 * is meant. That of s390 says SP (r15) is the same value, which is right only where nothing was
 * pushed: in a row whose CFA is SP + 160.
 */
static const struct defaults defaults[] = {
	{ &ehu_arch_x86_64, 1 << 0 | 1 << 6 | 0x1f << 12, 7 },
	{ &ehu_arch_x32, 1 << 0 | 1 << 6 | 0x1f << 12, 7 },
	{ &ehu_arch_i386, 1 << 3 | 7 << 5, 4 },
	{ &ehu_arch_s390x, 0x3ff << 6 | 0xffU << 24, 0xff },
	{ &ehu_arch_aarch64, 0xfff << 19, 31 },
};

static bool is_default(const struct ehu_arch *arch, u64 reg, const struct ehf_cfa *cfa,
		       const struct oracle_rule *theirs)
{
	const struct ehf_abi *abi = &arch->abi;

	for (size_t i = 0; i < EHF_ARRAY_SIZE(defaults); i++) {
		const struct defaults *d = &defaults[i];

		if (d->arch != arch)
			continue;
		if (reg == d->cfa_reg)
			return theirs->kind == ORACLE_VAL_CFA && !theirs->off;
		if (reg > 31 || !(d->same >> reg & 1))
			return theirs->kind == ORACLE_UNDEF;
		if (reg == abi->reg_sp && !(cfa->kind == EHF_CFA_REG && cfa->reg == reg &&
					    cfa->off == -abi->sp_off))
			return false;
		return theirs->kind == ORACLE_SAME;
	}
	return false;
}

/* Our expression, read again from the bytes; false where that fails. */
static bool read_ops(const struct ehf_ctx *ctx, const struct ehf_fde *fde, u32 expr, u32 len,
		     struct ehf_raw_op *ops, u32 *nr)
{
	u64 record = expr & EHF_EXPR_IN_CIE ? fde->cie.addr : fde->addr;
	u64 at = record + (expr & ~EHF_EXPR_IN_CIE);
	struct ehf_cursor c;

	*nr = 0;
	ehf_open(&c, ctx, at, at + len);
	while (ehf_more(&c)) {
		if (*nr == ORACLE_MAX_OPS || !ehf_raw_op_read(&c, &ops[*nr]) || c.stop)
			return false;
		++*nr;
	}
	return !c.stop;
}

static bool same_ops(const struct ehf_raw_op *a, const struct ehf_raw_op *b, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (a[i].code != b[i].code || a[i].arg != b[i].arg || a[i].off != b[i].off)
			return false;
	}
	return true;
}

/* Our normal forms, evaluated as the walk would. */
static u64 eval_cfa(const struct oracle_env *env, const struct ehf_cfa *cfa)
{
	u64 base = oracle_env_reg(env, cfa->reg) + (u64)cfa->off;

	switch ((enum ehf_cfa_kind)cfa->kind) {
	case EHF_CFA_AT_REG:
		return oracle_env_load(env, base) + (u64)cfa->add;
	case EHF_CFA_AT_SUM:
		base += oracle_env_reg(env, cfa->reg2) << cfa->shift;
		return oracle_env_load(env, base) + (u64)cfa->add;
	case EHF_CFA_IP_STEP:
		return base + ((env->ip & 15) >= cfa->bound ? 1ULL << cfa->shift : 0);
	default:
		return base;
	}
}

static u64 eval_rule(const struct oracle_env *env, const struct ehf_rule *rule)
{
	if (rule->kind == EHF_RULE_AT_CFA || rule->kind == EHF_RULE_VAL_CFA)
		return env->cfa + (u64)rule->off;
	return oracle_env_reg(env, rule->reg) + (u64)rule->off;
}

/* 16 addresses in a row: an expression that looks at the pc's low bits shows every value. */
#define ROUNDS	16

static bool same_meaning(const struct ehu_arch *arch, const struct ehf_cfa *cfa,
			 const struct ehf_rule *rule, const struct ehf_raw_op *ops, u32 nr)
{
	for (u32 i = 0; i < ROUNDS; i++) {
		struct oracle_env env = {
			.seed = 0x1234567 + i * 77, .ip = 0x401000 + i, .ip_reg = arch->abi.reg_ra,
			.cfa = 0x7ffc00001000ULL + 64 * i, .push_cfa = rule != NULL,
			.mask = arch->abi.addr_size == 4 ? 0xffffffff : ~0ULL,
		};
		u64 theirs = 0, mine;

		if (!oracle_eval(&env, ops, nr, &theirs) && nr)
			return false;
		if (!nr)	/* nothing but the CFA that a register's expression begins with */
			theirs = env.cfa;
		mine = cfa ? eval_cfa(&env, cfa) : eval_rule(&env, rule);
		if ((theirs ^ mine) & env.mask)
			return false;
	}
	return true;
}

static u32 compare_expr(const struct ehf_ctx *ctx, const struct ehu_arch *arch,
			const struct ehf_fde *fde, const struct ehf_cfa *cfa,
			const struct ehf_rule *rule, const struct oracle_rule *theirs, u32 diff)
{
	struct ehf_raw_op ops[ORACLE_MAX_OPS];
	u32 len = cfa ? cfa->expr_len : rule->expr_len;
	bool stopped = cfa ? cfa->kind == EHF_CFA_STOP : rule->kind == EHF_RULE_STOP;
	u32 nr = 0;

	if (!read_ops(ctx, fde, cfa ? cfa->expr : rule->expr, len, ops, &nr) ||
	    nr != theirs->nr_ops || !same_ops(ops, theirs->ops, nr))
		return diff;
	if (!stopped && !same_meaning(arch, cfa, rule, ops, nr))
		return diff | ORACLE_DIFF_MEANING;
	return 0;
}

static u32 compare_cfa(const struct ehf_ctx *ctx, const struct ehu_arch *arch,
		       const struct ehf_fde *fde, const struct ehf_cfa *ours,
		       const struct oracle_rule *theirs)
{
	if (theirs->kind == ORACLE_REG) {
		if ((ours->kind == EHF_CFA_REG || ours->kind == EHF_CFA_VAL_EXPR) &&
		    ours->reg == theirs->reg && ours->off == theirs->off)
			return 0;
		return ORACLE_DIFF_CFA;
	}
	if (theirs->kind != ORACLE_VAL_EXPR || !ours->expr_len)
		return ORACLE_DIFF_CFA;
	return compare_expr(ctx, arch, fde, ours, NULL, theirs, ORACLE_DIFF_CFA);
}

static bool same_rule(const struct ehu_arch *arch, u64 reg, bool with_defaults,
		      const struct ehf_cfa *cfa, const struct ehf_rule *ours,
		      const struct oracle_rule *theirs)
{
	switch ((enum ehf_rule_kind)ours->kind) {
	case EHF_RULE_UNSPEC:
		return with_defaults ? is_default(arch, reg, cfa, theirs) :
				       theirs->kind == ORACLE_UNSPEC;
	case EHF_RULE_SAME:
		return theirs->kind == ORACLE_SAME;
	case EHF_RULE_UNDEF:
		return theirs->kind == ORACLE_UNDEF;
	case EHF_RULE_AT_CFA:
		return theirs->kind == ORACLE_AT_CFA && ours->off == theirs->off;
	case EHF_RULE_VAL_CFA:
		return theirs->kind == ORACLE_VAL_CFA && ours->off == theirs->off;
	case EHF_RULE_REG:
		return theirs->kind == ORACLE_REG && ours->reg == theirs->reg && !theirs->off;
	default:
		return false;
	}
}

static u32 compare_rule(const struct ehf_ctx *ctx, const struct ehu_arch *arch,
			const struct ehf_fde *fde, u64 reg, bool with_defaults,
			const struct ehf_cfa *cfa, const struct ehf_rule *ours,
			const struct oracle_rule *theirs, u32 diff)
{
	bool value = ours->kind == EHF_RULE_VAL_CFA || ours->kind == EHF_RULE_VAL_REG;

	if (theirs->kind != ORACLE_AT_EXPR && theirs->kind != ORACLE_VAL_EXPR)
		return same_rule(arch, reg, with_defaults, cfa, ours, theirs) ? 0 : diff;
	if (!ours->expr_len ||
	    (ours->kind != EHF_RULE_STOP && value != (theirs->kind == ORACLE_VAL_EXPR)))
		return diff;
	return compare_expr(ctx, arch, fde, NULL, ours, theirs, diff);
}

/**
 * oracle_compare() - compare our row with an oracle's
 * @ctx: the file's memory and machine
 * @arch: the machine
 * @fde: the FDE that our row comes from
 * @ours: our row, which is usable (its stop is EHF_STOP_NONE)
 * @theirs: the oracle's row
 *
 * Where a rule is an expression, its operations have to be the same ones, and our normal form
 * has to give the same values as the operations for made-up registers and memory. Registers
 * that no rule mentions count as the ABI's default that libdw puts in.
 *
 * Return: ORACLE_DIFF_* of what differs, 0 where nothing does.
 */
u32 oracle_compare(const struct ehf_ctx *ctx, const struct ehu_arch *arch,
		   const struct ehf_fde *fde, const struct ehf_row *ours,
		   const struct oracle_row *theirs)
{
	const u64 reg[EHF_NR_TRACKED] = {
		[EHF_FP] = arch->abi.reg_fp,
		[EHF_RA] = fde->cie.ra_reg,
		[EHF_SP] = arch->abi.reg_sp,
	};
	u32 diff = 0;

	if (ours->cfa.kind == EHF_CFA_REG) {
		const struct oracle_rule *cfa = &theirs->rule[ORACLE_CFA];

		if (cfa->kind != ORACLE_REG || ours->cfa.reg != cfa->reg ||
		    ours->cfa.off != cfa->off)
			diff |= ORACLE_DIFF_CFA;
	} else {
		diff |= compare_cfa(ctx, arch, fde, &ours->cfa, &theirs->rule[ORACLE_CFA]);
	}
	for (u32 k = 0; k < EHF_NR_TRACKED; k++)
		diff |= compare_rule(ctx, arch, fde, reg[k], theirs->defaults, &ours->cfa,
				     &ours->rule[k], &theirs->rule[k], 1U << k);
	if (theirs->knows_signal && theirs->signal != !!(ours->flags & EHF_ROW_SIGNAL))
		diff |= ORACLE_DIFF_SIGNAL;
	if (theirs->ra_reg != fde->cie.ra_reg)
		diff |= ORACLE_DIFF_RA_COLUMN;
	return diff;
}

static int put_ops(char *buf, size_t n, const char *open, const struct oracle_rule *rule,
		   const char *close)
{
	int len = snprintf(buf, n, "%s", open);

	for (u32 i = 0; i < rule->nr_ops && i < ORACLE_MAX_OPS; i++) {
		if (len < 0 || (size_t)len >= n)
			return len;
		if (i)
			len += snprintf(buf + len, n - (size_t)len, ";");
		if ((size_t)len >= n)
			return len;
		len += rule_text_op(buf + len, n - (size_t)len, &rule->ops[i]);
	}
	if (len < 0 || (size_t)len >= n)
		return len;
	return len + snprintf(buf + len, n - (size_t)len, "%s%s",
			      rule->nr_ops > ORACLE_MAX_OPS ? ";..." : "", close);
}

/**
 * oracle_rule_text() - an oracle's rule in the grammar of harness/rule_text.h
 * @buf: where it goes, always terminated when @n is not 0
 * @n: bytes there
 * @arch: the machine
 * @row: the oracle's row
 * @which: enum ehf_tracked or ORACLE_CFA
 *
 * "unmentioned" and "refused" are added: what an oracle can say and we do not.
 *
 * Return: the length of the text, which was cut if it is not less than @n.
 */
int oracle_rule_text(char *buf, size_t n, const struct ehu_arch *arch,
		     const struct oracle_row *row, u32 which)
{
	const struct oracle_rule *rule = &row->rule[which];
	char reg[32];

	rule_text_reg_name(reg, sizeof(reg), arch,
			   rule->reg < EHF_REG_OTHER ? (unsigned int)rule->reg : EHF_REG_OTHER);
	switch ((enum oracle_kind)rule->kind) {
	case ORACLE_UNSPEC:
		return snprintf(buf, n, "unmentioned");
	case ORACLE_UNDEF:
		return snprintf(buf, n, "undef");
	case ORACLE_SAME:
		return snprintf(buf, n, "same");
	case ORACLE_AT_CFA:
		return snprintf(buf, n, "[CFA%+" PRId64 "]", rule->off);
	case ORACLE_VAL_CFA:
		return snprintf(buf, n, "val(CFA%+" PRId64 ")", rule->off);
	case ORACLE_REG:
		if (which == ORACLE_CFA)
			return snprintf(buf, n, "%s%+" PRId64, reg, rule->off);
		return snprintf(buf, n, "reg(%s)", reg);
	case ORACLE_AT_EXPR:
		return put_ops(buf, n, "[expr{", rule, "}]");
	case ORACLE_VAL_EXPR:
		return put_ops(buf, n, which == ORACLE_CFA ? "expr{" : "val{", rule, "}");
	case ORACLE_REFUSED:
		break;
	}
	return snprintf(buf, n, "refused");
}
