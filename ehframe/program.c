// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The CFA program: applies call frame instructions to the rules of CFA, FP, RA and SP, and
 * nothing else.
 */
#include "ehframe/program.h"

#include "ehframe/dwarf.h"
#include "ehframe/expr.h"
#include "ehframe/insn.h"

/* Factors up to this are multiplied by operands of a byte without a check. */
#define SMALL_FACTOR	(1 << 20)

static u16 fold_reg(u64 reg)
{
	return reg < EHF_REG_OTHER ? (u16)reg : EHF_REG_OTHER;
}

/*
 * Compared in 64 bits: 2^32 + 6 is not register 6. A return address column that no register has
 * is EHF_REG_OTHER, which no rule may hit either.
 */
static bool is_reg(const struct ehf_program *p, u32 k, u64 reg)
{
	return p->reg[k] == reg && reg != EHF_REG_OTHER;
}

/*
 * Sets the rule of every tracked register that has this number: where a CIE's RA column is
 * FP or SP, one number stands for two of them.
 */
static void set_rule(struct ehf_program *p, u64 reg, const struct ehf_rule *rule)
{
	u32 k;

	for (k = 0; k < EHF_NR_TRACKED; k++)
		if (is_reg(p, k, reg))
			p->now.rule[k] = *rule;
}

static void restore(struct ehf_program *p, u64 reg)
{
	static const struct ehf_rule none = { .kind = EHF_RULE_UNSPEC };
	u32 k;

	for (k = 0; k < EHF_NR_TRACKED; k++)
		if (is_reg(p, k, reg))
			p->now.rule[k] = p->in_cie ? none : p->initial.rule[k];
}

static bool is_tracked(const struct ehf_program *p, u64 reg)
{
	return is_reg(p, EHF_FP, reg) || is_reg(p, EHF_RA, reg) || is_reg(p, EHF_SP, reg);
}

/* An unsigned operand as an offset, or a stop where it is no signed 64-bit number. */
static s64 plain_u(struct ehf_program *p, u64 v)
{
	if (v > ~0ULL >> 1) {
		ehf_fail(&p->c, EHF_STOP_OFFSET_RANGE);
		return 0;
	}
	return (s64)v;
}

/* @v times the data alignment factor, or a stop where that leaves 64 bits. */
static s64 factored_s(struct ehf_program *p, s64 v)
{
	s64 off = 0;

	if (__builtin_mul_overflow(v, p->fde->cie.data_align, &off)) {
		ehf_fail(&p->c, EHF_STOP_OFFSET_RANGE);
		return 0;
	}
	return off;
}

static s64 factored_u(struct ehf_program *p, u64 v)
{
	return factored_s(p, plain_u(p, v));
}

static void set_offset(struct ehf_program *p, u64 reg, u8 kind, u64 v)
{
	struct ehf_rule rule = { .kind = kind };

	if (!is_tracked(p, reg))
		return;
	rule.off = factored_u(p, v);
	set_rule(p, reg, &rule);
}

static void set_offset_sf(struct ehf_program *p, u64 reg, u8 kind, s64 v)
{
	struct ehf_rule rule = { .kind = kind };

	if (!is_tracked(p, reg))
		return;
	rule.off = factored_s(p, v);
	set_rule(p, reg, &rule);
}

static void set_expression(struct ehf_program *p, u64 reg, bool value)
{
	const struct ehf_fde *fde = p->fde;
	struct ehf_rule rule;
	u64 len;

	if (!is_tracked(p, reg)) {
		len = ehf_uleb(&p->c);
		ehf_skip(&p->c, len);
		return;
	}
	ehf_expr_rule(&p->c, p->in_cie ? fde->cie.addr : fde->addr, p->in_cie, value, &rule);
	set_rule(p, reg, &rule);
}

static void set_cfa(struct ehf_program *p, u64 reg, s64 off)
{
	p->now.cfa = (struct ehf_cfa){ .kind = EHF_CFA_REG, .reg = fold_reg(reg), .off = off };
}

/* def_cfa_register and def_cfa_offset change half of a rule that must be register + offset. */
static bool cfa_is_reg(struct ehf_program *p)
{
	if (p->now.cfa.kind == EHF_CFA_REG)
		return true;
	ehf_fail(&p->c, p->now.cfa.kind == EHF_CFA_NONE ? EHF_STOP_CFA_UNDEFINED :
							  EHF_STOP_REG_AFTER_EXPR);
	return false;
}

/*
 * Moves the location. Past the range's end is legal: what follows is never reached. So is
 * more than 64 bits of it, which is as far past the end as can be.
 */
