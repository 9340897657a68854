// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/program.c: programs that are cut off, memory that fails or changes, and how much work a
 * row may cost.
 */
#include "selftests/lib/program.h"

/* A program with a bit of everything. */
static void mixed(struct b *b)
{
	b_put(b, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	      DW_CFA_advance_loc1, 3, DW_CFA_def_cfa_register, 6, DW_CFA_remember_state,
	      DW_CFA_advance_loc | 8, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x58,
	      DW_OP_deref, DW_CFA_expression, 6, 2, DW_OP_breg0 + 6, 0, DW_CFA_advance_loc | 4,
	      DW_CFA_restore_state, DW_CFA_GNU_args_size, 0x90, 1, DW_CFA_register, 16, 2,
	      DW_CFA_advance_loc2, 0, 0, DW_CFA_expression, 12, 2, DW_OP_breg0 + 6, 0x70,
	      DW_CFA_advance_loc | 5, DW_CFA_undefined, 16, DW_CFA_val_offset, 7, 0,
	      DW_CFA_advance_loc | 2, DW_CFA_restore | 6, DW_CFA_def_cfa, 7, 8);
}

/* Cut anywhere, the rows before the cut stay as they were. */
TEST_F(program, every_prefix)
{
	struct ehf_row whole[ROWS];
	u32 first, len, nr;

	first = self->b.len;
	mixed(&self->b);
	rows(self);
	nr = self->nr;
	ASSERT_EQ(7, nr);
	memcpy(whole, self->row, sizeof(whole));
	len = self->b.len;
	for (u32 cut = first; cut < len; cut++) {
		struct ehf_row *last;

		self->b.len = cut;
		rows(self);
		ASSERT_GT(self->nr, 0);
		last = &self->row[self->nr - 1];
		EXPECT_TRUE(last->stop == EHF_STOP_NONE || last->stop == EHF_STOP_TRUNCATED);
		for (u32 k = 0; k + 1 < self->nr; k++)
			EXPECT_TRUE(b_row_same(&whole[k], &self->row[k]));
		EXPECT_EQ(START + RANGE, last->end);
		self->b.len = first;
		mixed(&self->b);
	}
}

/* The n-th read fails: rows before are as they were, then one says so. */
TEST_F(program, any_read_may_fault)
{
	struct b *b = &self->b;
	struct ehf_row row;
	u32 reads;

	mixed(b);
	while (b->len < 1000)		/* so that there is more than one fetch */
		b_u8(b, DW_CFA_nop);
	rows(self);
	for (u32 kind = B_COPY; kind <= B_BYTES; kind++) {
		for (u64 pc = START; pc < START + RANGE; pc++) {
			u32 n = 0;

			do {
				enum ehf_stop stop;

				b_memory(b, kind);
				b->fault_at = n;
				stop = ehf_row_find(&b->ctx, &b->s, pc, &row);
				if (!n)
					reads = b->reads;
				if (!n)
					EXPECT_EQ(EHF_STOP_NONE, stop);
				else
					ASSERT_EQ(EHF_STOP_SECTION_MEMORY, stop) {
						TH_LOG("memory %u, read %u", kind, n);
					}
			} while (++n <= reads);
		}
	}
	for (u32 n = 1; n <= reads; n++) {
		struct ehf_program p;
		struct ehf_fde fde;
		u32 k = 0;

		b_memory(b, B_COPY);
		b->fault_at = n;
		if (ehf_fde_parse(&b->ctx, &b->s, self->fde, &fde))
			continue;
		ehf_program_start(&p, &b->ctx, &fde);
		for (; ehf_program_next(&p, &row) && !row.stop; k++)
			EXPECT_TRUE(b_row_same(&self->row[k], &row));
		EXPECT_TRUE(!row.stop || row.stop == EHF_STOP_SECTION_MEMORY);
		EXPECT_EQ(START + RANGE, row.end);
	}
	b->fault_at = 0;
}

/*
 * R14: no byte decides twice. Memory that answers differently the second time may change what is
 * seen, but of the times that a byte is fetched only one may matter.
 */
