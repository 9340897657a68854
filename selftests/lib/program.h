/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The fixture of the tests of CFA programs: one CIE, one FDE, and all its rows read in every way.
 */
#ifndef SELFTESTS_LIB_PROGRAM_H
#define SELFTESTS_LIB_PROGRAM_H

#include "ehframe/plain.h"
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#define START	0x1000
#define RANGE	0x40
#define ROWS	(RANGE + 1)

FIXTURE(program)
{
	struct b b;
	u64 cie, fde;
	u64 range;
	struct ehf_fde parsed;
	struct ehf_row row[ROWS];
	u32 nr;
	u64 insns;
	u32 plain_rows;		/* how many are plain, up to the first that is not */
	u32 plain_found;	/* addresses whose row is */
};

FIXTURE_VARIANT(program)
{
	bool big;
};

FIXTURE_VARIANT_ADD(program, le) { false };
FIXTURE_VARIANT_ADD(program, be) { true };

static void begin_cie(FIXTURE_DATA(program) *self, const struct b_cie *o)
{
	b_cut(&self->b, B_BASE);
	self->b.nr_fdes = 0;
	self->cie = b_cie(&self->b, o);
}

static void begin_fde(FIXTURE_DATA(program) *self)
{
	b_close(&self->b);
	self->fde = b_fde(&self->b, self->cie, START, self->range);
}

/* The CIE that compilers write: CFA rsp+8, RA at CFA-8. Instructions of an FDE follow. */
static void begin(FIXTURE_DATA(program) *self)
{
	begin_cie(self, &b_zr);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	begin_fde(self);
}

FIXTURE_SETUP(program)
{
	b_init(&self->b, &ehu_arch_x86_64.abi);
	self->b.abi.big_endian = variant->big;
	self->range = RANGE;
	begin(self);
}

FIXTURE_TEARDOWN(program)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

/* All rows, in order and without gaps. */
static u32 read_rows(FIXTURE_DATA(program) *self, struct ehf_row *row, struct ehf_program *p)
{
	u64 at = START;
	u32 nr = 0;

	while (nr < ROWS && ehf_program_next(p, &row[nr])) {
		EXPECT_EQ(at, row[nr].start);
		EXPECT_LT(row[nr].start, row[nr].end);
		at = row[nr].end;
		nr++;
	}
	EXPECT_EQ(self->parsed.range_end, at);
	return nr;
}

/* Is a row of a pass what the general way has? @rest: from there on it says nothing. */
static bool pass_row_same(const struct ehf_abi *abi, const struct ehf_plain_row *is,
			  const struct ehf_row *row, bool *rest)
{
	struct ehf_plain plain;
	struct ehf_row un;

	if (is->start != row->start)
		return false;
	if (is->row.word & EHF_PLAIN_STOP) {
		*rest = true;
		return ehf_plain_stop(is->row) == EHF_STOP_NONE;
	}
	/* An RA without a rule is for the general way, and no row here has a stop. */
	ehf_plain_unpack(abi, is->row, &un);
	if (!(is->row.word & EHF_PLAIN_RA))
		return row->rule[EHF_RA].kind == EHF_RULE_UNSPEC;
	if ((is->row.word & EHF_PLAIN_RA) == EHF_PLAIN_RA_UNDEF)
		return row->flags & EHF_ROW_OUTERMOST && un.flags & EHF_ROW_OUTERMOST;
	return !row->stop && ehf_plain_pack(abi, row, &plain) && plain.word == is->row.word &&
	       ehf_plain_pack(abi, &un, &plain) && plain.word == is->row.word;
}

/* All rows on the short way, given @max at a time: as many as are plain, and the same. */
static void pass_rows(FIXTURE_DATA(program) *self, u32 max)
{
	struct b *b = &self->b;
	struct ehf_plain_row row[ROWS];
	struct ehf_pass pass;
	enum ehf_stop stop;
	bool rest = false;
	u32 at = 0, nr;

	ehf_pass_start(&pass, &b->ctx, &b->s);
	ASSERT_TRUE(ehf_pass_next(&pass, &stop));
	while (pass.rec.addr != self->fde)
		ASSERT_TRUE(ehf_pass_next(&pass, &stop));
	ASSERT_EQ(EHF_STOP_NONE, stop);
	EXPECT_EQ(self->parsed.start, pass.fde.start);
	EXPECT_EQ(self->parsed.range_end, pass.fde.range_end);
	EXPECT_EQ(self->parsed.insns, pass.fde.insns);
	EXPECT_EQ(self->parsed.end, pass.fde.end);
	while ((nr = ehf_pass_rows(&pass, row, max)) != 0) {
		ASSERT_LE(nr, max);
		for (u32 k = 0; k < nr; k++, at++) {
			ASSERT_FALSE(rest);
			ASSERT_LT(at, self->nr);
			EXPECT_TRUE(pass_row_same(&b->abi, &row[k], &self->row[at], &rest)) {
				TH_LOG("row %u of the pass", at);
			}
		}
	}
	if (!rest)
		EXPECT_EQ(self->nr, at);
	self->plain_rows = at - rest;
	EXPECT_EQ(0, ehf_pass_rows(&pass, row, max));
}

