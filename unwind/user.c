// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The step from a frame to its caller: a row's rules applied to what is known of the frame.
 */
#include "unwind/user.h"

/* A frame in the middle of a step. */
struct step {
	const struct ehu_unwind *u;
	const struct ehf_ctx *ctx;
	const struct ehu_user_state *from;
	u64 cfa;
};

/* How much of a stack a source is asked for at once. */
#define STACK_HAND	(1U << 20)

/* Reads a number of @len bytes, at most 8, from the stack. */
static bool load(const struct step *s, u64 addr, u32 len, u64 *value)
{
	const struct ehf_ctx *ctx = s->ctx;
	const u8 *p = ehf_at_hand(&s->from->stack, addr, len);
	u8 bytes[8] = { 0 };

	*value = 0;
	if (p) {
		ctx->cost->reads++;
		ctx->cost->bytes += len;
	} else {
		if (!ehf_read(ctx, addr, bytes, len))
			return false;
		p = bytes;
	}
	*value = ehf_number(p, len, ctx->abi->big_endian);
	return true;
}

static bool load_word(const struct step *s, u64 addr, u64 *value)
{
	return load(s, ehf_addr(s->ctx->abi, addr), s->ctx->abi->word_size, value);
}

/*
 * A register's value in the frame. SP, FP and (where it is a column) the pc are tracked; the
 * others are known in the topmost frame, and in one that a signal interrupted, from where the
 * kernel saved them.
 */
static bool get_reg(const struct step *s, u16 reg, u64 *value)
{
	const struct ehu_user_state *f = s->from;
	const struct ehf_abi *abi = s->ctx->abi;

	*value = 0;
	if (reg == abi->reg_sp) {
		*value = f->sp;
		return true;
	}
	if (reg == abi->reg_fp) {
		*value = f->fp;
		return f->fp_known;
	}
	if (s->u->arch->ra_is_pc && reg == abi->reg_ra) {
		*value = f->ip;
		return true;
	}
	if (f->regs && reg < EHU_NR_REGS && f->regs->known >> reg & 1) {
		*value = f->regs->reg[reg];
		return true;
	}
	if (f->layout && reg < f->layout->nr && f->layout->off[reg] != EHU_NOT_SAVED)
		return load_word(s, f->saved + f->layout->off[reg], value);
	return false;
}

static enum ehf_stop reg_stop(const struct step *s, u16 reg, enum ehf_stop other)
{
	return reg == s->ctx->abi->reg_fp ? EHF_STOP_FP_UNKNOWN : other;
}

static enum ehf_stop eval_cfa(const struct step *s, const struct ehf_cfa *cfa, u64 *value)
{
	const struct ehf_abi *abi = s->ctx->abi;
	u64 base, second, addr;

	*value = 0;
	if (!get_reg(s, cfa->reg, &base))
		return reg_stop(s, cfa->reg, EHF_STOP_CFA_REG);
	addr = base + (u64)cfa->off;
	switch (cfa->kind) {
	case EHF_CFA_REG:
	case EHF_CFA_VAL_EXPR:
		break;
	case EHF_CFA_IP_STEP:
		if ((s->from->ip & 15) >= cfa->bound)
			addr += 1ULL << (cfa->shift & 7);
		break;
	case EHF_CFA_AT_SUM:
		if (!get_reg(s, cfa->reg2, &second))
			return reg_stop(s, cfa->reg2, EHF_STOP_CFA_REG);
		addr += second << (cfa->shift & 7);
		ehf_fallthrough;
	case EHF_CFA_AT_REG:
		if (!load(s, ehf_addr(abi, addr), abi->addr_size, &addr))
			return EHF_STOP_MEMORY;
		addr += (u64)cfa->add;
		break;
	default:
		return EHF_STOP_CFA_UNDEFINED;
	}
	*value = ehf_addr(abi, addr);
	return EHF_STOP_NONE;
}

/*
 * Follows a rule that names a place or a value. @unknown is the stop for a register that is
 * not known. SAME, UNSPEC, UNDEF and STOP mean something else for each register: the callers
 * have dealt with them.
 */
