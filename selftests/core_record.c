// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/record.c: CIE and FDE of every version, augmentation and size; what is wrong with them
 * has a name and stays where it is.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "ehframe/record.h"

FIXTURE(record)
{
	struct b b;
	struct ehf_cie cie;
	struct ehf_fde fde;
	struct ehf_record rec;
};

FIXTURE_VARIANT(record)
{
	enum b_kind kind;
	bool big;
	u8 addr_size;
	bool wide;
};

FIXTURE_VARIANT_ADD(record, copy_le64) { B_COPY, false, 8, false };
FIXTURE_VARIANT_ADD(record, copy_be64_wide) { B_COPY, true, 8, true };
FIXTURE_VARIANT_ADD(record, copy_le32) { B_COPY, false, 4, false };
FIXTURE_VARIANT_ADD(record, direct_be32) { B_DIRECT, true, 4, false };
FIXTURE_VARIANT_ADD(record, direct_le64_wide) { B_DIRECT, false, 8, true };
FIXTURE_VARIANT_ADD(record, crumbs_le32_wide) { B_CRUMBS, false, 4, true };
FIXTURE_VARIANT_ADD(record, bytes_be64) { B_BYTES, true, 8, false };

FIXTURE_SETUP(record)
{
	b_init(&self->b, &ehu_arch_x86_64.abi);
	self->b.abi.big_endian = variant->big;
	self->b.abi.addr_size = variant->addr_size;
	b_memory(&self->b, variant->kind);
	self->b.one_page = true;
}

FIXTURE_TEARDOWN(record)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

static enum ehf_stop parse_cie(FIXTURE_DATA(record) *self, u64 addr)
{
	memset(&self->cie, 0xee, sizeof(self->cie));
	return ehf_cie_parse(&self->b.ctx, &self->b.s, addr, &self->cie);
}

static enum ehf_stop parse_fde(FIXTURE_DATA(record) *self, u64 addr)
{
	memset(&self->fde, 0xee, sizeof(self->fde));
	return ehf_fde_parse(&self->b.ctx, &self->b.s, addr, &self->fde);
}

/* A CIE of this augmentation with 3 bytes of instructions, alone in the section. */
static u64 build_cie(struct b *b, const char *aug, u8 version, bool wide)
{
	struct b_cie o = { .version = version, .aug = aug, .code_align = 4, .data_align = -8,
			   .ra = 30, .fde_enc = 0x1b, .pers_enc = 0x9b, .wide = wide };
	u64 addr;

	b_cut(b, B_BASE);
	b_put(b, 0xee, 0xee, 0xee);	/* records need no alignment */
	b->s.eh_frame = b_pos(b);
	addr = b_cie(b, &o);
	b_put(b, 0x0c, 7, 8);
	b_close(b);
	b->s.eh_frame_end = b_pos(b);
	return addr;
}

