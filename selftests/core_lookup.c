// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/lookup.c: headers of every encoding, and lookups at every address around every boundary,
 * by table and by scan.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "ehframe/lookup.h"

FIXTURE(lookup)
{
	struct b b;
	struct ehf_fde fde;
	struct ehf_found found;
};

FIXTURE_VARIANT(lookup)
{
	enum b_kind kind;
	u8 enc;		/* of the table */
	bool big;
	u8 addr_size;
};

FIXTURE_VARIANT_ADD(lookup, copy_datarel_sdata4) { B_COPY, 0x3b, false, 8 };
FIXTURE_VARIANT_ADD(lookup, copy_datarel_sdata8_be) { B_COPY, 0x3c, true, 8 };
FIXTURE_VARIANT_ADD(lookup, copy_datarel_sdata4_32) { B_COPY, 0x3b, false, 4 };
FIXTURE_VARIANT_ADD(lookup, copy_datarel_udata4_32) { B_COPY, 0x33, false, 4 };
FIXTURE_VARIANT_ADD(lookup, copy_datarel_sdata2) { B_COPY, 0x3a, false, 8 };
FIXTURE_VARIANT_ADD(lookup, copy_absptr) { B_COPY, 0x00, false, 8 };
FIXTURE_VARIANT_ADD(lookup, copy_absptr_32_be) { B_COPY, 0x00, true, 4 };
FIXTURE_VARIANT_ADD(lookup, copy_udata4) { B_COPY, 0x03, false, 8 };
FIXTURE_VARIANT_ADD(lookup, copy_pcrel_sdata4) { B_COPY, 0x1b, false, 8 };
FIXTURE_VARIANT_ADD(lookup, direct_pcrel_sdata2_be) { B_DIRECT, 0x1a, true, 8 };
FIXTURE_VARIANT_ADD(lookup, direct_datarel_sdata4) { B_DIRECT, 0x3b, false, 8 };
FIXTURE_VARIANT_ADD(lookup, direct_datarel_sdata4_be) { B_DIRECT, 0x3b, true, 8 };
FIXTURE_VARIANT_ADD(lookup, hand_datarel_sdata4) { B_HAND, 0x3b, false, 8 };
FIXTURE_VARIANT_ADD(lookup, hand_sdata8) { B_HAND, 0x0c, false, 8 };
FIXTURE_VARIANT_ADD(lookup, crumbs_datarel_sdata4) { B_CRUMBS, 0x3b, false, 8 };
FIXTURE_VARIANT_ADD(lookup, bytes_datarel_sdata4) { B_BYTES, 0x3b, true, 8 };
FIXTURE_VARIANT_ADD(lookup, memo_datarel_sdata4) { B_MEMO, 0x3b, false, 8 };
/* No table that can be searched: the same answers by a scan. */
FIXTURE_VARIANT_ADD(lookup, copy_omit) { B_COPY, 0xff, false, 8 };
FIXTURE_VARIANT_ADD(lookup, copy_uleb) { B_COPY, 0x01, false, 8 };
FIXTURE_VARIANT_ADD(lookup, direct_omit_32) { B_DIRECT, 0xff, true, 4 };
FIXTURE_VARIANT_ADD(lookup, hand_indirect) { B_HAND, 0xbb, false, 8 };
FIXTURE_VARIANT_ADD(lookup, memo_textrel) { B_MEMO, 0x2b, false, 8 };

/* Where the code is said to be: near enough for two-byte distances. */
#define TEXT	(B_BASE + 0x4000)

static bool by_table(const FIXTURE_VARIANT(lookup) *variant)
{
	return variant->enc != 0xff && variant->enc != 0x01 && variant->enc != 0xbb &&
	       variant->enc != 0x2b;
}

static u64 setup(FIXTURE_DATA(lookup) *self, const FIXTURE_VARIANT(lookup) *variant)
{
	struct b *b = &self->b;
	u64 cie;

	b_init(b, &ehu_arch_x86_64.abi);
	b->abi.big_endian = variant->big;
	b->abi.addr_size = variant->addr_size;
	cie = b_cie(b, &b_zr);
	b_put(b, 0x0c, 7, 8);
	b_close(b);
	return cie;
}