static enum ehf_stop eval_rule(const struct step *s, const struct ehf_rule *rule,
			       enum ehf_stop unknown, u64 *value)
{
	u64 base;

	*value = 0;
	switch (rule->kind) {
	case EHF_RULE_AT_CFA:
		return load_word(s, s->cfa + (u64)rule->off, value) ? EHF_STOP_NONE :
								      EHF_STOP_MEMORY;
	case EHF_RULE_VAL_CFA:
		*value = ehf_addr(s->ctx->abi, s->cfa + (u64)rule->off);
		return EHF_STOP_NONE;
	case EHF_RULE_REG:
		return get_reg(s, rule->reg, value) ? EHF_STOP_NONE :
						      reg_stop(s, rule->reg, unknown);
	case EHF_RULE_AT_REG:
	case EHF_RULE_VAL_REG:
		if (!get_reg(s, rule->reg, &base))
			return reg_stop(s, rule->reg, unknown);
		base = ehf_addr(s->ctx->abi, base + (u64)rule->off);
		if (rule->kind == EHF_RULE_VAL_REG) {
			*value = base;
			return EHF_STOP_NONE;
		}
		return load_word(s, base, value) ? EHF_STOP_NONE : EHF_STOP_MEMORY;
	default:
		return unknown;
	}
}

static enum ehf_stop next_ra(const struct step *s, const struct ehf_row *row, u64 *ra)
{
	const struct ehf_rule *rule = &row->rule[EHF_RA];
	const struct ehu_arch *arch = s->u->arch;
	enum ehf_stop stop;

	if (rule->kind == EHF_RULE_UNSPEC || rule->kind == EHF_RULE_SAME) {
		/* Where the column is the pc, "unchanged" is the pc of this very frame. */
		if (arch->ra_is_pc && row->ra_reg == arch->abi.reg_ra)
			return EHF_STOP_NO_PROGRESS;
		if (!s->from->exact)
			return EHF_STOP_RA_NOT_SAVED;
		if (!get_reg(s, row->ra_reg, ra))
			return reg_stop(s, row->ra_reg, EHF_STOP_RA_REG);
	} else {
		stop = eval_rule(s, rule, EHF_STOP_RA_REG, ra);
		if (stop)
			return stop;
	}
	*ra = ehf_addr(&arch->abi, *ra) & ehu_arch_ra_mask(arch, s->u->ra_mask);
	return EHF_STOP_NONE;
}

static enum ehf_stop next_sp(const struct step *s, const struct ehf_rule *rule, u64 *sp)
{
	switch (rule->kind) {
	case EHF_RULE_UNSPEC:
		*sp = ehf_addr(s->ctx->abi, s->cfa + (u64)(s64)s->ctx->abi->sp_off);
		return EHF_STOP_NONE;
	case EHF_RULE_SAME:
		*sp = s->from->sp;
		return EHF_STOP_NONE;
	case EHF_RULE_UNDEF:
	case EHF_RULE_STOP:
		return EHF_STOP_SP_RULE;
	default:
		return eval_rule(s, rule, EHF_STOP_SP_REG, sp);
	}
}

/* FP is never a reason to stop: it is known or it is not, and only a later need of it stops. */
static void next_fp(const struct step *s, const struct ehf_rule *rule, struct ehu_user_state *to)
{
	switch (rule->kind) {
	case EHF_RULE_UNSPEC:
	case EHF_RULE_SAME:
		break;
	case EHF_RULE_UNDEF:
	case EHF_RULE_STOP:
		to->fp = 0;
		to->fp_known = false;
		break;
	default:
		to->fp_known = eval_rule(s, rule, EHF_STOP_FP_UNKNOWN, &to->fp) == EHF_STOP_NONE;
		break;
	}
}

/*
 * The stack must be left behind: the caller's SP lies above. It may stay where it is in a
 * frame that made no call (a leaf on s390x and aarch64; vfork on x86), and go anywhere across
 * a signal frame.
 */
static enum ehf_stop check_progress(const struct ehu_user_state *from, u64 sp, bool loaded,
				    bool signal)
{
	if (signal || sp > from->sp)
		return EHF_STOP_NONE;
	if (sp == from->sp)
		return from->exact ? EHF_STOP_NONE : EHF_STOP_NO_PROGRESS;
	return loaded ? EHF_STOP_STACK_SWITCH : EHF_STOP_CFA_BELOW_SP;
}