static const struct {
	const char *aug;
	u8 flags;
	u8 fde_enc;
	enum ehf_stop stop;
} augs[] = {
	{ "", 0, 0, EHF_STOP_NONE },
	{ "eh", 0, 0, EHF_STOP_NONE },
	{ "z", EHF_CIE_SIZED, 0, EHF_STOP_NONE },
	{ "zR", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	{ "zPLR", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	{ "zRLP", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	{ "zLR", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	{ "zP", EHF_CIE_SIZED, 0, EHF_STOP_NONE },
	{ "zRS", EHF_CIE_SIZED | EHF_CIE_SIGNAL, 0x1b, EHF_STOP_NONE },
	{ "zSPLR", EHF_CIE_SIZED | EHF_CIE_SIGNAL, 0x1b, EHF_STOP_NONE },
	{ "zRB", EHF_CIE_SIZED | EHF_CIE_B_KEY, 0x1b, EHF_STOP_NONE },
	{ "zBGR", EHF_CIE_SIZED | EHF_CIE_B_KEY, 0x1b, EHF_STOP_NONE },
	{ "zRG", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	/* An unknown letter's data ('?' has 3 bytes) is passed over by the length. */
	{ "zR?", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	{ "z?", EHF_CIE_SIZED, 0, EHF_STOP_NONE },
	{ "zR?S", EHF_CIE_SIZED | EHF_CIE_SIGNAL, 0x1b, EHF_STOP_NONE },
	{ "zR?LP", EHF_CIE_SIZED, 0x1b, EHF_STOP_NONE },
	/* But what 'R' says behind one cannot be found. */
	{ "z?R", EHF_CIE_SIZED, 0, EHF_STOP_AUGMENTATION },
	/* Without 'z' nothing says where the data ends. */
	{ "R", 0, 0, EHF_STOP_AUGMENTATION },
	{ "S", 0, 0, EHF_STOP_AUGMENTATION },
	{ "e", 0, 0, EHF_STOP_AUGMENTATION },
	{ "ehz", 0, 0, EHF_STOP_AUGMENTATION },
	{ "xz", 0, 0, EHF_STOP_AUGMENTATION },
	{ "zRSSSSSSSSSSSSSS", EHF_CIE_SIZED | EHF_CIE_SIGNAL, 0x1b, EHF_STOP_NONE },
	{ "zRSSSSSSSSSSSSSSS", 0, 0, EHF_STOP_AUGMENTATION },
};

TEST_F(record, cie_augmentations_and_versions)
{
	static const u8 versions[] = { 1, 3, 4 };

	for (u32 k = 0; k < 3 * EHF_ARRAY_SIZE(augs); k++) {
		u32 n = k / 3;
		u64 addr = build_cie(&self->b, augs[n].aug, versions[k % 3], variant->wide);

		ASSERT_EQ(augs[n].stop, parse_cie(self, addr)) TH_LOG("\"%s\"", augs[n].aug);
		if (augs[n].stop)
			continue;
		EXPECT_EQ(addr, self->cie.addr);
		EXPECT_EQ(b_pos(&self->b), self->cie.end);
		EXPECT_EQ(b_pos(&self->b) - 3, self->cie.insns) TH_LOG("\"%s\"", augs[n].aug);
		EXPECT_EQ(4, self->cie.code_align);
		EXPECT_EQ(-8, self->cie.data_align);
		EXPECT_EQ(30, self->cie.ra_reg);
		EXPECT_EQ(versions[k % 3], self->cie.version);
		EXPECT_EQ(augs[n].flags, self->cie.flags) TH_LOG("\"%s\"", augs[n].aug);
		EXPECT_EQ(augs[n].fde_enc, self->cie.fde_enc) TH_LOG("\"%s\"", augs[n].aug);
	}
}

TEST_F(record, every_personality_encoding)
{
	for (u32 enc = 0; enc < 256; enc++) {
		struct b_cie o = b_zr;
		u8 format = enc & 0xf;
		bool known = format <= 4 || (format >= 9 && format <= 12) || enc == 0xff;
		u64 addr;

		o.aug = "zPR";
		o.pers_enc = (u8)enc;
		o.wide = variant->wide;
		b_cut(&self->b, B_BASE);
		b_put(&self->b, 0xee);
		self->b.s.eh_frame = b_pos(&self->b);
		addr = b_cie(&self->b, &o);
		b_put(&self->b, 0x0c, 7, 8);
		b_close(&self->b);
		EXPECT_EQ(known ? EHF_STOP_NONE : EHF_STOP_AUGMENTATION, parse_cie(self, addr)) {
			TH_LOG("encoding 0x%x", enc);
		}
		if (!known)
			continue;
		EXPECT_EQ(0x1b, self->cie.fde_enc) TH_LOG("encoding 0x%x", enc);
		EXPECT_EQ(b_pos(&self->b) - 3, self->cie.insns);
	}
}

TEST_F(record, cie_versions_refused)
{
	for (u32 v = 0; v < 256; v++) {
		u64 addr = build_cie(&self->b, "zR", (u8)v, variant->wide);
		bool ok = v == 1 || v == 3 || v == 4;

		EXPECT_EQ(ok ? EHF_STOP_NONE : EHF_STOP_CIE_VERSION, parse_cie(self, addr));
	}
}

TEST_F(record, version_4_sizes)
{
	for (u32 k = 0; k < 256; k++) {
		u64 addr = build_cie(&self->b, "zR", 4, variant->wide);
		u32 at = (u32)(addr - B_BASE) + (variant->wide ? 20 : 8) + 4;
		bool ok = k == variant->addr_size;

		self->b.buf[at] = (u8)k;
		EXPECT_EQ(ok ? EHF_STOP_NONE : EHF_STOP_ADDRESS_SIZE, parse_cie(self, addr)) {
			TH_LOG("address size %u", k);
		}
		self->b.buf[at] = variant->addr_size;
		self->b.buf[at + 1] = (u8)k;
		EXPECT_EQ(k ? EHF_STOP_ADDRESS_SIZE : EHF_STOP_NONE, parse_cie(self, addr));
	}
}

TEST_F(record, cie_numbers)
{
	static const u64 ras[] = { 0, 16, 255, 300, 65534, 65535, 65536, (1ULL << 32) + 16, ~0ULL };
	struct b_cie o = b_zr;
	u64 addr;

	o.wide = variant->wide;
	o.version = 3;
	for (u32 k = 0; k < EHF_ARRAY_SIZE(ras); k++) {
		b_cut(&self->b, B_BASE);
		o.ra = ras[k];
		o.code_align = ~0ULL;
		o.data_align = k & 1 ? INT64_MIN : INT64_MAX;
		addr = b_cie(&self->b, &o);
		b_close(&self->b);
		ASSERT_EQ(EHF_STOP_NONE, parse_cie(self, addr));
		EXPECT_EQ(ras[k] < 65535 ? ras[k] : EHF_REG_OTHER, self->cie.ra_reg);
		EXPECT_EQ(o.code_align, self->cie.code_align);
		EXPECT_EQ(o.data_align, self->cie.data_align);
	}
	for (u32 k = 0; k < 2; k++) {
		b_cut(&self->b, B_BASE);
		o.code_align = k;
		o.data_align = 1 - (s64)k;
		addr = b_cie(&self->b, &o);
		b_close(&self->b);
		EXPECT_EQ(EHF_STOP_BAD_CIE, parse_cie(self, addr)) TH_LOG("a factor of 0");
	}
}

/* A length that is too long for a CIE's augmentation data is the CIE's fault. */
TEST_F(record, cie_data_past_its_end)
{
	u64 addr = build_cie(&self->b, "zR", 1, variant->wide);
	u32 at = (u32)(addr - B_BASE) + (variant->wide ? 20 : 8) + 7;

	EXPECT_EQ(1, self->b.buf[at]);
	self->b.buf[at] = 5;
	EXPECT_EQ(EHF_STOP_BAD_CIE, parse_cie(self, addr));
	self->b.buf[at] = 0;	/* and 'R' has no byte */
	EXPECT_EQ(EHF_STOP_BAD_CIE, parse_cie(self, addr));
	self->b.buf[at] = 4;	/* exactly all that is left */
	EXPECT_EQ(EHF_STOP_NONE, parse_cie(self, addr));
	EXPECT_EQ(self->cie.end, self->cie.insns);
}

static void set_length(struct b *b, u64 addr, u64 len, bool wide)
{
	b_poke(b, (u32)(addr - B_BASE) + (wide ? 4 : 0), len, wide ? 8 : 4);
}

/* Every length too short for the fields, in a section that goes on. */
TEST_F(record, cie_cut_by_its_length)
{
	static const char *const some[] = { "", "eh", "zR", "zPLR" };
	u32 id = variant->wide ? 8 : 4;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(some); k++) {
		u64 addr = build_cie(&self->b, some[k], 4, variant->wide);
		u64 body = addr + (variant->wide ? 12 : 4);
		u32 whole = (u32)(b_pos(&self->b) - 3 - body);

		for (u32 len = 1; len <= whole; len++) {
			enum ehf_stop want = len < id ? EHF_STOP_BAD_RECORD_LENGTH :
					     len < whole ? EHF_STOP_BAD_CIE : EHF_STOP_NONE;

			set_length(&self->b, addr, len, variant->wide);
			EXPECT_EQ(want, parse_cie(self, addr)) TH_LOG("\"%s\", %u", some[k], len);
		}
	}
}

/* The section ends anywhere: what is left of the record is never used. */
TEST_F(record, every_prefix)
{
	u64 cie = build_cie(&self->b, "zPLR", 1, variant->wide);
	u64 fde = b_fde(&self->b, cie, 0x1000, 0x20);

	b_put(&self->b, 1, 2, 3);
	b_close(&self->b);
	for (u64 end = cie; end <= b_pos(&self->b); end++) {
		self->b.s.eh_frame_end = end;
		EXPECT_EQ(end < fde ? EHF_STOP_BAD_RECORD_LENGTH : EHF_STOP_NONE,
			  parse_cie(self, cie));
		EXPECT_EQ(end < b_pos(&self->b) ? EHF_STOP_BAD_RECORD_LENGTH : EHF_STOP_NONE,
			  parse_fde(self, fde));
	}
}

TEST_F(record, lengths)
{
	u64 addr = build_cie(&self->b, "zR", 1, variant->wide);
	u64 fde = b_fde(&self->b, addr, 0x1000, 0x20);
	static const u64 wide_lens[] = { 1ULL << 32, 1ULL << 63, ~0ULL, ~0ULL - B_BASE };

	b_close(&self->b);
	for (u64 len = 0xfffffff0; len < 0xffffffff; len++) {
		b_poke(&self->b, (u32)(addr - B_BASE), len, 4);
		EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH, parse_cie(self, addr));
		EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH,
			  ehf_record_head(&self->b.ctx, &self->b.s, addr, &self->rec));
		EXPECT_EQ(addr, self->rec.next);
	}
	b_poke(&self->b, (u32)(addr - B_BASE), 0xffffffff, 4);
	for (u32 k = 0; k < EHF_ARRAY_SIZE(wide_lens); k++) {
		b_poke(&self->b, (u32)(addr - B_BASE) + 4, wide_lens[k], 8);
		EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH, parse_cie(self, addr));
		EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH, parse_fde(self, fde));
	}
}

TEST_F(record, length_limit)
{
	u64 cie = build_cie(&self->b, "zR", 1, variant->wide);
	u64 fde = b_fde(&self->b, cie, 0x1000, 0x20);
	u32 len;

	while (self->b.len < 1000)
		b_u8(&self->b, 0);
	b_close(&self->b);
	len = (u32)(b_pos(&self->b) - fde) - (variant->wide ? 12 : 4);
	self->b.limits.record_len = len;
	EXPECT_EQ(EHF_STOP_NONE, parse_fde(self, fde));
	self->b.limits.record_len = len - 1;
	EXPECT_EQ(EHF_STOP_LIMIT_FDE_LENGTH, parse_fde(self, fde));
	/* A scan still gets past it. */
	EXPECT_EQ(EHF_STOP_LIMIT_FDE_LENGTH,
		  ehf_record_head(&self->b.ctx, &self->b.s, fde, &self->rec));
	EXPECT_EQ(b_pos(&self->b), self->rec.next);
	self->b.limits.record_len = 4;
	EXPECT_EQ(EHF_STOP_LIMIT_FDE_LENGTH, parse_cie(self, cie));
}

TEST_F(record, heads)
{
	struct b *b = &self->b;
	u64 cie = build_cie(b, "zR", 1, variant->wide);
	u64 fde = b_fde(b, cie, 0x1000, 0x20), end;

	b_close(b);
	end = b_pos(b);
	b_end(b);
	ASSERT_EQ(EHF_STOP_NONE, ehf_record_head(&b->ctx, &b->s, cie, &self->rec));
	EXPECT_EQ(EHF_RECORD_CIE, self->rec.kind);
	EXPECT_EQ(cie, self->rec.addr);
	EXPECT_EQ(fde, self->rec.next);
	ASSERT_EQ(EHF_STOP_NONE, ehf_record_head(&b->ctx, &b->s, fde, &self->rec));
	EXPECT_EQ(EHF_RECORD_FDE, self->rec.kind);
	EXPECT_EQ(cie, self->rec.cie);
	EXPECT_EQ(end, self->rec.next);
	ASSERT_EQ(EHF_STOP_NONE, ehf_record_head(&b->ctx, &b->s, end, &self->rec));
	EXPECT_EQ(EHF_RECORD_END, self->rec.kind);
	EXPECT_EQ(b_pos(b), self->rec.next);
	/* Outside the section there is nothing, and nothing is read. */
	b_memory(b, variant->kind);
	EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH,
		  ehf_record_head(&b->ctx, &b->s, b_pos(b), &self->rec));
	EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH,
		  ehf_record_head(&b->ctx, &b->s, b->s.eh_frame - 1, &self->rec));
	EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH, ehf_record_head(&b->ctx, &b->s, 0, &self->rec));
	EXPECT_EQ(EHF_STOP_BAD_RECORD_LENGTH, ehf_record_head(&b->ctx, &b->s, ~0ULL, &self->rec));
	EXPECT_EQ(0, b->reads);
}