FIXTURE_TEARDOWN(lookup)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

static void fde(struct b *b, u64 cie, u64 start, u64 range)
{
	b_fde(b, cie, start, range);
	b_close(b);
}

/* Ends the section, adds the header and reads it. */
static enum ehf_stop finish(FIXTURE_DATA(lookup) *self, const FIXTURE_VARIANT(lookup) *variant)
{
	b_end(&self->b);
	b_hdr(&self->b, 0x1b, 0x03, variant->enc);
	b_memory(&self->b, variant->kind);
	return ehf_section_init(&self->b.ctx, &self->b.s);
}

static enum ehf_stop find(FIXTURE_DATA(lookup) *self, u64 pc)
{
	return ehf_fde_find(&self->b.ctx, &self->b.s, pc, &self->fde, &self->found);
}

/* Every number of FDEs, with a gap behind each (R6): every address around them. */
TEST_F(lookup, every_boundary)
{
	for (u32 nr = 0; nr <= 20; nr++) {
		u64 cie = setup(self, variant);

		for (u32 k = 0; k < nr; k++)
			fde(&self->b, cie, TEXT + 16 * k, 11 + k % 2 * 5);
		ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
		EXPECT_EQ(by_table(variant) ? nr : 0, self->b.s.nr_fdes);
		memset(&self->fde, 0, sizeof(self->fde));
		for (u64 pc = TEXT - 2; pc < TEXT + 16 * nr + 2; pc++) {
			u32 k = (u32)((pc - TEXT) / 16);
			bool in = pc >= TEXT && k < nr && (pc - TEXT) % 16 < 11 + k % 2 * 5;

			ASSERT_EQ(in ? EHF_STOP_NONE : EHF_STOP_NO_FDE, find(self, pc)) {
				TH_LOG("%u FDEs, pc TEXT + 0x%x", nr, (int)(pc - TEXT));
			}
			EXPECT_EQ(by_table(variant) && nr, self->found.by_table);
			if (in)
				ASSERT_EQ(TEXT + 16 * k, self->fde.start);
			if (in && by_table(variant))
				ASSERT_EQ(k, self->found.index);
		}
	}
}

/* R18: empty ranges, alone and before or behind a real one with the same start. */
TEST_F(lookup, empty_ranges)
{
	static const struct { u8 start, range; } f[] = {
		{ 0x10, 0x10 }, { 0x20, 0x10 }, { 0x40, 0 }, { 0x50, 0 }, { 0x50, 0x10 },
		{ 0x60, 0x10 }, { 0x60, 0 }, { 0x60, 0 }, { 0x80, 1 }, { 0x90, 0 },
	};
	u64 cie = setup(self, variant);

	for (u32 k = 0; k < EHF_ARRAY_SIZE(f); k++)
		fde(&self->b, cie, TEXT + f[k].start, f[k].range);
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	memset(&self->fde, 0, sizeof(self->fde));
	for (u64 pc = TEXT; pc < TEXT + 0xa0; pc++) {
		u64 want = 0;

		for (u32 k = 0; k < EHF_ARRAY_SIZE(f); k++)
			if (pc >= TEXT + f[k].start && pc < TEXT + f[k].start + f[k].range)
				want = TEXT + f[k].start;
		ASSERT_EQ(want ? EHF_STOP_NONE : EHF_STOP_NO_FDE, find(self, pc)) {
			TH_LOG("pc TEXT + 0x%x", (int)(pc - TEXT));
		}
		if (want)
			EXPECT_EQ(want, self->fde.start);
	}
}

TEST_F(lookup, many_empty_ranges)
{
	for (u32 nr = EHF_MAX_EQUAL - 2; nr <= EHF_MAX_EQUAL + 1; nr++) {
		bool over = by_table(variant) && nr >= EHF_MAX_EQUAL;
		u64 cie = setup(self, variant);

		fde(&self->b, cie, TEXT, 0x10);
		for (u32 k = 0; k < nr; k++)
			fde(&self->b, cie, TEXT, 0);
		ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
		memset(&self->fde, 0, sizeof(self->fde));
		EXPECT_EQ(over ? EHF_STOP_LIMIT_SCAN : EHF_STOP_NONE, find(self, TEXT + 5)) {
			TH_LOG("%u empty ones", nr);
		}
	}
}