static bool is_load(const struct ehf_row *row)
{
	return row->cfa.kind == EHF_CFA_AT_REG || row->cfa.kind == EHF_CFA_AT_SUM;
}

/*
 * A signal frame's registers are where the kernel put them. Its row says where the pc is: when
 * that is the layout's place, the other registers are there too.
 */
static void find_saved(const struct step *s, const struct ehf_row *row, struct ehu_user_state *to)
{
	const struct ehu_arch *arch = s->u->arch;
	const struct ehf_rule *ra = &row->rule[EHF_RA];
	u64 at;
	u32 k;

	if (ra->kind == EHF_RULE_AT_REG && ra->reg == arch->abi.reg_sp)
		at = s->from->sp + (u64)ra->off;
	else if (ra->kind == EHF_RULE_AT_CFA)
		at = s->cfa + (u64)ra->off;
	else
		return;
	for (k = 0; k < arch->nr_signal; k++) {
		const struct ehu_signal_layout *l = &arch->signal[k];

		if (at == s->from->sp + l->base + l->ip_off) {
			to->layout = l;
			to->saved = s->from->sp + l->base;
			return;
		}
	}
}

static bool ra_in_memory(const struct ehf_row *row)
{
	u8 kind = row->rule[EHF_RA].kind;

	return kind != EHF_RULE_REG && kind != EHF_RULE_SAME && kind != EHF_RULE_UNSPEC;
}

static enum ehf_stop step_by_row(struct step *s, const struct ehf_row *row,
				 struct ehu_user_state *to)
{
	const struct ehf_abi *abi = s->ctx->abi;
	bool signal = row->flags & EHF_ROW_SIGNAL;
	const struct ehf_rule *sp_rule = &row->rule[EHF_SP];
	enum ehf_stop stop, progress;
	u32 align = s->u->arch->sp_align - 1U;

	if (row->flags & EHF_ROW_OUTERMOST)
		return EHF_STOP_RA_UNDEFINED;
	stop = eval_cfa(s, &row->cfa, &s->cfa);
	if (stop)
		return stop;
	if (s->cfa & align)
		return EHF_STOP_MISALIGNED;
	progress = check_progress(s->from, ehf_addr(abi, s->cfa + (u64)(s64)abi->sp_off),
				  is_load(row), signal || sp_rule->kind != EHF_RULE_UNSPEC);
	/* An RA that was never pushed leaves SP where it is: that it is not known says more. */
	if (progress && (progress != EHF_STOP_NO_PROGRESS || ra_in_memory(row)))
		return progress;
	stop = next_ra(s, row, &to->ip);
	if (stop || progress)
		return stop ? stop : progress;
	stop = next_sp(s, sp_rule, &to->sp);
	if (stop)
		return stop;
	if (to->sp & align)
		return EHF_STOP_MISALIGNED;
	if (sp_rule->kind != EHF_RULE_UNSPEC) {
		stop = check_progress(s->from, to->sp, sp_rule->kind == EHF_RULE_AT_CFA ||
				      sp_rule->kind == EHF_RULE_AT_REG, signal);
		if (stop)
			return stop;
	}
	next_fp(s, &row->rule[EHF_FP], to);
	to->regs = NULL;
	to->layout = NULL;
	to->saved = 0;
	to->exact = signal;
	to->via = EHU_VIA_EH_FRAME;
	if (signal)
		find_saved(s, row, to);
	return EHF_STOP_NONE;
}

/*
 * A signal trampoline that its code gives away, for machines whose vDSO or C library has no
 * CFI for it: the interrupted context is where the layout says.
 */
static enum ehf_stop step_by_code(struct step *s, struct ehu_user_state *to)
{
	const struct ehu_arch *arch = s->u->arch;
	const struct ehu_user_state *f = s->from;
	const struct ehf_abi *abi = s->ctx->abi;
	u8 code[16] = { 0 };
	u32 k, n;