static void advance(struct ehf_program *p, u64 delta)
{
	u64 bytes, loc;

	if (p->in_cie && delta) {
		ehf_fail(&p->c, EHF_STOP_CIE_ADVANCES);
		return;
	}
	if (__builtin_mul_overflow(delta, p->fde->cie.code_align, &bytes) ||
	    __builtin_add_overflow(p->loc, bytes, &loc))
		loc = ~0ULL;
	p->loc = loc;
}

static void remember(struct ehf_program *p)
{
	u32 depth = p->ctx->limits->states;

	if (depth > EHF_MAX_STATES)
		depth = EHF_MAX_STATES;
	if (p->depth >= depth) {
		ehf_fail(&p->c, EHF_STOP_LIMIT_STATES);
		return;
	}
	p->stack[p->depth++] = p->now;
}

static void restore_state(struct ehf_program *p)
{
	if (!p->depth || p->depth > EHF_MAX_STATES) {
		ehf_fail(&p->c, EHF_STOP_RESTORE_EMPTY);
		return;
	}
	p->now = p->stack[--p->depth];
}

static void negate_ra_state(struct ehf_program *p)
{
	if (p->ctx->abi->ra_state)
		p->now.ra_signed ^= 1;
	else
		ehf_fail(&p->c, EHF_STOP_OPCODE);
}

/* Source of each: DWARF 5, 6.4.2; the GNU ones: LSB 5.0, 10.5.1. */
static void apply(struct ehf_program *p, const struct ehf_insn *in)
{
	struct ehf_rule rule = { .kind = EHF_RULE_UNSPEC };

	switch (in->op) {
	case DW_CFA_advance_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_MIPS_advance_loc8:
		advance(p, in->delta);
		break;
	case DW_CFA_set_loc:
		if (p->in_cie)
			ehf_fail(&p->c, EHF_STOP_CIE_ADVANCES);
		else if (in->delta < p->loc)
			ehf_fail(&p->c, EHF_STOP_LOC_BACKWARDS);
		else
			p->loc = in->delta;
		break;
	case DW_CFA_offset:
	case DW_CFA_offset_extended:
		set_offset(p, in->reg, EHF_RULE_AT_CFA, in->uoff);
		break;
	case DW_CFA_offset_extended_sf:
		set_offset_sf(p, in->reg, EHF_RULE_AT_CFA, in->soff);
		break;
	case DW_CFA_GNU_negative_offset_extended:
		/* Subtracted where the others add; the factor's sign stays. */
		if (is_tracked(p, in->reg))
			set_offset_sf(p, in->reg, EHF_RULE_AT_CFA, -plain_u(p, in->uoff));
		break;
	case DW_CFA_val_offset:
		set_offset(p, in->reg, EHF_RULE_VAL_CFA, in->uoff);
		break;
	case DW_CFA_val_offset_sf:
		set_offset_sf(p, in->reg, EHF_RULE_VAL_CFA, in->soff);
		break;
	case DW_CFA_restore:
	case DW_CFA_restore_extended:
		restore(p, in->reg);
		break;
	case DW_CFA_undefined:
		rule.kind = EHF_RULE_UNDEF;
		set_rule(p, in->reg, &rule);
		break;
	case DW_CFA_same_value:
		rule.kind = EHF_RULE_SAME;
		set_rule(p, in->reg, &rule);
		break;
	case DW_CFA_register:
		rule.kind = EHF_RULE_REG;
		rule.reg = fold_reg(in->reg2);
		set_rule(p, in->reg, &rule);
		break;
	case DW_CFA_expression:
		set_expression(p, in->reg, false);
		break;
	case DW_CFA_val_expression:
		set_expression(p, in->reg, true);
		break;
	case DW_CFA_def_cfa:
		set_cfa(p, in->reg, plain_u(p, in->uoff));
		break;
	case DW_CFA_def_cfa_sf:
		set_cfa(p, in->reg, factored_s(p, in->soff));
		break;
	case DW_CFA_def_cfa_register:
		if (cfa_is_reg(p))
			p->now.cfa.reg = fold_reg(in->reg);
		break;
	case DW_CFA_def_cfa_offset:
		if (cfa_is_reg(p))
			p->now.cfa.off = plain_u(p, in->uoff);
		break;
	case DW_CFA_def_cfa_offset_sf:
		if (cfa_is_reg(p))
			p->now.cfa.off = factored_s(p, in->soff);
		break;
	case DW_CFA_def_cfa_expression:
		ehf_expr_cfa(&p->c, p->in_cie ? p->fde->cie.addr : p->fde->addr, p->in_cie,
			     &p->now.cfa);
		break;
	case DW_CFA_remember_state:
		remember(p);
		break;
	case DW_CFA_restore_state:
		restore_state(p);
		break;
	case DW_CFA_AARCH64_negate_ra_state_with_pc:
	case DW_CFA_GNU_window_save:
		negate_ra_state(p);
		break;
	case DW_CFA_nop:
	case DW_CFA_GNU_args_size:	/* of interest to a landing pad only */
		break;
	default:
		ehf_fail(&p->c, EHF_STOP_OPCODE);
		break;
	}
}