/* A table decides: what it misses is not found, and the section is not scanned for it. */
TEST_F(lookup, misses_are_final)
{
	u64 cie = setup(self, variant);
	u64 reads;

	fde(&self->b, cie, TEXT, 0x10);
	fde(&self->b, cie, TEXT + 0x100, 0x10);
	self->b.nr_fdes = 1;
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	memset(&self->fde, 0, sizeof(self->fde));
	reads = self->b.reads;
	EXPECT_EQ(by_table(variant) ? EHF_STOP_NO_FDE : EHF_STOP_NONE, find(self, TEXT + 0x100));
	if (by_table(variant) && variant->kind == B_COPY)
		EXPECT_LE(self->b.reads - reads, 4);
	/* And it alone: the scan needs the section's true end. */
	self->b.s.scan = false;
	EXPECT_EQ(by_table(variant) ? EHF_STOP_NONE : EHF_STOP_NO_FDE, find(self, TEXT));
}

TEST_F(lookup, text_range)
{
	u64 cie = setup(self, variant);

	fde(&self->b, cie, TEXT, 0x10);
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	memset(&self->fde, 0, sizeof(self->fde));
	self->b.s.text_start = TEXT + 4;
	self->b.s.text_end = TEXT + 8;
	for (u64 pc = TEXT - 1; pc <= TEXT + 0x10; pc++) {
		bool in = pc >= TEXT + 4 && pc < TEXT + 8;

		b_memory(&self->b, variant->kind);
		EXPECT_EQ(in ? EHF_STOP_NONE : EHF_STOP_NO_FDE, find(self, pc));
		if (!in)
			EXPECT_EQ(0, self->b.reads);
	}
}

/* Where an entry of the table stands. */
static u32 entry_at(const struct b *b, u32 k)
{
	return (u32)(b->s.table + k * b->s.entry_size - b->base);
}

TEST_F(lookup, table_and_fde_disagree)
{
	struct b *b = &self->b;
	u64 cie = setup(self, variant);
	u32 half, len;

	if (!by_table(variant))
		return;		/* nothing to disagree with */
	fde(b, cie, TEXT, 0x10);
	fde(b, cie, TEXT + 0x10, 0x10);
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	half = b->s.entry_size / 2;
	memset(&self->fde, 0, sizeof(self->fde));
	ASSERT_EQ(EHF_STOP_NONE, find(self, TEXT + 0x15));
	len = b->len;

	b->len = entry_at(b, 1);		/* says it starts earlier than it does */
	b_ptr(b, variant->enc, TEXT + 0xf, b->s.hdr);
	b->len = len;
	EXPECT_EQ(EHF_STOP_TABLE_MISMATCH, find(self, TEXT + 0x15));
	EXPECT_EQ(EHF_STOP_TABLE_MISMATCH, find(self, TEXT + 0xf));
	EXPECT_EQ(EHF_STOP_NONE, find(self, TEXT + 0xe));

	b->len = entry_at(b, 1) + half;		/* names the CIE */
	b_ptr(b, variant->enc, cie, b->s.hdr);
	b->len = len;
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, find(self, TEXT + 0xf));

	b->len = entry_at(b, 1) + half;		/* leads out of the section */
	b_ptr(b, variant->enc, B_BASE - 8, b->s.hdr);
	b->len = len;
	EXPECT_EQ(EHF_STOP_BAD_TABLE, find(self, TEXT + 0xf));
	b->len = entry_at(b, 1) + half;
	b_ptr(b, variant->enc, b->s.eh_frame_end, b->s.hdr);
	b->len = len;
	EXPECT_EQ(EHF_STOP_BAD_TABLE, find(self, TEXT + 0xf));
	EXPECT_EQ(EHF_STOP_NONE, find(self, TEXT + 0xe)) TH_LOG("others are unaffected");
}

