// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/plain.c: which programs are plain and which are left, and that no byte makes the short
 * way say anything else than the general one.
 */
#include "selftests/lib/program.h"

#define EXPECT_PLAIN(rows_) do {                                                \
	rows(self);                                                             \
	EXPECT_EQ((u32)(rows_), self->plain_rows);                              \
} while (0)

/* All of it. */
#define EXPECT_ALL_PLAIN() do {                                                 \
	rows(self);                                                             \
	EXPECT_EQ(self->nr, self->plain_rows);                                  \
	EXPECT_EQ((u32)self->range, self->plain_found);                         \
} while (0)

static void prologue(struct b *b)
{
	b_put(b, 0x41, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2);
	b_put(b, 0x43, DW_CFA_def_cfa_register, 6);
	b_put(b, 0x42, DW_CFA_offset | 3, 3, DW_CFA_offset | 12, 4);
}

TEST_F(program, plain_prologue_and_epilogues)
{
	prologue(&self->b);
	b_put(&self->b, 0x48, DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8, 0x41);
	b_put(&self->b, DW_CFA_restore_state, 0x44, DW_CFA_restore | 6, DW_CFA_def_cfa, 7, 8);
	EXPECT_ALL_PLAIN();
	EXPECT_EQ(7, self->nr);
}

TEST_F(program, plain_large_frame_and_long_advances)
{
	b_put(&self->b, DW_CFA_advance_loc1, 8, DW_CFA_def_cfa_offset, 0xf8, 0x7f);
	b_put(&self->b, DW_CFA_advance_loc2);
	b_fixed(&self->b, 8, 2);
	b_put(&self->b, DW_CFA_GNU_args_size, 0x90, 1, DW_CFA_def_cfa_offset, 16);
	b_put(&self->b, DW_CFA_advance_loc4);
	b_fixed(&self->b, 8, 4);
	b_put(&self->b, DW_CFA_def_cfa_offset, 24);
	EXPECT_ALL_PLAIN();
	EXPECT_EQ(4, self->nr);
}

TEST_F(program, plain_rules_of_other_registers)
{
	b_put(&self->b, 0x44, DW_CFA_offset_extended, 70, 3, DW_CFA_register, 3, 12);
	b_put(&self->b, DW_CFA_same_value, 3, DW_CFA_undefined, 3, DW_CFA_restore_extended, 3);
	b_put(&self->b, DW_CFA_expression, 12, 2, 0x76, 0x78, DW_CFA_val_expression, 13, 1, 0x50);
	b_put(&self->b, 0x44, DW_CFA_restore | 3);
	EXPECT_ALL_PLAIN();
}

TEST_F(program, plain_frame_pointer_that_is_lost_or_kept)
{
	b_put(&self->b, 0x44, DW_CFA_undefined, 6, 0x44, DW_CFA_same_value, 6);
	b_put(&self->b, 0x44, DW_CFA_offset | 6, 127, 0x44, DW_CFA_restore_extended, 6);
	EXPECT_ALL_PLAIN();
	EXPECT_EQ(5, self->nr);
}

TEST_F(program, plain_outermost)
{
	b_put(&self->b, 0x44, DW_CFA_undefined, 16, 0x44, DW_CFA_restore | 16);
	EXPECT_ALL_PLAIN();
	begin_cie(self, &b_zr);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, DW_CFA_undefined, 16);
	begin_fde(self);
	EXPECT_ALL_PLAIN();
}

TEST_F(program, plain_no_rule_for_the_ra)
{
	begin_cie(self, &b_zr);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8);
	begin_fde(self);
	b_put(&self->b, 0x44, DW_CFA_offset | 16, 1);
	rows(self);
	EXPECT_EQ(2, self->plain_rows);
	EXPECT_EQ((u32)self->range - 4, self->plain_found);
}

TEST_F(program, plain_personality_and_landing_pads)
{
	struct b_cie o = b_zr;

	o.aug = "zPLR";
	o.pers_enc = 0x9b;
	begin_cie(self, &o);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	begin_fde(self);
	prologue(&self->b);
	EXPECT_ALL_PLAIN();
}