/* The rule of a register that is saved at CFA + @off, where it is one of ours. */
static void set_saved(struct ehf_program *p, u32 reg, s64 off)
{
	const struct ehf_rule rule = { .kind = EHF_RULE_AT_CFA, .off = off };

	set_rule(p, reg, &rule);
	p->dirty = true;
}

/*
 * The instructions that make up nearly all programs, from the bytes at hand and with operands
 * of one byte, without the detour over struct ehf_insn. Leaves the cursor at the first one that
 * is not so simple, or where the location lies above @pc. An instruction has a byte at least,
 * so the bytes at hand bound how many there are.
 */
static inline void run_common(struct ehf_program *p, u64 pc)
{
	const u8 *const b = p->c.p;
	const u32 n = p->c.n;
	const u64 code_align = p->code_align;
	u32 i = p->c.i;
	u32 insns = 0;
	u64 loc = p->loc;
	u64 start = loc;
	u64 delta;
	u8 op, arg;

	if (loc > pc || p->insns > p->ctx->limits->insns ||
	    p->ctx->limits->insns - p->insns < n - i)
		return;
	for (; i < n; insns++) {
		op = b[i];
		if ((op & 0xc0) == DW_CFA_advance_loc) {
			delta = op & 0x3f;
			if (!code_align)
				break;
			i += 1;
			goto advance;
		}
		arg = i + 1 < n ? b[i + 1] : 0xff;
		if ((op & 0xc0) == DW_CFA_offset) {
			if (arg >= 0x80 || !p->data_align)
				break;
			if (p->tracked >> (op & 0x3f) & 1)
				set_saved(p, op & 0x3f, (s64)arg * p->data_align);
			i += 2;
			continue;
		}
		switch (op) {
		case DW_CFA_nop:
			i += 1;
			continue;
		case DW_CFA_def_cfa_offset:
			if (p->now.cfa.kind != EHF_CFA_REG || i + 2 >= n)
				break;
			if (arg < 0x80) {
				p->now.cfa.off = arg;
				i += 2;
				continue;
			}
			if (b[i + 2] >= 0x80)
				break;
			p->now.cfa.off = (arg & 0x7f) | b[i + 2] << 7;
			i += 3;
			continue;
		case DW_CFA_advance_loc1:
			if (i + 1 >= n || !code_align)
				break;
			delta = arg;
			i += 2;
			goto advance;
		case DW_CFA_def_cfa_register:
			if (arg >= 0x80 || p->now.cfa.kind != EHF_CFA_REG)
				break;
			p->now.cfa.reg = arg;
			i += 2;
			continue;
		case DW_CFA_def_cfa:
			if (arg >= 0x80 || i + 2 >= n || b[i + 2] >= 0x80)
				break;
			set_cfa(p, arg, b[i + 2]);
			p->dirty = true;
			i += 3;
			continue;
		case DW_CFA_remember_state:
			if (p->depth >= p->ctx->limits->states || p->depth >= EHF_MAX_STATES)
				break;
			p->stack[p->depth++] = p->now;
			i += 1;
			continue;
		case DW_CFA_restore_state:
			if (!p->depth || p->depth > EHF_MAX_STATES)
				break;
			p->now = p->stack[--p->depth];
			p->dirty = true;
			i += 1;
			continue;
		default:
			break;
		}
		break;
advance:
		/* Cannot wrap: ehf_program_start() saw to that, or code_align were 0. */
		start = loc;
		loc += delta * code_align;
		if (loc > pc) {
			insns++;
			break;
		}
	}
	p->ctx->cost->insns += insns;
	p->insns += insns;
	p->c.i = i;
	p->loc = loc;
	p->start = loc > pc ? start : loc;
}

/*
 * Executes instructions until the location lies above @pc or the program ends; p->start is
 * then where the rules began to hold. A stop happens at that location: what lies before it is
 * good.
 */