/* A table that is not sorted gives no answer or the right one, never a wrong one. */
TEST_F(lookup, unsorted_table)
{
	u64 cie = setup(self, variant);

	for (u32 k = 0; k < 16; k++)
		fde(&self->b, cie, TEXT + 16 * (k * 7 % 16), 16);
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	memset(&self->fde, 0, sizeof(self->fde));
	for (u64 pc = TEXT; pc < TEXT + 256; pc++) {
		enum ehf_stop stop = find(self, pc);

		if (!stop)
			EXPECT_EQ(TEXT + (pc - TEXT) / 16 * 16, self->fde.start);
		else
			EXPECT_EQ(EHF_STOP_NO_FDE, stop);
		if (!by_table(variant))
			EXPECT_EQ(EHF_STOP_NONE, stop);
	}
}

TEST_F(lookup, any_read_may_fault)
{
	u64 cie = setup(self, variant);
	u32 reads;

	for (u32 k = 0; k < 20; k++)
		fde(&self->b, cie, TEXT + 16 * k, 16);
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	for (u64 pc = TEXT; pc < TEXT + 16 * 20; pc += 37) {
		b_memory(&self->b, variant->kind);
		self->b.fault_at = 0;
		memset(&self->fde, 0, sizeof(self->fde));
		ASSERT_EQ(EHF_STOP_NONE, find(self, pc));
		reads = self->b.reads;
		if (variant->kind == B_COPY)
			EXPECT_EQ(reads, self->b.cost.reads);
		for (u32 n = 1; n <= reads; n++) {
			enum ehf_stop stop;

			b_memory(&self->b, variant->kind);
			self->b.fault_at = n;
			memset(&self->fde, 0, sizeof(self->fde));
			stop = find(self, pc);
			/* The table as a whole may fail to be at hand and be read in parts. */
			if (stop || variant->kind == B_COPY || variant->kind == B_MEMO)
				EXPECT_EQ(EHF_STOP_SECTION_MEMORY, stop) TH_LOG("read %u", n);
		}
	}
}

TEST_F(lookup, header_every_prefix)
{
	u64 cie = setup(self, variant), end;
	u32 fixed;

	for (u32 k = 0; k < 5; k++)
		fde(&self->b, cie, TEXT + 16 * k, 16);
	ASSERT_EQ(EHF_STOP_NONE, finish(self, variant));
	end = self->b.s.hdr_end;
	fixed = variant->enc == 0xff ? 8 : 12;
	for (u64 cut = self->b.s.hdr; cut <= end; cut++) {
		enum ehf_stop want = cut - self->b.s.hdr < fixed ? EHF_STOP_BAD_HEADER :
				     cut < end && by_table(variant) ? EHF_STOP_BAD_TABLE :
				     EHF_STOP_NONE;

		self->b.s.hdr_end = cut;
		EXPECT_EQ(want, ehf_section_init(&self->b.ctx, &self->b.s)) {
			TH_LOG("%u of %u bytes", (int)(cut - self->b.s.hdr),
			       (int)(end - self->b.s.hdr));
		}
	}
}

FIXTURE(header)
{
	struct b b;
};

FIXTURE_VARIANT(header)
{
	enum b_kind kind;
	bool big;
};

FIXTURE_VARIANT_ADD(header, copy_le) { B_COPY, false };
FIXTURE_VARIANT_ADD(header, copy_be) { B_COPY, true };
FIXTURE_VARIANT_ADD(header, direct_le) { B_DIRECT, false };
FIXTURE_VARIANT_ADD(header, hand_le) { B_HAND, false };

FIXTURE_SETUP(header)
{
	u64 cie;

	b_init(&self->b, &ehu_arch_x86_64.abi);
	self->b.abi.big_endian = variant->big;
	cie = b_cie(&self->b, &b_zr);
	b_close(&self->b);
	for (u32 k = 0; k < 3; k++)
		fde(&self->b, cie, TEXT + 16 * k, 16);
	b_end(&self->b);
}

FIXTURE_TEARDOWN(header)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