/* What ends the short way, after one row that is plain. */
static const struct {
	const char *what;
	u8 bytes[8];
	u32 len;
} leaves[] = {
	{ "CFA from another register", { DW_CFA_def_cfa, 10, 8 }, 3 },
	{ "CFA register is another", { DW_CFA_def_cfa_register, 10 }, 2 },
	{ "CFA by an expression", { DW_CFA_def_cfa_expression, 2, 0x76, 0x70 }, 4 },
	{ "CFA's offset is no multiple", { DW_CFA_def_cfa_offset, 12 }, 2 },
	{ "CFA's offset of three bytes", { DW_CFA_def_cfa_offset, 0x80, 0x80, 1 }, 4 },
	{ "FP by an expression", { DW_CFA_expression, 6, 2, 0x76, 0 }, 5 },
	{ "FP in a register", { DW_CFA_register, 6, 3 }, 3 },
	{ "RA unchanged", { DW_CFA_same_value, 16 }, 2 },
	{ "RA in a register", { DW_CFA_register, 16, 3 }, 3 },
	{ "RA at the CFA", { DW_CFA_offset | 16, 0 }, 2 },
	{ "SP saved", { DW_CFA_offset | 7, 2 }, 2 },
	{ "SP is CFA", { DW_CFA_val_offset, 7, 0 }, 3 },
	{ "an offset of two bytes", { DW_CFA_offset | 3, 0x80, 1 }, 3 },
	{ "a signed offset", { DW_CFA_offset_extended_sf, 3, 0x7f }, 3 },
	{ "an unknown opcode", { 0x3f }, 1 },
	{ "a state that was not remembered", { DW_CFA_restore_state }, 1 },
};

TEST_F(program, plain_no_more)
{
	for (u32 k = 0; k < EHF_ARRAY_SIZE(leaves); k++) {
		begin(self);
		b_put(&self->b, 0x44);
		for (u32 n = 0; n < leaves[k].len; n++)
			b_u8(&self->b, leaves[k].bytes[n]);
		rows(self);
		EXPECT_EQ(1, self->plain_rows) {
			TH_LOG("%s", leaves[k].what);
		}
		EXPECT_EQ(4, self->plain_found);
	}
}

/* CIEs that the short way leaves alone. */
TEST_F(program, plain_no_such_cie)
{
	struct b_cie o[6] = { b_zr, b_zr, b_zr, b_zr, b_zr, b_zr };

	o[0].aug = "zRS";
	o[1].code_align = 300;
	o[2].data_align = -32;
	o[3].fde_enc = 0x1c;
	o[4].ra = 6;
	o[5].aug = "zR?";
	for (u32 k = 0; k < EHF_ARRAY_SIZE(o); k++) {
		begin_cie(self, &o[k]);
		b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
		begin_fde(self);
		b_put(&self->b, 0x44, DW_CFA_def_cfa_offset, 16);
		rows(self);
		EXPECT_EQ(0, self->plain_rows) {
			TH_LOG("CIE %u", k);
		}
		EXPECT_EQ(0, self->plain_found);
	}
}

/* A table of two functions in front of the fixture's, and what both ways say at each pc. */
static void agree(FIXTURE_DATA(program) *self, u32 *plain, u32 *other)
{
	struct b *b = &self->b;
	struct ehf_plain_cie cie[2] = { { 0 }, { 0 } };
	struct ehf_ctx ctx = b->ctx;
	struct ehf_hand table;
	struct ehf_plain is, want;
	struct ehf_row row;

	ctx.plain = cie;
	ctx.nr_plain = 2;
	ctx.generation = 1;
	table = (struct ehf_hand){ b->buf + (b->s.table - b->base), b->s.table,
				   b->s.nr_fdes * b->s.entry_size };
	for (u64 pc = START - 0x22; pc < START + RANGE + 2; pc += 2) {
		memset(&row, 0, sizeof(row));
		if (!ehf_plain_find(&ctx, &b->s, &table, pc, &is)) {
			++*other;
			continue;
		}
		++*plain;
		ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, pc, &row)) {
			TH_LOG("pc 0x%x", (int)pc);
		}
		ASSERT_TRUE(ehf_plain_pack(&b->abi, &row, &want));
		ASSERT_EQ(want.word, is.word);
	}
}

