// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the row cache: what it keeps, what it leaves alone, and that no key is mistaken for
 * another.
 */
#include "selftests/kselftest_harness.h"
#include "unwind/row_cache.h"

#define NR_SLOTS 16

FIXTURE(row_cache)
{
	struct ehu_slot slot[NR_SLOTS];
	struct ehu_row_cache cache;
	struct ehf_row row;
};

FIXTURE_SETUP(row_cache)
{
	ASSERT_EQ(0, ehu_row_cache_init(&self->cache, self->slot, NR_SLOTS));
	self->row = (struct ehf_row){
		.cfa = { .kind = EHF_CFA_REG, .reg = 7, .off = 16 },
		.rule[EHF_RA] = { .kind = EHF_RULE_AT_CFA, .off = -8 },
	};
}

FIXTURE_TEARDOWN(row_cache)
{
}

/* Is the fixture's row kept at an address of its own? */
static bool kept(FIXTURE_DATA(row_cache) *self)
{
	ehu_row_cache_put_row(&self->cache, &ehu_arch_x86_64.abi, 1, 0x401000, &self->row);
	return ehu_row_cache_find(&self->cache, 1, 0x401000) != NULL;
}

TEST(row_cache_wants_a_power_of_two)
{
	struct ehu_slot slot[8];
	struct ehu_row_cache c;

	EXPECT_EQ(-EINVAL, ehu_row_cache_init(&c, slot, 0));
	EXPECT_EQ(-EINVAL, ehu_row_cache_init(&c, slot, 1));
	EXPECT_EQ(-EINVAL, ehu_row_cache_init(&c, slot, 2));
	EXPECT_EQ(-EINVAL, ehu_row_cache_init(&c, slot, 6));
	EXPECT_EQ(-EINVAL, ehu_row_cache_init(&c, slot, 1U << 17));
	EXPECT_EQ(0, ehu_row_cache_init(&c, slot, 4));
	EXPECT_EQ(0, ehu_row_cache_init(&c, slot, 8));
}

TEST_F(row_cache, an_empty_one_finds_nothing)
{
	EXPECT_NULL(ehu_row_cache_find(&self->cache, 1, 0));
	EXPECT_NULL(ehu_row_cache_find(&self->cache, 1, 0x401000));
}

TEST_F(row_cache, address_and_generation_are_both_the_key)
{
	EXPECT_TRUE(kept(self));
	EXPECT_NULL(ehu_row_cache_find(&self->cache, 2, 0x401000));
	EXPECT_NULL(ehu_row_cache_find(&self->cache, 1, 0x401001));
	/* The same low bits, and so the same slot. */
	EXPECT_NULL(ehu_row_cache_find(&self->cache, 1, 0x401000 ^ 1ULL << 47));
	for (u32 bit = 1; bit < EHU_SLOT_GEN_BITS; bit++)
		EXPECT_NULL(ehu_row_cache_find(&self->cache, 1 | 1ULL << bit, 0x401000));
}

/* Which of @nr addresses are found, and with the offset that was put there? */
static u32 found(FIXTURE_DATA(row_cache) *self, u64 generation, u32 nr)
{
	u32 is = 0;

	for (u32 k = 0; k < nr; k++) {
		u64 addr = 0x1000 + 0x35 * (u64)k;
		const struct ehu_slot *s = ehu_row_cache_find(&self->cache, generation, addr);

		if (s && ehf_plain_cfa_off(s->row, 8) == 16 + 8 * (u64)k)
			is++;
		else
			EXPECT_NULL(s);
	}
	return is;
}

static void fill(FIXTURE_DATA(row_cache) *self, u64 generation, u32 nr)
{
	for (u32 k = 0; k < nr; k++) {
		self->row.cfa.off = 16 + 8 * (s64)k;
		ehu_row_cache_put_row(&self->cache, &ehu_arch_x86_64.abi, generation,
				      0x1000 + 0x35 * (u64)k, &self->row);
		self->cache.misses++;
	}
}

TEST_F(row_cache, most_slots_are_used_before_one_goes)
{
	fill(self, 1, NR_SLOTS / 2);
	EXPECT_EQ(NR_SLOTS / 2, found(self, 1, NR_SLOTS / 2));
	fill(self, 1, 2 * NR_SLOTS);
	EXPECT_LE(NR_SLOTS * 3 / 4, found(self, 1, 2 * NR_SLOTS));
	/* Twice the same row takes one slot. */
	fill(self, 1, 2 * NR_SLOTS);
	EXPECT_GE(NR_SLOTS, found(self, 1, 2 * NR_SLOTS));
}

TEST_F(row_cache, a_generation_that_is_over_makes_room)
{
	fill(self, 7, 2 * NR_SLOTS);
	fill(self, 8, NR_SLOTS / 2);
	EXPECT_LE(1, found(self, 8, NR_SLOTS / 2));
	for (u32 k = 0; k < 4; k++)
		fill(self, 9 + k, 2 * NR_SLOTS);
	EXPECT_GE(NR_SLOTS / 4, found(self, 7, 2 * NR_SLOTS));
	EXPECT_LE(NR_SLOTS / 2, found(self, 12, 2 * NR_SLOTS));
}