static enum ehf_stop init(FIXTURE_DATA(header) *self, const FIXTURE_VARIANT(header) *variant)
{
	b_memory(&self->b, variant->kind);
	return ehf_section_init(&self->b.ctx, &self->b.s);
}

static bool readable(u32 enc)
{
	u8 format = enc & 0xf, base = enc & 0xf0;

	return (format <= 4 || (format >= 9 && format <= 12)) &&
	       (base == 0 || base == 0x10 || base == 0x30);
}

TEST_F(header, every_frame_encoding)
{
	u32 len = self->b.len;

	for (u32 enc = 0; enc < 256; enc++) {
		bool short_abs = enc == 0x02 || enc == 0x0a;	/* cannot hold the address */
		bool behind = enc == 0x32 || enc == 0x33 || enc == 0x31 || enc == 0x34 ||
			      enc == 0x12 || enc == 0x13;	/* unsigned, and negative */
		bool ok = readable(enc) && !short_abs && !(behind && (enc & 0xf) < 4 && enc != 0x31);

		self->b.len = len;
		b_hdr(&self->b, (u8)enc, 0x03, 0x3b);
		self->b.s.eh_frame = 0;
		if (enc == 0xff)
			self->b.s.eh_frame = B_BASE;
		EXPECT_EQ(ok || enc == 0xff ? EHF_STOP_NONE : EHF_STOP_BAD_HEADER,
			  init(self, variant)) TH_LOG("encoding 0x%x", enc);
		if (ok)
			EXPECT_EQ(B_BASE, self->b.s.eh_frame);
		self->b.s.eh_frame = B_BASE + 1;
		if (enc != 0xff)
			EXPECT_EQ(EHF_STOP_BAD_HEADER, init(self, variant)) {
				TH_LOG("not where the caller has it");
			}
		self->b.s.eh_frame = B_BASE;
	}
}

TEST_F(header, every_count_encoding)
{
	u32 len = self->b.len;

	for (u32 enc = 0; enc < 256; enc++) {
		enum ehf_stop want = readable(enc) || enc == 0xff ? EHF_STOP_NONE :
								    EHF_STOP_BAD_HEADER;

		self->b.len = len;
		b_hdr(&self->b, 0x1b, (u8)enc, 0x3b);
		/* Two bytes, or no sign, for a distance back: another number, too large a one. */
		if (enc == 0x12 || enc == 0x13 || enc == 0x1a || enc == 0x32 || enc == 0x33 ||
		    enc == 0x3a)
			want = EHF_STOP_BAD_TABLE;
		EXPECT_EQ(want, init(self, variant)) TH_LOG("encoding 0x%x", enc);
		if (!want)
			EXPECT_EQ(enc == 0xff ? 0 : 3, self->b.s.nr_fdes);
	}
}

TEST_F(header, every_table_encoding)
{
	u32 len = self->b.len;

	for (u32 enc = 0; enc < 256; enc++) {
		static const u8 sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0 };
		u32 size = readable(enc) ? sizes[enc & 0xf] : 0;

		self->b.len = len;
		b_hdr(&self->b, 0x1b, 0x03, (u8)enc);
		EXPECT_EQ(EHF_STOP_NONE, init(self, variant)) TH_LOG("encoding 0x%x", enc);
		EXPECT_EQ(2 * size, self->b.s.entry_size) TH_LOG("encoding 0x%x", enc);
		EXPECT_EQ(size ? 3 : 0, self->b.s.nr_fdes);
		EXPECT_EQ(size ? self->b.s.hdr + 12 : 0, self->b.s.table);
	}
}

TEST_F(header, versions)
{
	b_hdr(&self->b, 0x1b, 0x03, 0x3b);
	for (u32 v = 0; v < 256; v++) {
		self->b.buf[self->b.s.hdr - B_BASE] = (u8)v;
		EXPECT_EQ(v == 1 ? EHF_STOP_NONE : EHF_STOP_BAD_HEADER, init(self, variant));
	}
}

