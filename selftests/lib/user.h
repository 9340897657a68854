/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The fixture of the tests of walks. Every walk is done with memory that is copied and memory that
 * is at hand, without and with the cache, and must give the same trace; where the cache knows all
 * rows, at the same cost.
 */
#ifndef SELFTESTS_LIB_USER_H
#define SELFTESTS_LIB_USER_H

#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "unwind/walk.h"

#define TEXT	(B_BASE + 0x100000)
#define STACK	0x1000			/* offset of the stack in the builder's memory */
#define SP	(B_BASE + STACK)
#define AT(n)	(SP + 8 * (u64)(n))	/* address of the nth word of the stack */
#define FN(n)	(TEXT + 0x100 * (u64)(n))
#define NOWHERE	0x666666ULL

enum { RDX = 1, RBX = 3, RDI = 5, RBP = 6, RSP = 7, R10 = 10, RIP = 16, MAX = 32 };

/* Functions that most tests have: 256 bytes each, from FN(n) on. */
enum { LEAF, START, FREE };	/* CFA = SP + 8; RA undefined; for tests */

FIXTURE(user)
{
	struct b b;
	u64 cie;
	struct ehu_arch arch;
	struct ehu_map map;
	struct ehu_range range[2];
	struct ehu_regs regs;
	struct ehu_unwind u;
	struct ehu_trace t;
	struct ehu_entry entry[MAX];
	struct ehu_slot slot[64];
	struct ehu_row_cache cache;
	struct ehf_memo memo;
};

#define FUNCTION(start, len, ...) do { \
	b_fde(&self->b, self->cie, start, len); \
	b_put(&self->b, __VA_ARGS__); \
	b_close(&self->b); \
} while (0)

static void begin(FIXTURE_DATA(user) *self, const struct ehu_arch *arch)
{
	struct b_cie cie = b_zr;

	self->arch = *arch;
	b_init(&self->b, &arch->abi);
	cie.ra = arch->abi.reg_ra;
	cie.data_align = -arch->abi.word_size;
	self->cie = b_cie(&self->b, &cie);
	self->regs = (struct ehu_regs){ .ip = FN(LEAF) + 16 };
	self->regs.reg[arch->abi.reg_sp] = SP;
	self->regs.known = 1ULL << arch->abi.reg_sp;
	self->u = (struct ehu_unwind){ .arch = &self->arch, .mem = &self->b.mem,
				       .sections = &self->map.sections,
				       .limits = &ehf_limits_walk };
}

static void x86_64(FIXTURE_DATA(user) *self)
{
	begin(self, &ehu_arch_x86_64);
	b_put(&self->b, 0x0c, RSP, 8, 0x80 | RIP, 1);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, RIP);
}

/* All is built: the rest of the memory is stack. */
static void finish(FIXTURE_DATA(user) *self)
{
	struct b *b = &self->b;

	b_end(b);
	b_hdr(b, 0x1b, 0x03, 0x3b);
	ASSERT_LE(b->len, STACK);
	b->len = B_SIZE;
	b_memory(b, B_COPY);
	ASSERT_EQ(EHF_STOP_NONE, ehf_section_init(&b->ctx, &b->s));
	ehu_map_init(&self->map, self->range, 2);
	ASSERT_EQ(0, ehu_map_add(&self->map, TEXT, TEXT + 0x10000, &b->s));
	self->map.sections.generation = 5;
}

static void word(FIXTURE_DATA(user) *self, u32 n, u64 value)
{
	u32 size = self->arch.abi.word_size;

	b_poke(&self->b, STACK + size * n, value, size);
}

TH_UNUSED static void set_reg(FIXTURE_DATA(user) *self, u32 reg, u64 value)
{
	self->regs.reg[reg] = value;
	self->regs.known |= 1ULL << reg;
}