/* What the FDE's encoding can say: its own tables, not the core's. */
TEST_F(record, fde_encodings)
{
	struct b *b = &self->b;

	for (u32 enc = 0; enc < 256; enc++) {
		u8 format = enc & 0xf, base = enc & 0xf0;
		bool ok = (format <= 4 || (format >= 9 && format <= 12)) &&
			  (base == 0 || base == 0x10);
		u64 start = base == 0x10 ? B_BASE + 0x150 : 0x1234;
		struct b_cie o = b_zr;
		u64 cie, fde;

		o.fde_enc = (u8)enc;
		o.wide = variant->wide;
		b_cut(b, B_BASE);
		b->nr_fdes = 0;
		b->s.eh_frame = B_BASE;
		cie = b_cie(b, &o);
		b_close(b);
		fde = b_fde(b, cie, start, 0x55);
		b_put(b, 1, 2, 3);
		b_close(b);
		EXPECT_EQ(ok ? EHF_STOP_NONE : EHF_STOP_ENCODING, parse_fde(self, fde)) {
			TH_LOG("encoding 0x%x", enc);
		}
		if (!ok)
			continue;
		EXPECT_EQ(start, self->fde.start) TH_LOG("encoding 0x%x", enc);
		EXPECT_EQ(start + 0x55, self->fde.range_end) TH_LOG("encoding 0x%x", enc);
		EXPECT_EQ(b_pos(b) - 3, self->fde.insns) TH_LOG("encoding 0x%x", enc);
		EXPECT_EQ(b_pos(b), self->fde.end);
		EXPECT_EQ(fde, self->fde.addr);
		EXPECT_EQ(cie, self->fde.cie.addr);
	}
}