TEST_F(header, counts)
{
	static const u64 counts[] = { 0, 1, 2, 3, 4, 0x7fffffff, 0xffffffff };
	u32 at;

	b_hdr(&self->b, 0x1b, 0x03, 0x3b);
	at = (u32)(self->b.s.hdr - B_BASE) + 8;
	for (u32 k = 0; k < EHF_ARRAY_SIZE(counts); k++) {
		b_poke(&self->b, at, counts[k], 4);
		EXPECT_EQ(counts[k] > 3 ? EHF_STOP_BAD_TABLE : EHF_STOP_NONE, init(self, variant));
		EXPECT_EQ(counts[k] > 3 ? 0 : counts[k], self->b.s.nr_fdes);
	}
	self->b.len = at;
	b_cut(&self->b, self->b.s.hdr);
	b_put(&self->b, 1, 0x1b, 0x04, 0x3b);	/* no product wraps */
	b_ptr(&self->b, 0x1b, B_BASE, 0);
	b_fixed(&self->b, 1ULL << 61, 8);
	self->b.s.hdr_end = b_pos(&self->b) + 8;
	b_fixed(&self->b, 0, 8);
	EXPECT_EQ(EHF_STOP_BAD_TABLE, init(self, variant));
}

TEST_F(header, sections_that_cannot_be)
{
	struct ehf_section *s = &self->b.s;
	u64 end = s->eh_frame_end;

	EXPECT_EQ(EHF_STOP_NONE, init(self, variant)) TH_LOG("without a header");
	EXPECT_EQ(0, self->b.reads);
	s->eh_frame_end = s->eh_frame;
	EXPECT_EQ(EHF_STOP_BAD_HEADER, init(self, variant));
	s->eh_frame = 0;
	EXPECT_EQ(EHF_STOP_BAD_HEADER, init(self, variant));
	s->eh_frame = B_BASE;
	b_hdr(&self->b, 0x1b, 0x03, 0x3b);
	s->eh_frame = 0;
	s->eh_frame_end = B_BASE;
	EXPECT_EQ(EHF_STOP_BAD_HEADER, init(self, variant));
	s->eh_frame = 0;
	s->eh_frame_end = end;
	EXPECT_EQ(EHF_STOP_NONE, init(self, variant));
	s->hdr_end = s->hdr - 1;
	EXPECT_EQ(EHF_STOP_BAD_HEADER, init(self, variant));
	s->hdr = B_BASE + B_SIZE;	/* not there: a fault, not corruption */
	s->hdr_end = s->hdr + 100;
	EXPECT_EQ(EHF_STOP_SECTION_MEMORY, init(self, variant));
	b_cut(&self->b, end);
	b_hdr(&self->b, 0xff, 0x03, 0x3b);	/* nobody says where .eh_frame is */
	s->eh_frame = 0;
	EXPECT_EQ(EHF_STOP_BAD_HEADER, init(self, variant));
}

TEST_F(header, any_read_may_fault)
{
	u32 reads;

	b_hdr(&self->b, 0x1b, 0x03, 0x3b);
	ASSERT_EQ(EHF_STOP_NONE, init(self, variant));
	reads = self->b.reads;
	for (u32 n = 1; n <= reads; n++) {
		self->b.fault_at = n;
		EXPECT_EQ(EHF_STOP_SECTION_MEMORY, init(self, variant));
	}
}