TEST_F(row_cache, promotion_loses_nothing)
{
	u32 before;

	fill(self, 1, 2 * NR_SLOTS);
	before = found(self, 1, 2 * NR_SLOTS);
	for (u32 k = 0; k < 64 * NR_SLOTS; k++) {
		u64 addr = 0x1000 + 0x35 * (u64)(k * 7 % (2 * NR_SLOTS));
		const struct ehu_slot *s = ehu_row_cache_find(&self->cache, 1, addr);
		bool known = s;

		/* As a walk does: only where it is not in its first slot. */
		if (!s || s != &self->slot[ehu_row_cache_first(self->cache.mask, addr)])
			s = ehu_row_cache_promote(&self->cache, 1, addr);
		ASSERT_EQ(known, s != NULL);
		if (s)
			ASSERT_TRUE(ehu_slot_is(s, 1, addr));
	}
	EXPECT_EQ(before, found(self, 1, 2 * NR_SLOTS));
}

TEST_F(row_cache, keys_beyond_their_bits_are_not_kept)
{
	const u64 addr = 1ULL << EHU_SLOT_ADDR_BITS, gen = 1ULL << EHU_SLOT_GEN_BITS;

	EXPECT_TRUE(ehu_row_cache_can(gen - 1, addr - 1));
	EXPECT_FALSE(ehu_row_cache_can(gen, 0x1000));
	EXPECT_FALSE(ehu_row_cache_can(1, addr));
	EXPECT_FALSE(ehu_row_cache_can(0, 0x1000));
	ehu_row_cache_put_row(&self->cache, &ehu_arch_x86_64.abi, 1, addr | 0x1000, &self->row);
	EXPECT_NULL(ehu_row_cache_find(&self->cache, 1, 0x1000));
}

TEST_F(row_cache, rows_that_do_not_fit_are_not_kept)
{
	self->row.cfa.off = 8 * 32767;
	EXPECT_TRUE(kept(self));
	ehu_row_cache_init(&self->cache, self->slot, NR_SLOTS);
	self->row.cfa.off = 8 * 32768;
	EXPECT_FALSE(kept(self));
	self->row.cfa.off = 12;
	EXPECT_FALSE(kept(self));
	self->row.cfa.off = 16;
	self->row.cfa.reg = 10;
	EXPECT_FALSE(kept(self));
	self->row.cfa.reg = 7;
	self->row.cfa.kind = EHF_CFA_IP_STEP;
	EXPECT_FALSE(kept(self));
	self->row.cfa.kind = EHF_CFA_AT_REG;
	self->row.cfa.add = 8;
	EXPECT_FALSE(kept(self));
	self->row.cfa.kind = EHF_CFA_REG;
	self->row.cfa.add = 0;
	self->row.flags = EHF_ROW_SIGNAL;
	EXPECT_FALSE(kept(self));
	self->row.flags = 0;
	self->row.rule[EHF_RA].off = -8 * 257;
	EXPECT_FALSE(kept(self));
	/* What stands for "undefined" and for "no rule". */
	self->row.rule[EHF_RA].off = -8 * 256;
	EXPECT_FALSE(kept(self));
	self->row.rule[EHF_RA].off = 0;
	EXPECT_FALSE(kept(self));
	self->row.rule[EHF_RA].off = -8 * 255;
	EXPECT_TRUE(kept(self));
	ehu_row_cache_init(&self->cache, self->slot, NR_SLOTS);
	self->row.rule[EHF_RA].off = -8;
	self->row.rule[EHF_SP].kind = EHF_RULE_AT_CFA;
	EXPECT_FALSE(kept(self));
	self->row.rule[EHF_SP].kind = EHF_RULE_UNSPEC;
	self->row.rule[EHF_FP] = (struct ehf_rule){ .kind = EHF_RULE_REG, .reg = 9 };
	EXPECT_FALSE(kept(self));
}

TEST_F(row_cache, only_lasting_stops_are_kept)
{
	static const enum ehf_stop no[] = {
		EHF_STOP_MEMORY, EHF_STOP_SECTION_MEMORY, EHF_STOP_BAD_TABLE, EHF_STOP_BAD_CIE,
	};
	const struct ehu_slot *slot;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(no); k++) {
		ehu_row_cache_put_stop(&self->cache, 1, 0x1000, no[k]);
		EXPECT_NULL(ehu_row_cache_find(&self->cache, 1, 0x1000));
	}
	ehu_row_cache_put_stop(&self->cache, 1, 0x1000, EHF_STOP_NO_FDE);
	slot = ehu_row_cache_find(&self->cache, 1, 0x1000);
	ASSERT_NE(NULL, slot);
	EXPECT_TRUE(slot->row.word & EHF_PLAIN_STOP);
	EXPECT_EQ(EHF_STOP_NO_FDE, ehf_plain_stop(slot->row));
}

TEST_HARNESS_MAIN