	for (k = 0; k < arch->nr_signal; k++) {
		const struct ehu_signal_layout *l = &arch->signal[k];
		bool same = true;

		if (!l->code || l->code_len > sizeof(code) ||
		    !ehf_read(s->ctx, f->ip, code, l->code_len))
			continue;
		for (n = 0; n < l->code_len; n++)
			same = same && code[n] == l->code[n];
		if (!same)
			continue;
		to->saved = f->sp + l->base;
		to->layout = l;
		if (!load_word(s, to->saved + l->ip_off, &to->ip) ||
		    !load_word(s, to->saved + l->off[abi->reg_sp], &to->sp))
			return EHF_STOP_MEMORY;
		to->fp_known = load_word(s, to->saved + l->off[abi->reg_fp], &to->fp);
		to->regs = NULL;
		to->exact = true;
		to->via = EHU_VIA_SIGNAL_CODE;
		return EHF_STOP_NONE;
	}
	return EHF_STOP_NO_FDE;
}

/* The frame pointer chain, where .eh_frame is silent: a guess, and marked as one. */
static enum ehf_stop step_by_fp(struct step *s, struct ehu_user_state *to)
{
	enum ehf_stop stop;

	if (!s->from->fp_known)
		return EHF_STOP_FP_UNKNOWN;
	if (!s->from->fp)
		return EHF_STOP_END_MARKER;
	stop = step_by_row(s, &s->u->arch->fp_row, to);
	to->exact = false;
	to->via = EHU_VIA_FP;
	return stop;
}

/* The row of an address from the section's bytes; the cache learns what it was. */
static enum ehf_stop find_row(const struct ehu_unwind *u, struct ehf_ctx *ctx, u64 addr,
			      struct ehf_row *row)
{
	const struct ehu_sections *sections = u->sections;
	/* Before the section is found: were it removed in between, its row would be kept as new. */
	const u64 generation = ehu_generation(sections);
	const struct ehf_section *section = sections->find(sections, addr);
	enum ehf_stop stop = EHF_STOP_PC_NOT_IN_MODULE;

	if (section) {
		/* What one walk keeps for itself is in order where nothing may be cached, too. */
		ctx->memo = generation ? u->memo : NULL;
		/* The section may have come after the generation: nothing that is known is of it. */
		if (ehu_generation(sections) != generation) {
			ctx->memo = NULL;
			ctx->slot = NULL;
		}
		ctx->generation = generation ? generation : 1;
		ctx->hand = ehf_hand_ask(u->mem, section->eh_frame,
					 section->eh_frame_end - section->eh_frame);
		stop = ehf_row_find(ctx, section, addr, row);
		if (sections->corrupt && ehf_stop_class(stop) == EHF_CLASS_CORRUPT)
			sections->corrupt(sections, section, stop);
	}
	if (u->cache) {
		if (stop)
			ehu_row_cache_put_stop(u->cache, generation, addr, stop);
		else
			ehu_row_cache_put_row(u->cache, ctx->abi, generation, addr, row);
	}
	return stop;
}

/* Asks the source for the stack at SP, unless that is at hand already. */
static void take_stack(const struct ehu_unwind *u, struct ehu_user_state *f)
{
	struct ehf_hand at_sp;

	if (ehf_at_hand(&f->stack, f->sp, 1))
		return;
	at_sp = ehf_hand_ask(u->mem, f->sp, STACK_HAND);
	if (at_sp.p)
		f->stack = at_sp;
}

/**
 * ehu_user_start() - the topmost frame
 * @u: the walk
 * @regs: its registers; must outlive @state
 * @state: filled in
 *
 * Return: false where the registers lack the stack pointer: there is a pc and no more.
 */
bool ehu_user_start(const struct ehu_unwind *u, const struct ehu_regs *regs,
		    struct ehu_user_state *state)
{
	const struct ehf_abi *abi = &u->arch->abi;

	state->ip = ehf_addr(abi, regs->ip);
	state->sp = 0;
	state->fp_known = regs->known >> abi->reg_fp & 1;
	state->fp = state->fp_known ? ehf_addr(abi, regs->reg[abi->reg_fp]) : 0;
	state->exact = true;
	state->via = EHU_VIA_REGS;
	state->regs = regs;
	state->layout = NULL;
	state->saved = 0;
	state->stack = (struct ehf_hand){ NULL, 0, 0 };
	state->near = NULL;
	if (!(regs->known >> abi->reg_sp & 1))
		return false;
	state->sp = ehf_addr(abi, regs->reg[abi->reg_sp]);
	take_stack(u, state);
	return true;
}

