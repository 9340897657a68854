// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/map.c against a model: an array with one cell an address.
 */
#include "selftests/kselftest_harness.h"

#include "unwind/map.h"

enum { SPACE = 64, ROOM = 12 };

static struct ehf_section sections[ROOM + 1];

FIXTURE(map)
{
	struct ehu_map map;
	struct ehu_range storage[ROOM + 1];
	const struct ehf_section *cell[SPACE];
	u32 nr;
};

FIXTURE_SETUP(map)
{
	ehu_map_init(&self->map, self->storage, ROOM);
	self->storage[ROOM] = (struct ehu_range){ 1, 2, sections };
}

FIXTURE_TEARDOWN(map)
{
	EXPECT_EQ(1, self->storage[ROOM].start);
}

static void check(FIXTURE_DATA(map) *self)
{
	const struct ehu_sections *s = &self->map.sections;

	EXPECT_EQ(self->nr, self->map.nr);
	for (u64 addr = 0; addr < SPACE; addr++)
		EXPECT_TRUE(s->find(s, addr) == self->cell[addr]);
	for (u32 k = 1; k < self->map.nr; k++)
		EXPECT_LE(self->storage[k - 1].end, self->storage[k].start);
}

static int model_add(FIXTURE_DATA(map) *self, u64 start, u64 end, const struct ehf_section *s)
{
	if (start >= end)
		return -EINVAL;
	for (u64 addr = start; addr < end; addr++)
		if (self->cell[addr])
			return -EEXIST;
	if (self->nr == ROOM)
		return -ENOSPC;
	for (u64 addr = start; addr < end; addr++)
		self->cell[addr] = s;
	self->nr++;
	return 0;
}

/* Each range is of another section, so a cell tells which others go with it. */
static const struct ehf_section *unused(FIXTURE_DATA(map) *self)
{
	u32 k = 0;

	for (u64 addr = 0; addr < SPACE; addr++)
		if (self->cell[addr] == &sections[k]) {
			addr = ~0ULL;
			k++;
		}
	return &sections[k];
}

static void model_remove(FIXTURE_DATA(map) *self, u64 start, u64 end)
{
	for (u64 addr = start; addr < end; addr++) {
		const struct ehf_section *s = self->cell[addr];

		if (!s)
			continue;
		for (u64 other = 0; other < SPACE; other++)
			if (self->cell[other] == s)
				self->cell[other] = NULL;
		self->nr--;
	}
}

TEST_F(map, is_what_the_model_is)
{
	u32 seed = 1, nr[4] = { 0 };

	for (u32 k = 0; k < 200000; k++) {
		u64 start, end;
		int ret, want;

		seed = seed * 1664525 + 1013904223;
		start = seed >> 8 & 63;
		end = start + (seed >> 16 & (k & 16 ? 3 : 15));
		if (end > SPACE)
			end = SPACE;
		if (seed >> 24 & 3) {
			const struct ehf_section *s = unused(self);

			want = model_add(self, start, end, s);
			ret = ehu_map_add(&self->map, start, end, s);
			ASSERT_EQ(want, ret);
			nr[ret == 0 ? 0 : ret == -EINVAL ? 1 : ret == -EEXIST ? 2 : 3]++;
		} else if (seed >> 26 & 1) {
			model_remove(self, start, end);
			ehu_map_remove(&self->map, start, end);
		}
		if (k % 16 == 0)
			check(self);
		ASSERT_FALSE(_metadata->failed);
	}
	for (u32 k = 0; k < 4; k++)
		EXPECT_LT(100, nr[k]);
}

TEST_F(map, edges_of_the_address_space)
{
	EXPECT_EQ(0, ehu_map_add(&self->map, ~0ULL - 1, ~0ULL, &sections[0]));
	EXPECT_EQ(0, ehu_map_add(&self->map, 0, 1, &sections[1]));
	EXPECT_EQ(-EEXIST, ehu_map_add(&self->map, 0, ~0ULL, &sections[2]));
	EXPECT_EQ(0, ehu_map_add(&self->map, 1, ~0ULL - 1, &sections[2]));
	EXPECT_TRUE(ehu_map_find(&self->map, ~0ULL - 1)->section == &sections[0]);
	EXPECT_NULL(ehu_map_find(&self->map, ~0ULL));
	ehu_map_remove(&self->map, 5, 6);
	EXPECT_NULL(ehu_map_find(&self->map, 1));
	ehu_map_remove(&self->map, 0, ~0ULL);
	EXPECT_EQ(0, self->map.nr);
}

TEST_HARNESS_MAIN
