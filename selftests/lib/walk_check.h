/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * For fuzzers: stacks made up from a number, walked the ordinary way and with all that makes it
 * short. Aborts where the traces differ.
 */
#ifndef SELFTESTS_LIB_WALK_CHECK_H
#define SELFTESTS_LIB_WALK_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/walk.h"

#define WALK_CHECK_STACK	2048	/* bytes */
#define WALK_CHECK_FRAMES	24
#define WALK_CHECK_SLOTS	16

/* Bytes of target memory. */
struct walk_region {
	u64 addr;
	const u8 *p;
	u64 len;
};

/**
 * struct walk_check - what walks have to work on
 * @mem: the source; @mem.direct is set for those walks that it is offered to
 * @sections: with the one section
 * @u: the walk
 * @section: that section
 * @region: header, .eh_frame, stack
 * @near: bytes of the stack that ->direct offers; 0: none
 * @cut: more was fetched ahead than there is: nothing that bytes at hand would meet
 * @seed: what stacks are made up from; another number after each
 * @stack: the stack
 */
struct walk_check {
	struct ehf_mem mem;	/* first: callbacks find the rest from it */
	struct ehu_sections sections;
	struct ehu_unwind u;
	const struct ehf_section *section;
	struct walk_region region[3];
	u64 near;
	bool cut;
	u64 seed;
	u8 stack[WALK_CHECK_STACK];
};

static inline const u8 *walk_check_at(const struct walk_check *c, u64 addr, u64 *avail, u32 *which)
{
	for (u32 k = 0; k < 3; k++) {
		const struct walk_region *r = &c->region[k];

		if (addr < r->addr || addr - r->addr >= r->len)
			continue;
		*avail = r->len - (addr - r->addr);
		*which = k;
		return r->p + (addr - r->addr);
	}
	return NULL;
}

static inline bool walk_check_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct walk_check *c = (struct walk_check *)mem;
	u64 avail = 0;
	u32 which = 0;
	const u8 *p = walk_check_at(c, addr, &avail, &which);

	if (!p || avail < len) {
		c->cut = c->cut || (p && (which < 2 || len > 8));
		return false;
	}
	memcpy(dst, p, len);
	return true;
}

static inline const u8 *walk_check_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	const struct walk_check *c = (const struct walk_check *)mem;
	u64 have = 0;
	u32 which = 0;
	const u8 *p = walk_check_at(c, addr, &have, &which);

	if (p && which == 2 && have > c->near)
		have = c->near;
	*avail = have < len ? have : len;
	return have ? p : NULL;
}

static inline const struct ehf_section *walk_check_find(const struct ehu_sections *sections,
							u64 addr)
{
	const struct walk_check *c = (const struct walk_check *)
		((const u8 *)sections - offsetof(struct walk_check, sections));

	return addr >= c->section->text_start && addr < c->section->text_end ? c->section : NULL;
}

static inline u64 walk_check_random(struct walk_check *c)
{
	c->seed ^= c->seed << 13;
	c->seed ^= c->seed >> 7;
	c->seed ^= c->seed << 17;
	return c->seed;
}

/* Words that are pcs, places in the stack, or anything. */
static inline void walk_check_fill(struct walk_check *c, const u64 *pc, u32 nr_pcs)
{
	const struct ehf_abi *abi = &c->u.arch->abi;
	const u32 size = abi->word_size;

	for (u32 at = 0; at < WALK_CHECK_STACK; at += size) {
		u64 r = walk_check_random(c), v;

		if (r % 16 < 10 && nr_pcs)
			v = pc[(r >> 8) % nr_pcs] + 1;
		else if (r % 16 < 15)
			v = c->region[2].addr + at + (r >> 8) % 256 * (r & 0x80 ? 1 : size);
		else
			v = r >> 8;
		for (u32 k = 0; k < size; k++)
			c->stack[at + k] = (u8)(v >> 8 * (abi->big_endian ? size - 1 - k : k));
	}
}