/* The whole way: the row from @slot or from its section, and every rule as it may be. */
static enum ehf_stop next_slow(const struct ehu_unwind *u, struct ehu_user_state *state,
			       const struct ehu_slot *slot, u64 addr, struct ehf_cost *cost)
{
	struct ehf_ctx ctx = {
		.mem = u->mem, .abi = &u->arch->abi, .limits = u->limits, .cost = cost,
		.slot = state->near ? &state->near->slot : NULL,
	};
	struct ehu_user_state to = *state;
	struct step s = { .u = u, .ctx = &ctx, .from = state };
	struct ehf_row row = { 0 };
	enum ehf_stop stop = EHF_STOP_NONE, other;

	if (!slot)
		stop = find_row(u, &ctx, addr, &row);
	else if (slot->row.word & EHF_PLAIN_STOP)
		stop = ehf_plain_stop(slot->row);
	else
		ehf_plain_unpack(&u->arch->abi, slot->row, &row);
	if (!stop)
		stop = step_by_row(&s, &row, &to);
	/* Across a signal frame SP may go anywhere, but not stay with the pc. */
	if (!stop && to.ip == state->ip && to.sp == state->sp)
		stop = EHF_STOP_NO_PROGRESS;
	/*
	 * A trampoline without CFI may have the end of some function in front of it; one with CFI
	 * that does not say 'S' leads to itself.
	 */
	if (ehf_stop_class(stop) == EHF_CLASS_NOT_FOUND || stop == EHF_STOP_RA_NOT_SAVED ||
	    stop == EHF_STOP_NO_PROGRESS) {
		other = step_by_code(&s, &to);
		if (other != EHF_STOP_NO_FDE)
			stop = other;
		else if (u->methods & EHU_METHOD_FP && ehf_stop_class(stop) == EHF_CLASS_NOT_FOUND)
			stop = step_by_fp(&s, &to);
	}
	if (stop)
		return stop;
	if (!to.ip)
		return EHF_STOP_RA_ZERO;
	if (to.ip == state->ip && to.sp == state->sp)
		return EHF_STOP_NO_PROGRESS;
	take_stack(u, &to);
	*state = to;
	return EHF_STOP_NONE;
}

/**
 * ehu_user_step() - step from a frame to its caller, the ordinary way
 * @u: the walk
 * @state: the frame; becomes the caller's on success, is unchanged otherwise
 * @cost: counters, added to
 *
 * Where the cache knows the row, or that there is none, the section is not read.
 *
 * Return: EHF_STOP_NONE, or why there is no caller: of class complete where the stack ends.
 */
enum ehf_stop ehu_user_step(const struct ehu_unwind *u, struct ehu_user_state *state,
			    struct ehf_cost *cost)
{
	const u64 addr = ehu_lookup_addr(state);
	const u64 generation = ehu_generation(u->sections);
	const struct ehu_slot *slot = NULL;

	if (u->cache && ehu_row_cache_can(generation, addr)) {
		slot = ehu_row_cache_find(u->cache, generation, addr);
		if (slot)
			u->cache->hits++;
		else
			u->cache->misses++;
	}
	return next_slow(u, state, slot, addr, cost);
}

/**
 * ehu_user_next() - step from a frame to its caller
 * @u: the walk
 * @state: the frame; becomes the caller's on success, is unchanged otherwise
 * @cost: counters, added to
 *
 * Return: as ehu_user_step().
 */
enum ehf_stop ehu_user_next(const struct ehu_unwind *u, struct ehu_user_state *state,
			    struct ehf_cost *cost)
{
	enum ehf_stop stop = EHF_STOP_NONE;
	struct ehu_entry entry;

	if (ehu_user_run(u, state, &entry, 1, cost, &stop))
		return EHF_STOP_NONE;
	return stop ? stop : ehu_user_step(u, state, cost);
}