/* Builds an FDE with absolute addresses. */
static u64 build_fde(struct b *b, u64 start, u64 range, bool wide)
{
	struct b_cie o = b_zr;
	u64 cie, fde;

	o.fde_enc = 0;
	o.wide = wide;
	b_cut(b, B_BASE);
	b->nr_fdes = 0;
	b->s.eh_frame = B_BASE;
	cie = b_cie(b, &o);
	b_close(b);
	fde = b_fde(b, cie, start, range);
	b_close(b);
	return fde;
}

/* R5 and R18: a range that wraps is refused, an empty one is not. */
TEST_F(record, fde_ranges)
{
	u64 top = variant->addr_size == 8 ? ~0ULL : ~0U;
	static const struct { u64 below, range; bool ok; } t[] = {
		{ 0x100, 0, true }, { 0, 0, true }, { 0x100, 0xff, true }, { 0x100, 0x100, true },
		{ 0x100, 0x101, false }, { 0, 1, false }, { 1, 2, false },
	};

	for (u32 k = 0; k < EHF_ARRAY_SIZE(t); k++) {
		u64 fde = build_fde(&self->b, top - t[k].below, t[k].range, variant->wide);

		EXPECT_EQ(t[k].ok ? EHF_STOP_NONE : EHF_STOP_FDE_RANGE, parse_fde(self, fde));
		if (!t[k].ok)
			continue;
		EXPECT_EQ(top - t[k].below, self->fde.start);
		EXPECT_EQ(top - t[k].below + t[k].range, self->fde.range_end);
	}
	EXPECT_EQ(EHF_STOP_FDE_RANGE, parse_fde(self, build_fde(&self->b, 2, top, variant->wide)));
	EXPECT_EQ(EHF_STOP_NONE, parse_fde(self, build_fde(&self->b, 0, top, variant->wide)));
}

