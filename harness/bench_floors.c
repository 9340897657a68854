// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What no unwinder can be faster than: a chain of frame pointers, and a hash of the pc that leads
 * to a ready-made row. Neither finds out anything; both read the same stacks.
 */
#include "harness/bench_engine.h"

#include <stdlib.h>
#include <string.h>

/* Reads a word of a stack; false where it has none there. */
static inline bool word(const struct bench_sample *s, u64 addr, u64 *v)
{
	u64 off = addr - s->sp;

	if (s->size < 8 || off > s->size - 8)
		return false;
	memcpy(v, s->stack + off, 8);
	return true;
}

/* Stacks as they would be if every function kept a frame record. */
struct chain {
	struct bench_sample *sample;
	const struct bench_sample *given;
	u64 pc[BENCH_MAX_FRAMES];
};

/* Writes the records where frames end; one that is too small for its own has none. */
static bool link_frames(struct bench_sample *to, const struct bench_sample *s,
			const struct ehu_trace *trace)
{
	u64 last = 0, first = 0;
	u8 *stack = malloc(s->size ? s->size : 1);

	if (!stack)
		return false;
	memcpy(stack, s->stack, s->size);
	*to = *s;
	to->stack = stack;
	for (u32 k = 1; k < trace->nr; k++) {
		u64 at = trace->entry[k].sp - 16, none = 0;

		if (at - s->sp > s->size || s->size - (at - s->sp) < 16 || (last && at < last + 16))
			continue;
		memcpy(stack + (at - s->sp), &none, 8);
		memcpy(stack + (at - s->sp) + 8, &trace->entry[k].ip, 8);
		if (last)
			memcpy(stack + (last - s->sp), &at, 8);
		else
			first = at;
		last = at;
	}
	to->regs.reg[6] = first;
	return true;
}

static void *open_fp(const struct bench_set *set)
{
	static struct ehu_entry entry[BENCH_MAX_FRAMES];
	struct chain *c = calloc(1, sizeof(*c));
	struct bench_mem *mem = calloc(set->nr_spaces, sizeof(*mem));

	if (!c || !mem)
		return NULL;
	c->given = set->sample;
	c->sample = calloc(set->nr, sizeof(*c->sample));
	for (u32 k = 0; k < set->nr_spaces; k++)
		if (!bench_mem_open(&mem[k], &set->space[k], k + 1))
			return NULL;
	for (u32 n = 0; c->sample && n < set->nr; n++) {
		const struct bench_sample *s = &set->sample[n];
		struct bench_mem *m = &mem[s->space];
		struct ehu_trace trace = { .entry = entry, .max = BENCH_MAX_FRAMES };
		struct ehu_unwind u = {
			.arch = &ehu_arch_x86_64, .mem = &m->mem,
			.sections = &m->text.sections, .limits = &ehf_limits_walk,
		};

		bench_mem_stack(m, s);
		ehu_walk(&u, &s->regs, &trace);
		if (!link_frames(&c->sample[n], s, &trace))
			return NULL;
	}
	return c->sample ? c : NULL;
}

static u32 walk_fp(void *engine, const struct bench_sample *given, u64 *pc)
{
	struct chain *c = engine;
	const struct bench_sample *s = &c->sample[given - c->given];
	u64 *to = pc ? pc : c->pc, fp = s->regs.reg[6], next, ra;
	u32 nr = 0;

	to[nr++] = s->regs.ip;
	while (nr < BENCH_MAX_FRAMES && word(s, fp, &next) && word(s, fp + 8, &ra)) {
		to[nr++] = ra;
		if (next <= fp)
			break;
		fp = next;
	}
	return nr;
}

const struct bench_engine bench_fp = {
	.name = "fp", .what = "floor: frame-pointer chain, in stacks that were given one",
	.floor = true, .open = open_fp, .walk = walk_fp,
};

/* A row as x86-64 code has them: CFA from SP or FP, RA below it, FP kept or saved. */
struct row {
	u64 addr;
	s32 cfa;
	s16 fp;		/* 0: unchanged */
	bool by_fp;
	bool usable;
};

/* One hash table a space, at most half full. */
struct table {
	struct row *row;
	u64 mask;
	u64 nr;
};

struct memo {
	struct table *space;
	u64 pc[BENCH_MAX_FRAMES];
};

static inline u64 hash(u64 addr)
{
	return addr * 0x9e3779b97f4a7c15ULL >> 32;
}

static struct row *slot(const struct table *t, u64 addr)
{
	u64 k = hash(addr) & t->mask;

	while (t->row[k].addr && t->row[k].addr != addr)
		k = (k + 1) & t->mask;
	return &t->row[k];
}