TEST_F(program, each_byte_is_used_once)
{
	struct b *b = &self->b;
	struct ehf_row want, row;
	u32 used = 0;

	mixed(b);
	b_close(b);
	b_end(b);
	for (u32 table = 0; table < 2; table++) {
		u64 pc = START + 22;

		if (table) {
			b_hdr(b, 0x1b, 0x03, 0x3b);
			b_memory(b, B_COPY);
			ASSERT_EQ(EHF_STOP_NONE, ehf_section_init(&b->ctx, &b->s));
		}
		b->flip_nth = 0;
		b_memory(b, B_COPY);
		ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, pc, &want));
		for (u32 at = 0; at < b->len; at++) {
			u32 matters = 0, times;

			b->flip_nth = 0;
			b_memory(b, B_COPY);
			ehf_row_find(&b->ctx, &b->s, pc, &row);
			times = b->fetched[at];
			EXPECT_LE(times, 4) TH_LOG("byte %u", at);
			b->flip_at = at;
			for (u32 nth = 1; nth <= times; nth++) {
				enum ehf_stop stop;

				b->flip_nth = nth;
				b_memory(b, B_COPY);
				memset(&row, 0, sizeof(row));
				stop = ehf_row_find(&b->ctx, &b->s, pc, &row);
				matters += stop != EHF_STOP_NONE || !b_row_same(&want, &row);
			}
			/* A scan passes a CIE, and reads it when an FDE names it: two decisions. */
			EXPECT_LE(matters, !table && at < 4 ? 2 : 1) TH_LOG("byte %u", at);
			used += matters;
		}
		b->flip_nth = 0;
	}
	EXPECT_GT(used, 100);
}

/* Rows are walked once: work grows with the program, not with its square. */
TEST_F(program, work_is_linear)
{
	struct b *b = &self->b;
	struct ehf_program p;
	struct ehf_fde fde;
	struct ehf_row row;
	u32 nr = 0;

	self->range = 7000;
	begin(self);
	for (u32 k = 0; k < 6000; k++)
		b_put(b, DW_CFA_advance_loc | 1);
	b_close(b);
	b_end(b);
	b_memory(b, B_COPY);
	ASSERT_EQ(EHF_STOP_NONE, ehf_fde_parse(&b->ctx, &b->s, self->fde, &fde));
	ehf_program_start(&p, &b->ctx, &fde);
	while (ehf_program_next(&p, &row))
		nr++;
	EXPECT_EQ(6001, nr);
	EXPECT_EQ(6002, b->cost.insns);
	EXPECT_LE(b->reads, 6000 / EHF_FETCH + 8);
	EXPECT_LE(b->cost.bytes, 6000 + 6 * EHF_FETCH);
}

TEST_F(program, empty_range)
{
	struct ehf_program p;
	struct ehf_fde fde;
	struct ehf_row row;

	self->range = 0;
	begin(self);
	b_put(&self->b, DW_CFA_advance_loc | 1);
	b_close(&self->b);
	ASSERT_EQ(EHF_STOP_NONE, ehf_fde_parse(&self->b.ctx, &self->b.s, self->fde, &fde));
	ehf_program_start(&p, &self->b.ctx, &fde);
	EXPECT_FALSE(ehf_program_next(&p, &row));
}

/* Two FDEs of one CIE by the same memo, and one of another CIE in the same slot. */
TEST_F(program, memo)
{
	struct b *b = &self->b;
	struct ehf_row row, again;
	u64 cie2;

	b_put(b, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16);
	b_close(b);
	b_fde(b, self->cie, 0x2000, 16);
	b_close(b);
	for (u32 k = 0; k < 20; k++) {	/* some of them share a slot */
		cie2 = b_cie(b, &b_zr);
		b_put(b, DW_CFA_def_cfa, 7, (u8)(24 + k));
		b_close(b);
		b_fde(b, cie2, 0x3000 + 0x100 * k, 16);
		b_close(b);
	}
	b_end(b);
	b_hdr(b, 0x1b, 0x03, 0x3b);
	b_memory(b, B_MEMO);
	ASSERT_EQ(EHF_STOP_NONE, ehf_section_init(&b->ctx, &b->s));
	for (u32 round = 0; round < 3; round++) {
		ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, 0x1005, &row));
		EXPECT_CFA(row, EHF_CFA_REG, 7, 16);
		ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, 0x2005, &row));
		EXPECT_CFA(row, EHF_CFA_REG, 7, 8);
		for (u32 k = 0; k < 20; k++) {
			ASSERT_EQ(EHF_STOP_NONE,
				  ehf_row_find(&b->ctx, &b->s, 0x3000 + 0x100 * k, &row));
			EXPECT_CFA(row, EHF_CFA_REG, 7, 24 + k);
		}
	}
	/* Another generation: nothing that was read before counts. */
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, 0x3000 + 0x100 * 19, &again));
	ASSERT_TRUE(b_row_same(&row, &again));
	b->buf[cie2 - B_BASE + 4 + 4 + 1 + 3 + 5 + 2] = 99;
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, 0x3000 + 0x100 * 19, &again));
	EXPECT_CFA(again, EHF_CFA_REG, 7, 24 + 19);
	b->ctx.generation++;
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b->ctx, &b->s, 0x3000 + 0x100 * 19, &again));
	EXPECT_CFA(again, EHF_CFA_REG, 7, 99);
}

TEST_HARNESS_MAIN