static void run(struct ehf_program *p, u64 pc)
{
	const struct ehf_limits *limits = p->ctx->limits;
	struct ehf_insn in;

	for (;;) {
		run_common(p, pc);
		if (p->loc > pc || !ehf_more(&p->c))
			break;
		if (p->insns >= limits->insns) {
			ehf_fail(&p->c, EHF_STOP_LIMIT_INSNS);
			break;
		}
		p->start = p->loc;
		p->dirty = true;
		p->insns++;
		p->ctx->cost->insns++;
		ehf_insn_read(&p->c, p->fde->cie.fde_enc, &in);
		if (p->c.stop)
			break;
		apply(p, &in);
		if (p->c.stop)
			break;
	}
	if (p->loc <= pc)
		p->start = p->loc;
	if (p->c.stop)
		p->stop = p->c.stop;
}

/* The factor, or 0 where an advance of a byte times that could wrap around. */
static u32 small_code_align(const struct ehf_fde *fde)
{
	return fde->cie.code_align <= SMALL_FACTOR && fde->range_end >> 63 == 0 ?
		       (u32)fde->cie.code_align : 0;
}

/* The CIE's instructions, or what they came to before. */
static void run_cie(struct ehf_program *p)
{
	const struct ehf_cie *cie = &p->fde->cie;
	struct ehf_memo_slot *slot = ehf_memo_find(p->ctx, cie->addr);

	if (slot && slot->has_state) {
		p->insns = slot->insns;
		p->now = slot->state;
		p->initial = p->now;
		p->in_cie = false;
		return;
	}
	p->now = (struct ehf_state){ .ra_signed = 0 };
	p->in_cie = true;
	ehf_open(&p->c, p->ctx, cie->insns, cie->end);
	run(p, ~0ULL);
	p->in_cie = false;
	p->initial = p->now;
	/* A state left on the stack would have to be kept as well: nobody does that. */
	if (slot && !p->stop && !p->depth) {
		slot->has_state = true;
		slot->insns = p->insns;
		slot->state = p->now;
	}
}

/**
 * ehf_program_start() - begin an FDE's program
 * @p: the program
 * @ctx: memory, machine, limits, counters; must outlive @p
 * @fde: the FDE, parsed with its CIE; must outlive @p
 *
 * Executes the CIE's initial instructions. Ask ehf_program_next() for rows.
 */
void ehf_program_start(struct ehf_program *p, const struct ehf_ctx *ctx,
		       const struct ehf_fde *fde)
{
	const struct ehf_cie *cie = &fde->cie;
	u32 k;

	p->ctx = ctx;
	p->fde = fde;
	p->reg[EHF_FP] = ctx->abi->reg_fp;
	p->reg[EHF_RA] = cie->ra_reg;
	p->reg[EHF_SP] = ctx->abi->reg_sp;
	p->tracked = 0;
	for (k = 0; k < EHF_NR_TRACKED; k++) {
		const u16 reg = p->reg[k];

		if (reg < 64)
			p->tracked |= 1ULL << reg;
	}
	p->code_align = 0;	/* no advance in the CIE */
	p->data_align = cie->data_align <= SMALL_FACTOR && cie->data_align >= -SMALL_FACTOR ?
				(s32)cie->data_align : 0;
	p->insns = 0;
	p->depth = 0;
	p->dirty = true;
	p->stop = EHF_STOP_NONE;
	p->start = fde->start;
	p->loc = fde->start;
	run_cie(p);
	p->code_align = small_code_align(fde);
	p->cie_insns = p->insns;
	p->cie_depth = p->depth;
	p->cie_stop = p->stop;
	if (!p->stop)
		ehf_open(&p->c, ctx, fde->insns, fde->end);
}

/**
 * ehf_program_restart() - begin the program of another FDE with the same CIE
 * @p: a program that ehf_program_start() began, whose FDE has the same CIE as @fde
 * @fde: the FDE, parsed; must outlive @p
 *
 * The CIE's instructions are not executed again: for one who reads a section front to back.
 */
void ehf_program_restart(struct ehf_program *p, const struct ehf_fde *fde)
{
	/* A state that the CIE left on the stack is gone if the last FDE took it. */
	if (p->cie_stop || p->cie_depth) {
		ehf_program_start(p, p->ctx, fde);
		return;
	}
	p->fde = fde;
	p->start = fde->start;
	p->loc = fde->start;
	p->code_align = small_code_align(fde);
	p->insns = p->cie_insns;
	p->depth = 0;
	p->dirty = true;
	p->stop = EHF_STOP_NONE;
	p->now = p->initial;
	ehf_open(&p->c, p->ctx, fde->insns, fde->end);
}