static bool grow(struct table *t)
{
	struct table more = { .mask = t->row ? 2 * t->mask + 1 : 1023, .nr = t->nr };

	more.row = calloc(more.mask + 1, sizeof(*more.row));
	if (!more.row)
		return false;
	for (u64 k = 0; t->row && k <= t->mask; k++)
		if (t->row[k].addr)
			*slot(&more, t->row[k].addr) = t->row[k];
	free(t->row);
	*t = more;
	return true;
}

/* What fits our row; the few others end a walk of this floor. */
static void fill(struct row *r, const struct ehf_row *row)
{
	const struct ehf_rule *fp = &row->rule[EHF_FP], *ra = &row->rule[EHF_RA];

	r->by_fp = row->cfa.reg == 6;
	r->cfa = (s32)row->cfa.off;
	r->fp = fp->kind == EHF_RULE_AT_CFA ? (s16)fp->off : 0;
	r->usable = (row->cfa.kind == EHF_CFA_REG || row->cfa.kind == EHF_CFA_VAL_EXPR) &&
		    (row->cfa.reg == 6 || row->cfa.reg == 7) && ra->kind == EHF_RULE_AT_CFA &&
		    ra->off == -8 && !row->flags &&
		    (fp->kind == EHF_RULE_AT_CFA || fp->kind == EHF_RULE_UNSPEC ||
		     fp->kind == EHF_RULE_SAME);
}

static bool learn(struct table *t, const struct bench_mem *m, u64 addr)
{
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &m->mem, .abi = &ehu_arch_x86_64.abi, .limits = &ehf_limits_walk,
		.cost = &cost,
	};
	const struct ehf_section *section = m->text.sections.find(&m->text.sections, addr);
	struct ehf_row row;
	struct row *r;

	if ((!t->row || 2 * t->nr > t->mask) && !grow(t))
		return false;
	r = slot(t, addr);
	if (r->addr || !section || ehf_row_find(&ctx, section, addr, &row))
		return true;
	t->nr++;
	r->addr = addr;
	fill(r, &row);
	return true;
}

/* Our own walk, once, says which addresses there are. */
static bool learn_all(struct memo *o, const struct bench_set *set, struct bench_mem *mem)
{
	static struct ehu_entry entry[BENCH_MAX_FRAMES];

	for (u32 n = 0; n < set->nr; n++) {
		const struct bench_sample *s = &set->sample[n];
		struct bench_mem *m = &mem[s->space];
		struct ehu_trace trace = { .entry = entry, .max = BENCH_MAX_FRAMES };
		struct ehu_unwind u = {
			.arch = &ehu_arch_x86_64, .mem = &m->mem,
			.sections = &m->text.sections, .limits = &ehf_limits_walk,
		};

		bench_mem_stack(m, s);
		ehu_walk(&u, &s->regs, &trace);
		for (u32 k = 0; k < trace.nr; k++)
			if (!learn(&o->space[s->space], m, entry[k].ip -
				   !(entry[k].flags & EHU_ENTRY_EXACT)))
				return false;
	}
	return true;
}

static void *open_memo(const struct bench_set *set)
{
	struct memo *o = calloc(1, sizeof(*o));
	struct bench_mem *mem = calloc(set->nr_spaces, sizeof(*mem));
	bool good = o && mem;

	if (good) {
		o->space = calloc(set->nr_spaces, sizeof(*o->space));
		good = o->space;
	}
	for (u32 k = 0; good && k < set->nr_spaces; k++)
		good = bench_mem_open(&mem[k], &set->space[k], k + 1) && grow(&o->space[k]);
	good = good && learn_all(o, set, mem);
	for (u32 k = 0; mem && k < set->nr_spaces; k++)
		bench_mem_close(&mem[k]);
	free(mem);
	return good ? o : NULL;
}

static u32 walk_memo(void *engine, const struct bench_sample *s, u64 *pc)
{
	struct memo *o = engine;
	const struct table *t = &o->space[s->space];
	u64 *to = pc ? pc : o->pc;
	u64 ip = s->regs.ip, sp = s->regs.reg[7], fp = s->regs.reg[6], cfa, addr = ip;
	u32 nr = 0;

	for (;;) {
		const struct row *r = slot(t, addr);

		to[nr++] = ip;
		if (nr == BENCH_MAX_FRAMES || r->addr != addr || !r->usable)
			return nr;
		cfa = (r->by_fp ? fp : sp) + (u64)(s64)r->cfa;
		/* A return address of 0 is the end of the stack for us too. */
		if (cfa <= sp || !word(s, cfa - 8, &ip) || !ip)
			return nr;
		/* Past its pop, FP's slot is below SP and was not copied: it is unchanged. */
		if (r->fp)
			word(s, cfa + (u64)(s64)r->fp, &fp);
		sp = cfa;
		addr = ip - 1;
	}
}

const struct bench_engine bench_memo = {
	.name = "memo", .what = "floor: hash of the pc, a ready-made row", .floor = true,
	.open = open_memo, .walk = walk_memo,
};