/* What is between the FDE and the front of the section does not hide it, unless it must. */
TEST_F(header, scan)
{
	struct b *b = &self->b;
	struct ehf_fde fde1 = { 0 };
	struct ehf_found found;
	u64 cie, bad, wide;
	u32 records;

	b_cut(b, b_pos(b) - 4);		/* without the terminator */
	bad = b_fde(b, B_BASE, TEXT + 0x100, 16);
	b_close(b);
	b->cie.wide = true;
	cie = b_cie(b, &(struct b_cie){ 3, "zRS", 1, -8, 16, 0x1c, 0, true });
	b_close(b);
	wide = b_fde(b, cie, TEXT + 0x200, 16);
	b_close(b);
	b_end(b);
	b_fixed(b, 0x10, 4);		/* never looked at */
	b->s.eh_frame_end = b_pos(b);
	ASSERT_EQ(EHF_STOP_NONE, init(self, variant));
	ASSERT_EQ(EHF_STOP_NONE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20f, &fde1, &found));
	EXPECT_EQ(wide, fde1.addr);
	EXPECT_EQ(EHF_CIE_SIZED | EHF_CIE_SIGNAL, fde1.cie.flags);
	EXPECT_EQ(7, found.steps);
	EXPECT_FALSE(found.by_table);
	EXPECT_EQ(EHF_STOP_NO_FDE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x210, &fde1, &found));
	records = (u32)found.steps;
	EXPECT_EQ(8, records);

	b->limits.scan_records = 7;	/* exactly what it takes */
	EXPECT_EQ(EHF_STOP_NONE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20f, &fde1, &found));
	EXPECT_EQ(EHF_STOP_LIMIT_SCAN, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x210, &fde1, &found));
	b->limits.scan_records = 6;
	EXPECT_EQ(EHF_STOP_LIMIT_SCAN, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20f, &fde1, &found));
	b->limits = ehf_limits_walk;

	/* One FDE is damaged: its own pcs are lost, no others. */
	b_poke(b, (u32)(bad - B_BASE) + 4, 0x7fffffff, 4);
	EXPECT_EQ(EHF_STOP_NO_FDE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x100, &fde1, &found));
	EXPECT_EQ(EHF_STOP_NONE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20f, &fde1, &found));
	/* Its length is damaged: nothing behind it can be found. */
	b_poke(b, (u32)(bad - B_BASE), 0xfffffff0, 4);
	EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH,
		  ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20f, &fde1, &found));
	EXPECT_EQ(EHF_STOP_NONE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20, &fde1, &found));
	/* A terminator ends the section wherever it stands. */
	b_poke(b, (u32)(bad - B_BASE), 0, 4);
	EXPECT_EQ(EHF_STOP_NO_FDE, ehf_fde_find(&b->ctx, &b->s, TEXT + 0x20f, &fde1, &found));
}

/* Each byte that cannot be read ends a scan at its record, wherever a page ends. */
TEST_F(header, scan_over_missing_bytes)
{
	struct b *b = &self->b;
	struct ehf_found found;
	u32 whole = b->len;

	ASSERT_EQ(EHF_STOP_NONE, init(self, variant));
	for (u32 len = 0; len < whole; len++) {
		struct ehf_fde fde1 = { 0 };

		b->len = len;
		EXPECT_EQ(EHF_STOP_SECTION_MEMORY,
			  variant->kind == B_HAND ? EHF_STOP_SECTION_MEMORY :
			  ehf_fde_find(&b->ctx, &b->s, TEXT + 0x100, &fde1, &found)) {
			TH_LOG("%u bytes are there", len);
		}
	}
}

/* R16 and bounded work: padding cannot make each FDE's CIE cost a record's length. */
TEST_F(header, padded_cie_in_a_scan)
{
	struct b *b = &self->b;
	struct ehf_fde fde1 = { 0 };
	struct ehf_found found;
	u64 cie, from;

	b_cut(b, B_BASE);
	b->nr_fdes = 0;
	cie = b_open(b, false);
	b_put(b, 0, 0, 0, 0, 1, 0);
	b_uleb_pad(b, 1, 3000);
	b_put(b, 0x78, 16);
	b_close(b);
	b->cie = (struct b_cie){ .aug = "" };
	for (u32 k = 0; k < 10; k++)
		fde(b, cie, TEXT + 16 * k, 16);
	b_end(b);
	ASSERT_EQ(EHF_STOP_NONE, init(self, variant));
	from = b->cost.bytes;
	EXPECT_EQ(EHF_STOP_NO_FDE, ehf_fde_find(&b->ctx, &b->s, TEXT, &fde1, &found));
	EXPECT_LE(b->cost.bytes - from, 12 * 3 * EHF_FETCH);
	EXPECT_EQ(EHF_STOP_LIMIT_LEB, ehf_fde_parse(&b->ctx, &b->s, b->fdes[0].addr, &fde1));
}

TEST_HARNESS_MAIN