/* Lookups on the short way: what they find is the same; what they do not is for the general one. */
static void plain_lookups(FIXTURE_DATA(program) *self)
{
	struct b *b = &self->b;
	struct ehf_plain_cie cie[2] = { { 0 }, { 0 } };
	struct ehf_ctx ctx = b->ctx;
	struct ehf_section s = b->s;
	const u32 field[2] = { START - B_BASE, (u32)self->fde - B_BASE };
	struct ehf_plain plain, want;
	u8 bytes[8] = { 0 };
	struct ehf_hand table = { .p = bytes, .start = 0x10, .len = 8 };

	for (u32 k = 0; k < 8; k++)
		bytes[k] = (u8)(field[k / 4] >> 8 * (b->abi.big_endian ? 3 - k % 4 : k % 4));
	s.hdr = B_BASE;
	s.table = 0x10;
	s.nr_fdes = 1;
	s.entry_size = 8;
	s.table_enc = DW_EH_PE_datarel | DW_EH_PE_sdata4;
	ctx.plain = cie;
	ctx.nr_plain = 2;
	ctx.generation = 5;
	for (u32 k = 0; k < self->nr; k++) {
		const struct ehf_row *row = &self->row[k];

		for (u64 pc = row->start; pc < row->end; pc++) {
			if (!ehf_plain_find(&ctx, &s, &table, pc, &plain))
				continue;
			self->plain_found++;
			ASSERT_TRUE(!row->stop && ehf_plain_pack(&b->abi, row, &want) &&
				    plain.word == want.word) {
				TH_LOG("pc 0x%x", (int)pc);
			}
		}
	}
	EXPECT_FALSE(ehf_plain_find(&ctx, &s, &table, self->parsed.range_end, &plain));
	EXPECT_FALSE(ehf_plain_find(&ctx, &s, &table, START - 1, &plain));
}

/*
 * Ends the FDE and reads its rows: from every kind of memory, one by one and by lookups at every
 * pc. All have to be the same.
 */
static void rows(FIXTURE_DATA(program) *self)
{
	struct b *b = &self->b;
	u32 len;

	b_close(b);
	len = b->len;
	b_end(b);
	for (u32 kind = 0; kind < B_NR_KINDS; kind++) {
		struct ehf_row row[ROWS], one;
		struct ehf_program p;
		u32 nr;

		b_memory(b, kind);
		memset(&self->parsed, 0xee, sizeof(self->parsed));
		ASSERT_EQ(EHF_STOP_NONE,
			  ehf_fde_parse(&b->ctx, &b->s, self->fde, &self->parsed));
		b->cost.insns = 0;
		memset(&p, 0xee, sizeof(p));
		ehf_program_start(&p, &b->ctx, &self->parsed);
		nr = read_rows(self, kind ? row : self->row, &p);
		if (!kind) {
			self->nr = nr;
			self->insns = b->cost.insns;
			EXPECT_FALSE(ehf_program_next(&p, &one));
		} else {
			ASSERT_EQ(self->nr, nr);
			for (u32 k = 0; k < nr; k++)
				EXPECT_TRUE(b_row_same(&self->row[k], &row[k])) {
					TH_LOG("memory %u, row %u", kind, k);
				}
		}
		ehf_program_restart(&p, &self->parsed);
		ASSERT_EQ(self->nr, read_rows(self, row, &p));
		for (u32 k = 0; k < nr; k++) {
			EXPECT_TRUE(b_row_same(&self->row[k], &row[k]));
			for (u64 pc = row[k].start; pc < row[k].end; pc++) {
				ehf_row_eval(&b->ctx, &self->parsed, pc, &one);
				/* A row's end may come in sight earlier or later. */
				ASSERT_TRUE(b_row_same(&row[k], &one)) {
					TH_LOG("memory %u, pc 0x%x", kind, (int)pc);
				}
				EXPECT_EQ(one.stop, ehf_row_find(&b->ctx, &b->s, pc, &one));
				EXPECT_TRUE(b_row_same(&row[k], &one));
			}
		}
	}
	b_memory(b, B_HAND);
	self->plain_found = 0;
	pass_rows(self, 1);
	pass_rows(self, 3);
	pass_rows(self, ROWS);
	plain_lookups(self);
	b->len = len;
	b_memory(b, B_COPY);
}

#define EXPECT_CFA(row_, kind_, reg_, off_)                                     \
	do {                                                                    \
		EXPECT_EQ(kind_, (row_).cfa.kind);                              \
		EXPECT_EQ(reg_, (row_).cfa.reg);                                \
		EXPECT_EQ(off_, (row_).cfa.off);                                \
	} while (0)

#define EXPECT_RULE(row_, which_, kind_, reg_, off_)                            \
	do {                                                                    \
		EXPECT_EQ(kind_, (row_).rule[which_].kind);                     \
		EXPECT_EQ(reg_, (row_).rule[which_].reg);                       \
		EXPECT_EQ(off_, (row_).rule[which_].off);                       \
	} while (0)

#endif /* SELFTESTS_LIB_PROGRAM_H */