static inline void walk_check_same(const struct walk_check *c, const struct ehu_trace *a,
				   const struct ehu_trace *b)
{
	bool same = (a->nr == b->nr && a->stop == b->stop) || c->cut;

	for (u32 k = 0; same && !c->cut && k < a->nr; k++) {
		const struct ehu_entry *x = &a->entry[k], *y = &b->entry[k];

		same = x->ip == y->ip && x->sp == y->sp && x->fp == y->fp && x->via == y->via &&
		       x->flags == y->flags;
	}
	if (same)
		return;
	fprintf(stderr, "traces differ: %u entries, %s; %u entries, %s\n", a->nr,
		ehf_stop_name(a->stop), b->nr, ehf_stop_name(b->stop));
	abort();
}

/* One walk, the ordinary way and in five others. */
static inline void walk_check_once(struct walk_check *c, const struct ehu_regs *regs, u32 room)
{
	static struct ehf_memo memo;
	static struct ehu_slot slot[WALK_CHECK_SLOTS];
	static unsigned long generation;
	struct ehu_entry entry[2][WALK_CHECK_FRAMES];
	struct ehu_trace is = { .entry = entry[0], .max = room };
	struct ehu_trace want = { .entry = entry[1], .max = room };
	struct ehu_row_cache cache;

	c->u.mem = &c->mem;
	c->u.sections = &c->sections;
	c->cut = false;
	c->mem.read = walk_check_read;
	c->sections.find = walk_check_find;

	/* Nothing at hand, nothing kept. */
	c->mem.direct = NULL;
	c->sections.generation = 0;
	ehu_walk(&c->u, regs, &want);

	c->sections.generation = ++generation;
	c->mem.direct = walk_check_direct;
	ehu_walk(&c->u, regs, &is);
	walk_check_same(c, &is, &want);
	/* With what a walk before it has left; under another number once it is from then on. */
	ehu_row_cache_init(&cache, slot, WALK_CHECK_SLOTS);
	c->u.cache = &cache;
	c->u.memo = &memo;
	for (u32 k = 0; k < 4; k++) {
		c->mem.direct = k == 2 ? NULL : walk_check_direct;
		if (k == 3)
			c->sections.generation = ++generation;
		ehu_walk(&c->u, regs, &is);
		walk_check_same(c, &is, &want);
	}
	c->u.cache = NULL;
	c->u.memo = NULL;
}

/**
 * walk_check() - walk a few made-up stacks
 * @c: all but @c->mem and @c->sections filled in; @c->region[2].addr is where the stack is to be
 * @pc: addresses that lead on
 * @nr_pcs: how many
 */
static inline void walk_check(struct walk_check *c, const u64 *pc, u32 nr_pcs)
{
	const struct ehf_abi *abi = &c->u.arch->abi;
	struct walk_region *stack = &c->region[2];

	stack->p = c->stack;
	stack->len = WALK_CHECK_STACK;
	/* An address has one byte, however it is read. */
	for (u32 k = 0; k < 3; k++)
		if (c->region[k].addr > ~0ULL - c->region[k].len ||
		    (k < 2 && c->region[k].addr < stack->addr + stack->len &&
		     stack->addr < c->region[k].addr + c->region[k].len))
			return;
	for (u32 n = 0; n < 4; n++) {
		u64 r = walk_check_random(c);
		struct ehu_regs regs = { .known = ~0ULL };

		walk_check_fill(c, pc, nr_pcs);
		for (u32 k = 0; k < EHU_NR_REGS; k++)
			regs.reg[k] = stack->addr + r % 97 * abi->word_size;
		regs.ip = pc[r % nr_pcs];
		regs.reg[abi->reg_sp] = stack->addr + (r >> 8) % 16 * abi->word_size;
		if (r >> 16 & 1)
			regs.known = 1ULL << abi->reg_sp;
		c->near = r >> 17 & 1 ? WALK_CHECK_STACK : (r >> 18) % WALK_CHECK_STACK;
		c->u.methods = r >> 32 & 1 ? EHU_METHOD_FP : 0;
		walk_check_once(c, &regs, 1 + (u32)(r >> 33) % WALK_CHECK_FRAMES);
	}
}

#endif /* SELFTESTS_LIB_WALK_CHECK_H */