/* A row is usable when its CFA, RA and SP are; FP may be lost. */
static enum ehf_stop rule_stop(const struct ehf_state *s)
{
	if (s->cfa.kind == EHF_CFA_NONE)
		return EHF_STOP_CFA_UNDEFINED;
	if (s->cfa.kind == EHF_CFA_STOP)
		return (enum ehf_stop)s->cfa.reg;
	if (s->rule[EHF_RA].kind == EHF_RULE_STOP)
		return (enum ehf_stop)s->rule[EHF_RA].reg;
	if (s->rule[EHF_SP].kind == EHF_RULE_STOP)
		return EHF_STOP_SP_RULE;
	return EHF_STOP_NONE;
}

/* What p->now means for a row; only asked again where a rule has changed. */
static void judge(struct ehf_program *p)
{
	p->dirty = false;
	p->rule_stop = rule_stop(&p->now);
	p->flags = p->fde->cie.flags & EHF_CIE_SIGNAL ? EHF_ROW_SIGNAL : 0;
	if (p->now.rule[EHF_RA].kind == EHF_RULE_UNDEF)
		p->flags |= EHF_ROW_OUTERMOST;
	if (p->now.ra_signed)
		p->flags |= EHF_ROW_RA_SIGNED;
}

static inline void fill_span(struct ehf_program *p, struct ehf_span *span)
{
	u64 end = p->fde->range_end;

	if (p->dirty)
		judge(p);
	span->start = p->start;
	span->end = p->loc > p->start && p->loc < end ? p->loc : end;
	span->stop = p->stop ? p->stop : p->rule_stop;
	span->flags = p->flags;
}

static void fill_row(const struct ehf_program *p, const struct ehf_span *span,
		     struct ehf_row *row)
{
	row->start = span->start;
	row->end = span->end;
	row->stop = span->stop;
	row->flags = (u16)span->flags;
	row->ra_reg = p->fde->cie.ra_reg;
	row->cfa = p->now.cfa;
	row->rule[EHF_FP] = p->now.rule[EHF_FP];
	row->rule[EHF_RA] = p->now.rule[EHF_RA];
	row->rule[EHF_SP] = p->now.rule[EHF_SP];
}

/**
 * ehf_program_step() - the next row of an FDE, left where it is
 * @p: a program that was started
 * @span: filled in: the addresses, the stop and the flags of the row; its rules are @p->now
 *
 * For one who reads many rows and copies none. Otherwise as ehf_program_next().
 *
 * Return: false when the range is used up.
 */
bool ehf_program_step(struct ehf_program *p, struct ehf_span *span)
{
	if (p->start >= p->fde->range_end)
		return false;
	run(p, p->start);
	fill_span(p, span);
	p->start = span->end;
	return true;
}

/**
 * ehf_program_next() - the next row of an FDE
 * @p: a program that was started
 * @row: filled in; where the program stops for good, a last row with that stop reaches to the
 *	end of the range
 *
 * Rows come in order, without gaps, and none is empty: of several at one address the last
 * counts.
 *
 * Return: false when the range is used up.
 */
bool ehf_program_next(struct ehf_program *p, struct ehf_row *row)
{
	struct ehf_span span;

	if (!ehf_program_step(p, &span))
		return false;
	fill_row(p, &span, row);
	return true;
}

/**
 * ehf_row_eval() - the row of an FDE that holds at a pc
 * @ctx: memory, machine, limits, counters
 * @fde: the FDE, parsed with its CIE
 * @pc: an address in its range
 * @row: filled in; a row with a stop where the program cannot be followed to @pc
 */
void ehf_row_eval(const struct ehf_ctx *ctx, const struct ehf_fde *fde, u64 pc,
		  struct ehf_row *row)
{
	struct ehf_program p;
	struct ehf_span span;

	ehf_program_start(&p, ctx, fde);
	run(&p, pc);
	fill_span(&p, &span);
	fill_row(&p, &span, row);
}

/**
 * ehf_row_find() - the row that describes a pc
 * @ctx: memory, machine, limits, counters
 * @s: the section that covers it
 * @pc: the address to look up (for a return address: that minus 1)
 * @row: filled in where the FDE was found
 *
 * Return: the row's stop, or why there is no FDE, as ehf_fde_find().
 */
enum ehf_stop ehf_row_find(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
			   struct ehf_row *row)
{
	struct ehf_fde fde = { 0 };
	struct ehf_found found;
	enum ehf_stop stop;

	stop = ehf_fde_find(ctx, s, pc, &fde, &found);
	if (stop)
		return stop;
	ehf_row_eval(ctx, &fde, pc, row);
	return row->stop;
}