TEST_F(record, fde_augmentation_data)
{
	u64 fde = build_fde(&self->b, 0x1000, 0x20, variant->wide);
	u32 at = self->b.len - 1;	/* its length, the last byte so far */

	self->b.buf[at] = 2;
	EXPECT_EQ(EHF_STOP_TRUNCATED, parse_fde(self, fde));
	b_put(&self->b, 1, 2, 3);
	b_close(&self->b);
	EXPECT_EQ(EHF_STOP_NONE, parse_fde(self, fde));
	EXPECT_EQ(b_pos(&self->b) - 1, self->fde.insns);
	self->b.buf[at] = 3;
	EXPECT_EQ(EHF_STOP_NONE, parse_fde(self, fde));
	EXPECT_EQ(self->fde.end, self->fde.insns);
	self->b.buf[at] = 4;
	EXPECT_EQ(EHF_STOP_TRUNCATED, parse_fde(self, fde));
}

TEST_F(record, fde_cut_by_its_length)
{
	u64 fde = build_fde(&self->b, 0x1000, 0x20, variant->wide);
	u32 whole = (u32)(b_pos(&self->b) - fde) - (variant->wide ? 12 : 4);
	u32 id = variant->wide ? 8 : 4;

	for (u32 len = 1; len <= whole; len++) {
		set_length(&self->b, fde, len, variant->wide);
		EXPECT_EQ(len < id ? EHF_STOP_BAD_RECORD_LENGTH :
			  len < whole ? EHF_STOP_TRUNCATED : EHF_STOP_NONE, parse_fde(self, fde));
	}
}