static void three_functions(FIXTURE_DATA(program) *self)
{
	struct b *b = &self->b;

	begin_cie(self, &b_zr);
	b_put(b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	b_close(b);
	b_fde(b, self->cie, START - 0x20, 0x10);
	b_put(b, 0x41, DW_CFA_def_cfa_offset, 0x90, 1);
	b_close(b);
	b_fde(b, self->cie, START - 0x10, 0x0e);
	b_put(b, 0x41, DW_CFA_undefined, 16);
	begin_fde(self);
	prologue(b);
	b_put(b, DW_CFA_advance_loc1, 3, DW_CFA_remember_state, DW_CFA_restore | 6);
	b_put(b, DW_CFA_def_cfa, 7, 8, 0x41, DW_CFA_restore_state);
	b_close(b);
	b_end(b);
	b_hdr(b, 0x1b, 0x03, 0x3b);
	b->s.text_start = START - 0x20;
	b->s.text_end = START + RANGE;
	b_memory(b, B_HAND);
	ASSERT_EQ(EHF_STOP_NONE, ehf_section_init(&b->ctx, &b->s));
	ASSERT_EQ(3, b->s.nr_fdes);
}

TEST_F(program, plain_whatever_a_byte_is)
{
	static const u8 change[] = { 0x01, 0x02, 0x08, 0x40, 0x80, 0xc0, 0xff };
	struct b *b = &self->b;
	u32 plain = 0, other = 0;

	three_functions(self);
	agree(self, &plain, &other);
	EXPECT_EQ(8 + 7 + RANGE / 2, plain);
	plain = other = 0;
	for (u32 at = 0; at < b->len; at++) {
		for (u32 k = 0; k < EHF_ARRAY_SIZE(change); k++) {
			b->buf[at] ^= change[k];
			agree(self, &plain, &other);
			b->buf[at] ^= change[k];
		}
	}
	EXPECT_LT(1000, plain);
	EXPECT_LT(1000, other);
	TH_LOG("%u plain rows that agree, %u left to the general way", plain, other);
	b_cut(b, B_BASE);
	begin(self);
}

/* With fewer bytes at hand there are fewer answers, and no other ones. */
TEST_F(program, plain_every_prefix)
{
	struct b *b = &self->b;
	u32 plain = 0, other = 0;
	u64 len;

	three_functions(self);
	len = b->ctx.hand.len;
	for (u64 k = 0; k < len; k++) {
		u32 was = plain;

		b->ctx.hand.len = k;
		agree(self, &plain, &other);
		if (!k)
			EXPECT_EQ(was, plain);
	}
	EXPECT_LT(100, plain);
	b->ctx.hand.len = len;
	b_cut(b, B_BASE);
	begin(self);
}

/* A CIE is learned from the first FDE that can be used, not from the first one. */
TEST_F(program, plain_behind_a_bad_fde)
{
	struct b *b = &self->b;
	struct ehf_plain_row row[4];
	struct ehf_pass pass;
	enum ehf_stop stop;
	u32 nr = 0;

	b_close(b);
	b_cut(b, self->fde);
	b_fde(b, self->cie, START, 0xffffffff);
	b_close(b);
	for (u32 k = 1; k < 4; k++) {
		b_fde(b, self->cie, START + 0x100 * k, 0x10);
		b_put(b, 0x44, DW_CFA_def_cfa_offset, 16);
		b_close(b);
	}
	b_end(b);
	b_memory(b, B_HAND);
	ehf_pass_start(&pass, &b->ctx, &b->s);
	ASSERT_TRUE(ehf_pass_next(&pass, &stop));
	EXPECT_EQ(EHF_STOP_FDE_RANGE, stop);
	for (; ehf_pass_next(&pass, &stop); nr++) {
		ASSERT_EQ(EHF_STOP_NONE, stop);
		ASSERT_EQ(2, ehf_pass_rows(&pass, row, 4));
		EXPECT_FALSE((row[0].row.word | row[1].row.word) & EHF_PLAIN_STOP);
	}
	EXPECT_EQ(3, nr);
	b_cut(b, B_BASE);
	begin(self);
}

TEST_HARNESS_MAIN
