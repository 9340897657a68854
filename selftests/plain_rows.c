// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * harness/plain_rows.c: a row of the short way that says anything else is told apart, whatever it
 * says; and no row of a section is left out.
 */
#include "arch/arch.h"
#include "harness/image.h"
#include "harness/plain_rows.h"
#include "harness/static_fdes.h"
#include "selftests/kselftest_harness.h"

enum { RBP = 6, RSP = 7 };

FIXTURE(plain_rows)
{
	const struct ehf_abi *abi;
	struct ehf_row row;
	struct ehf_plain_row is;
};

FIXTURE_SETUP(plain_rows)
{
	self->abi = &ehu_arch_x86_64.abi;
	self->row = (struct ehf_row){
		.start = 0x1000, .end = 0x1010, .ra_reg = 16,
		.cfa = { .kind = EHF_CFA_REG, .reg = RBP, .off = 16 },
		.rule[EHF_FP] = { .kind = EHF_RULE_AT_CFA, .off = -16 },
		.rule[EHF_RA] = { .kind = EHF_RULE_AT_CFA, .off = -8 },
	};
	self->is.start = 0x1000;
	ASSERT_TRUE(ehf_plain_pack(self->abi, &self->row, &self->is.row));
}

FIXTURE_TEARDOWN(plain_rows)
{
}

static bool same(const FIXTURE_DATA(plain_rows) *self)
{
	return plain_row_same(self->abi, &self->is, &self->row);
}

TEST_F(plain_rows, the_same)
{
	EXPECT_TRUE(same(self));
	self->row.cfa.kind = EHF_CFA_VAL_EXPR;
	EXPECT_TRUE(same(self));
}

/* Every bit of it means something, or is 0. */
TEST_F(plain_rows, another_bit)
{
	for (u32 bit = 0; bit < 64; bit++) {
		self->is.row.word ^= 1ULL << bit;
		EXPECT_FALSE(same(self)) {
			TH_LOG("bit %u", bit);
		}
		self->is.row.word ^= 1ULL << bit;
	}
	self->is.start++;
	EXPECT_FALSE(same(self));
}

TEST_F(plain_rows, another_row)
{
	const struct ehf_row row = self->row;

	self->row.cfa.off += 8;
	EXPECT_FALSE(same(self));
	self->row = row;
	self->row.cfa.reg = 3;
	EXPECT_FALSE(same(self));
	self->row = row;
	self->row.rule[EHF_SP].kind = EHF_RULE_SAME;
	EXPECT_FALSE(same(self));
	self->row = row;
	self->row.stop = EHF_STOP_OPCODE;
	EXPECT_FALSE(same(self));
	self->row = row;
	self->row.flags = EHF_ROW_SIGNAL;
	EXPECT_FALSE(same(self));
	self->row = row;
	self->row.rule[EHF_RA].kind = EHF_RULE_UNDEF;
	self->row.flags = EHF_ROW_OUTERMOST;
	EXPECT_FALSE(same(self));
	self->row = row;
	self->row.rule[EHF_RA].kind = EHF_RULE_UNSPEC;
	EXPECT_FALSE(same(self));
}

TEST_F(plain_rows, without_a_place_for_the_ra)
{
	self->is.row.word &= ~EHF_PLAIN_RA;
	self->row.rule[EHF_RA] = (struct ehf_rule){ .kind = EHF_RULE_UNSPEC };
	EXPECT_TRUE(same(self));
	self->row.cfa.off = 24;
	EXPECT_FALSE(same(self));
	self->row.cfa.off = 16;
	self->row.rule[EHF_RA].kind = EHF_RULE_SAME;
	EXPECT_FALSE(same(self));
	self->row.rule[EHF_RA].kind = EHF_RULE_UNDEF;
	self->row.flags = EHF_ROW_OUTERMOST;
	EXPECT_FALSE(same(self));
	self->is.row.word |= EHF_PLAIN_RA_UNDEF;
	EXPECT_TRUE(same(self));
	self->row.rule[EHF_FP].off = -24;
	EXPECT_FALSE(same(self));
}