static void check_same(FIXTURE_DATA(user) *self, const struct ehu_trace *first, int way)
{
	EXPECT_EQ(first->stop, self->t.stop) {
		TH_LOG("way %d: %s", way, ehf_stop_name(self->t.stop));
	}
	ASSERT_EQ(first->nr, self->t.nr);
	for (u32 k = 0; k < first->nr; k++) {
		EXPECT_EQ(first->entry[k].ip, self->t.entry[k].ip);
		EXPECT_EQ(first->entry[k].sp, self->t.entry[k].sp);
		EXPECT_EQ(first->entry[k].fp, self->t.entry[k].fp);
		EXPECT_EQ(first->entry[k].via, self->t.entry[k].via);
		EXPECT_EQ(first->entry[k].flags, self->t.entry[k].flags);
	}
}

/*
 * A walk with the cache, which then has served and missed as many lookups; what is read of stack
 * and code is counted alike where no section is read.
 */
static void same_cost(FIXTURE_DATA(user) *self)
{
	static const enum b_kind kinds[] = { B_COPY, B_DIRECT };
	u64 hits[2][2], misses[2][2];
	struct ehf_cost cost[2] = { { 0 } };

	self->u.cache = &self->cache;
	self->u.memo = NULL;
	for (u32 k = 0; k < 2; k++) {
		memset(self->slot, 0, sizeof(self->slot));
		ASSERT_EQ(0, ehu_row_cache_init(&self->cache, self->slot, 64));
		b_memory(&self->b, kinds[k]);
		for (u32 warm = 0; warm < 2; warm++) {
			ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
			hits[k][warm] = self->cache.hits;
			misses[k][warm] = self->cache.misses;
		}
		cost[k] = self->t.cost;
	}
	for (u32 warm = 0; warm < 2; warm++) {
		EXPECT_EQ(hits[0][warm], hits[1][warm]);
		EXPECT_EQ(misses[0][warm], misses[1][warm]);
	}
	if (misses[0][0] != misses[0][1] || hits[0][0] == hits[0][1])
		return;
	EXPECT_EQ(cost[0].reads, cost[1].reads);
	EXPECT_EQ(cost[0].bytes, cost[1].bytes);
	EXPECT_EQ(0, cost[1].insns);
}

/* Walks every way there is; the trace is in self->t. */
static enum ehf_stop walk(FIXTURE_DATA(user) *self)
{
	static const enum b_kind kinds[] = { B_COPY, B_DIRECT, B_CRUMBS };
	struct ehu_entry entry[MAX];
	struct ehu_trace first = { .entry = entry };

	self->t = (struct ehu_trace){ .entry = self->entry, .max = MAX };
	self->u.cache = NULL;
	self->u.memo = NULL;
	b_memory(&self->b, B_COPY);
	ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
	EXPECT_NE(EHF_STOP_NONE, self->t.stop);
	memcpy(entry, self->entry, sizeof(entry));
	first.nr = self->t.nr;
	first.stop = self->t.stop;
	for (int way = 1; way < 9; way++) {
		b_memory(&self->b, kinds[way % 3]);
		if (way == 3) {
			memset(self->slot, 0, sizeof(self->slot));
			memset(&self->memo, 0, sizeof(self->memo));
			ASSERT_EQ(0, ehu_row_cache_init(&self->cache, self->slot, 64));
		}
		if (way >= 3) {
			self->u.cache = &self->cache;
			self->u.memo = &self->memo;
		}
		ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
		check_same(self, &first, way);
	}
	if (self->map.sections.generation)
		same_cost(self);
	EXPECT_EQ(0, self->b.broken);
	return self->t.stop;
}

#define FRAME(n, want_ip, want_sp) do { \
	ASSERT_LT(n, self->t.nr); \
	EXPECT_EQ(want_ip, self->t.entry[n].ip); \
	EXPECT_EQ(want_sp, self->t.entry[n].sp); \
} while (0)

FIXTURE_SETUP(user)
{
	x86_64(self);
}

FIXTURE_TEARDOWN(user)
{
	EXPECT_FALSE(self->b.overflow);
}

#endif /* SELFTESTS_LIB_USER_H */