TEST_F(record, cie_pointers)
{
	struct b *b = &self->b;
	u64 fde = build_fde(b, 0x1000, 0x20, variant->wide), id, other;
	u32 at, size = variant->wide ? 8 : 4;

	at = (u32)(fde - B_BASE) + (variant->wide ? 12 : 4);
	id = B_BASE + at;
	b->cie.fde_enc = 0;
	other = b_fde(b, B_BASE, 0x2000, 0x20);
	b_close(b);
	ASSERT_EQ(EHF_STOP_NONE, parse_fde(self, fde));
	ASSERT_EQ(EHF_STOP_NONE, parse_fde(self, other));

	b_poke(b, at, id - B_BASE + 1, size);		/* one byte before the section */
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_fde(self, fde));
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, ehf_record_head(&b->ctx, &b->s, fde, &self->rec));
	EXPECT_EQ(other, self->rec.next);
	b_poke(b, at, ~0ULL, size);			/* forward, or so far back that it wraps */
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_fde(self, fde));
	b_poke(b, at, id - fde, size);			/* itself */
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_fde(self, fde));
	at = (u32)(other - B_BASE) + (variant->wide ? 12 : 4);
	b_poke(b, at, B_BASE + at - fde, size);		/* another FDE */
	EXPECT_NE(EHF_STOP_NONE, parse_fde(self, other));
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_fde(self, B_BASE)) TH_LOG("a CIE is no FDE");
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_cie(self, fde)) TH_LOG("an FDE is no CIE");
	b_end(b);
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_fde(self, b_pos(b) - 4));
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, parse_cie(self, b_pos(b) - 4));
}

/* A known CIE is used without another read, and only where it is the one. */
TEST_F(record, known_cie)
{
	struct b *b = &self->b;
	u64 fde = build_fde(b, 0x1000, 0x20, variant->wide);
	u32 with, without;

	b_memory(b, variant->kind);
	ASSERT_EQ(EHF_STOP_NONE, parse_fde(self, fde));
	without = b->reads;
	b_memory(b, variant->kind);
	self->cie = self->fde.cie;
	memset(&self->fde, 0xee, sizeof(self->fde));
	ASSERT_EQ(EHF_STOP_NONE,
		  ehf_fde_parse_with(&b->ctx, &b->s, fde, &self->cie, &self->fde));
	with = b->reads;
	EXPECT_LT(with, without);
	EXPECT_EQ(0x1020, self->fde.range_end);
	EXPECT_EQ(B_BASE, self->fde.cie.addr);
	self->cie.addr++;
	self->cie.fde_enc = 0xff;
	ASSERT_EQ(EHF_STOP_NONE,
		  ehf_fde_parse_with(&b->ctx, &b->s, fde, &self->cie, &self->fde));
	EXPECT_EQ(0, self->fde.cie.fde_enc);
	/* A CIE that failed is not remembered as if it had been read. */
	b->buf[variant->wide ? 20 : 8] = 77;
	memset(&self->fde, 0, sizeof(self->fde));
	for (u32 k = 0; k < 2; k++)
		EXPECT_EQ(EHF_STOP_CIE_VERSION, ehf_fde_parse_with(&b->ctx, &b->s, fde,
								   &self->fde.cie, &self->fde));
}

TEST_F(record, any_read_may_fault)
{
	u64 cie = build_cie(&self->b, "zPLR", 3, variant->wide);
	u64 fde = b_fde(&self->b, cie, 0x1000, 0x20);
	u32 reads;

	b_put(&self->b, 1, 2, 3);
	b_close(&self->b);
	b_memory(&self->b, variant->kind);
	ASSERT_EQ(EHF_STOP_NONE, parse_fde(self, fde));
	reads = self->b.reads;
	for (u32 n = 1; n <= reads; n++) {
		b_memory(&self->b, variant->kind);
		self->b.fault_at = n;
		EXPECT_EQ(EHF_STOP_SECTION_MEMORY, parse_fde(self, fde)) TH_LOG("read %u", n);
		EXPECT_EQ(n, self->b.reads);
	}
}

TEST_HARNESS_MAIN