/* Where the short way ends it says nothing of the row, but where that is. */
TEST_F(plain_rows, the_end_of_the_way)
{
	self->is.row = ehf_plain_none(EHF_STOP_NONE);
	self->row.stop = EHF_STOP_OPCODE;
	EXPECT_TRUE(same(self));
	self->is.start = 0x1004;
	EXPECT_FALSE(same(self));
	self->is.start = 0x1000;
	self->is.row = ehf_plain_none(EHF_STOP_OPCODE);
	EXPECT_FALSE(same(self));
}

/* This very program: as many rows as its FDEs have one by one, whether or not they are at hand. */
TEST(all_rows_of_a_section)
{
	struct image_error err;
	struct image *img;
	struct static_fdes fdes;
	struct ehf_fde fde = { 0 };
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx;
	struct ehf_program p;
	struct ehf_row row;
	u64 rows = 0, sum[2] = { 0, 0 };

	ASSERT_EQ(IMAGE_OK, image_open("/proc/self/exe", &img, &err));
	ctx = image_ctx(img, &ehf_limits_file, &cost);
	ASSERT_TRUE(static_fdes_read(&fdes, img, &ctx));
	for (size_t k = 0; k < fdes.nr; k++) {
		ASSERT_EQ(EHF_STOP_NONE,
			  ehf_fde_parse(&ctx, &img->section, fdes.fde[k].addr, &fde));
		ehf_program_start(&p, &ctx, &fde);
		while (ehf_program_next(&p, &row))
			rows++;
	}
	EXPECT_LT(100, rows);
	EXPECT_EQ(rows, plain_rows_read(&ctx, &img->section, &sum[0]));
	EXPECT_NE(0, sum[0]);
	ctx.hand.len = 0;
	EXPECT_EQ(rows, plain_rows_read(&ctx, &img->section, &sum[1]));
	/* Rows that are not plain add something else. */
	EXPECT_NE(sum[0], sum[1]);
	static_fdes_free(&fdes);
	image_close(img);
}

/* What stands in a record that has no length, or one past the limit, is no record. */
TEST(nothing_is_read_behind_a_bad_length)
{
	static const u8 cie[] = {
		0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b,
		0x0c, 7, 8, 0x90, 1, 0, 0,
	};
	static u8 bytes[128];
	const struct ehf_mem mem = { 0 };

	for (u32 limit = 0; limit < 2; limit++) {
		struct ehf_limits limits = ehf_limits_walk;
		struct ehf_cost cost = { 0 };
		struct ehf_section s = { .eh_frame = 0x1000 };
		struct ehf_ctx ctx = {
			.mem = &mem, .abi = &ehu_arch_x86_64.abi, .limits = &limits, .cost = &cost,
			.hand = { bytes, 0x1000, sizeof(bytes) },
		};
		u32 at = sizeof(cie);
		u64 sum = 0;

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, cie, sizeof(cie));
		for (u32 k = 0; k < 2; k++) {
			/* The second one stands in a record of its own. */
			if (k && limit)
				bytes[at] = 24;
			else if (k)
				memcpy(bytes + at, "\xf5\xff\xff\xff", 4);
			at += 4 * k;
			bytes[at] = 16;
			bytes[at + 4] = (u8)(at + 4);
			bytes[at + 12] = 16;
			memcpy(bytes + at + 17, "\x41\x0e\x10", 3);
			at += 20;
		}
		if (limit)
			limits.record_len = 22;
		s.eh_frame_end = 0x1000 + at + 4;
		EXPECT_EQ(2, plain_rows_read(&ctx, &s, &sum)) {
			TH_LOG("limit %u", limit);
		}
	}
}

TEST_HARNESS_MAIN
