// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/cursor.c: windows, numbers, LEB128 and encoded pointers, from every kind of memory.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "ehframe/cursor.h"

FIXTURE(cursor)
{
	struct b b;
	struct ehf_cursor c;
};

FIXTURE_VARIANT(cursor)
{
	enum b_kind kind;
	bool big;
	u8 addr_size;
};

FIXTURE_VARIANT_ADD(cursor, copy_le64) { B_COPY, false, 8 };
FIXTURE_VARIANT_ADD(cursor, copy_be64) { B_COPY, true, 8 };
FIXTURE_VARIANT_ADD(cursor, copy_le32) { B_COPY, false, 4 };
FIXTURE_VARIANT_ADD(cursor, copy_be32) { B_COPY, true, 4 };
FIXTURE_VARIANT_ADD(cursor, direct_le64) { B_DIRECT, false, 8 };
FIXTURE_VARIANT_ADD(cursor, direct_be32) { B_DIRECT, true, 4 };
FIXTURE_VARIANT_ADD(cursor, crumbs_le64) { B_CRUMBS, false, 8 };
FIXTURE_VARIANT_ADD(cursor, crumbs_be64) { B_CRUMBS, true, 8 };

FIXTURE_SETUP(cursor)
{
	b_init(&self->b, &ehu_arch_x86_64.abi);
	self->b.abi.big_endian = variant->big;
	self->b.abi.addr_size = variant->addr_size;
	b_memory(&self->b, variant->kind);
	self->b.one_page = true;
}

FIXTURE_TEARDOWN(cursor)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

/* A cursor over all that was built. */
static struct ehf_cursor *over(FIXTURE_DATA(cursor) *self)
{
	ehf_open(&self->c, &self->b.ctx, self->b.base, b_pos(&self->b));
	return &self->c;
}

TEST_F(cursor, fixed_sizes)
{
	struct ehf_cursor *c;

	for (u32 len = 1; len <= 8; len++)
		b_fixed(&self->b, 0x8182838485868788ULL, len);
	c = over(self);
	for (u32 len = 1; len <= 8; len++) {
		u64 want = len == 8 ? 0x8182838485868788ULL :
				      0x8182838485868788ULL & ((1ULL << 8 * len) - 1);

		EXPECT_EQ(want, ehf_fixed(c, len)) TH_LOG("%u bytes", len);
	}
	EXPECT_FALSE(ehf_more(c));
	EXPECT_EQ(EHF_STOP_NONE, c->stop);
	EXPECT_EQ(b_pos(&self->b), ehf_pos(c));
	EXPECT_EQ(0, ehf_u8(c));
	EXPECT_EQ(EHF_STOP_TRUNCATED, c->stop);
}

TEST_F(cursor, long_run_in_order)
{
	struct ehf_cursor *c;

	for (u32 k = 0; k < 6000; k++)
		b_u8(&self->b, (u8)(k * 31 >> 3));
	c = over(self);
	for (u32 k = 0; k < 6000; k++) {
		ASSERT_TRUE(ehf_more(c));
		ASSERT_EQ(B_BASE + k, ehf_pos(c));
		ASSERT_EQ((u8)(k * 31 >> 3), ehf_u8(c));
	}
	EXPECT_FALSE(ehf_more(c));
	for (u32 k = 0; variant->kind == B_COPY && k < 6000; k++)
		ASSERT_EQ(1, self->b.fetched[k]) TH_LOG("byte %u", k);
}

static const u64 ulebs[] = {
	0, 1, 0x3f, 0x40, 0x7f, 0x80, 0x3fff, 0x4000, 0xffffffff, 0x100000000, 1ULL << 62,
	(1ULL << 63) - 1, 1ULL << 63, ~0ULL - 1, ~0ULL,
};

TEST_F(cursor, uleb_values)
{
	struct ehf_cursor *c;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(ulebs); k++)
		b_uleb(&self->b, ulebs[k]);
	c = over(self);
	for (u32 k = 0; k < EHF_ARRAY_SIZE(ulebs); k++)
		EXPECT_EQ(ulebs[k], ehf_uleb(c));
	EXPECT_EQ(EHF_STOP_NONE, c->stop);
	EXPECT_FALSE(ehf_more(c));
}

TEST_F(cursor, uleb_padded)
{
	struct ehf_cursor *c;

	for (u32 len = 1; len <= EHF_MAX_LEB; len++)
		b_uleb_pad(&self->b, 0x55, len);
	for (u32 len = 10; len <= EHF_MAX_LEB; len++)
		b_uleb_pad(&self->b, ~0ULL, len);
	c = over(self);
	for (u32 len = 1; len <= EHF_MAX_LEB; len++)
		EXPECT_EQ(0x55, ehf_uleb(c)) TH_LOG("%u bytes", len);
	for (u32 len = 10; len <= EHF_MAX_LEB; len++)
		EXPECT_EQ(~0ULL, ehf_uleb(c)) TH_LOG("%u bytes", len);
	EXPECT_EQ(EHF_STOP_NONE, c->stop);
	EXPECT_FALSE(ehf_more(c));
}

/* R16: what does not fit in 64 bits is refused, wherever the excess bit stands. */
TEST_F(cursor, uleb_overflow)
{
	for (u32 bit = 64; bit < 7 * EHF_MAX_LEB; bit++) {
		b_cut(&self->b, B_BASE);
		for (u32 k = 0; k <= bit / 7; k++)
			b_u8(&self->b, (u8)((k == bit / 7 ? 1 << bit % 7 : 0) |
					    (k == bit / 7 ? 0 : 0x80)));
		over(self);
		EXPECT_EQ(0, ehf_uleb(&self->c));
		EXPECT_EQ(EHF_STOP_LEB_RANGE, self->c.stop) TH_LOG("bit %u", bit);
		EXPECT_EQ(0, ehf_u8(&self->c));
		EXPECT_EQ(EHF_STOP_LEB_RANGE, self->c.stop) TH_LOG("the first stop is kept");
	}
}

static const s64 slebs[] = {
	0, 1, -1, 63, 64, -64, -65, 127, 128, -128, 0x3fffffff, -0x40000000, INT64_MAX,
	INT64_MAX - 1, INT64_MIN, INT64_MIN + 1, (s64)1 << 62, -((s64)1 << 62),
};

TEST_F(cursor, sleb_values)
{
	struct ehf_cursor *c;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(slebs); k++)
		b_sleb(&self->b, slebs[k]);
	for (u32 k = 0; k < EHF_ARRAY_SIZE(slebs); k++)
		for (u32 len = 10; len <= EHF_MAX_LEB; len++)
			b_sleb_pad(&self->b, slebs[k], len);
	c = over(self);
	for (u32 k = 0; k < EHF_ARRAY_SIZE(slebs); k++)
		EXPECT_EQ(slebs[k], ehf_sleb(c));
	for (u32 k = 0; k < EHF_ARRAY_SIZE(slebs); k++)
		for (u32 len = 10; len <= EHF_MAX_LEB; len++)
			EXPECT_EQ(slebs[k], ehf_sleb(c)) TH_LOG("%u bytes", len);
	EXPECT_EQ(EHF_STOP_NONE, c->stop);
	EXPECT_FALSE(ehf_more(c));
}

TEST_F(cursor, sleb_overflow)
{
	for (u32 at = 9; at < EHF_MAX_LEB; at++) {
		for (u32 last = 0; last < 0x80; last++) {
			for (u32 fill = 0x80; fill <= 0xff; fill += 0x7f) {
				bool minus = at == 9 ? last & 1 : fill == 0xff;
				u32 want = minus ? 0x7f : 0;

				b_cut(&self->b, B_BASE);
				for (u32 k = 0; k < at; k++)
					b_u8(&self->b, (u8)fill);
				b_u8(&self->b, (u8)last);
				over(self);
				ehf_sleb(&self->c);
				EXPECT_EQ(last == want ? EHF_STOP_NONE : EHF_STOP_LEB_RANGE,
					  self->c.stop) {
					TH_LOG("%u times 0x%x, then 0x%x", at, fill, last);
				}
			}
		}
	}
}

/* Padding that has no end would make the file choose how long a read takes. */
TEST_F(cursor, leb_length_limit)
{
	for (u32 len = EHF_MAX_LEB - 1; len <= EHF_MAX_LEB + 2; len++) {
		enum ehf_stop want = len > EHF_MAX_LEB ? EHF_STOP_LIMIT_LEB : EHF_STOP_NONE;

		b_cut(&self->b, B_BASE);
		b_uleb_pad(&self->b, 5, len);
		over(self);
		EXPECT_EQ(want ? 0 : 5, ehf_uleb(&self->c));
		EXPECT_EQ(want, self->c.stop) TH_LOG("%u bytes", len);
		b_cut(&self->b, B_BASE);
		b_sleb_pad(&self->b, -5, len);
		over(self);
		EXPECT_EQ(want ? 0 : -5, ehf_sleb(&self->c));
		EXPECT_EQ(want, self->c.stop) TH_LOG("%u bytes", len);
	}
}

TEST_F(cursor, leb_cut_off)
{
	for (u32 len = 0; len < EHF_MAX_LEB; len++) {
		b_cut(&self->b, B_BASE);
		for (u32 k = 0; k < len; k++)
			b_u8(&self->b, 0x80);
		over(self);
		EXPECT_EQ(0, ehf_uleb(&self->c));
		EXPECT_EQ(EHF_STOP_TRUNCATED, self->c.stop) TH_LOG("%u bytes", len);
		over(self);
		EXPECT_EQ(0, ehf_sleb(&self->c));
		EXPECT_EQ(EHF_STOP_TRUNCATED, self->c.stop) TH_LOG("%u bytes", len);
	}
}

/* What each encoding means, said again without the core's table. */
static u32 format_size(u8 enc, u8 addr_size)
{
	static const u8 size[16] = { 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0 };

	return (enc & 0xf) == 0 ? addr_size : size[enc & 0xf];
}

static bool followed(u8 enc, u64 datarel)
{
	u8 format = enc & 0xf, base = enc & 0xf0;

	return (format <= 4 || (format >= 9 && format <= 12)) &&
	       (base == 0 || base == 0x10 || (base == 0x30 && datarel));
}

TEST_F(cursor, every_pointer_encoding)
{
	static const s64 deltas[] = { 0, 1, 0x7f, 0x1234, -1, -0x1234 };
	struct b *b = &self->b;

	for (u32 enc = 0; enc < 256; enc++) {
		for (u32 k = 0; k < EHF_ARRAY_SIZE(deltas) * 2; k++) {
			u64 datarel = k & 1 ? B_BASE + 0x2000 : 0;
			u32 size = format_size((u8)enc, variant->addr_size);
			bool sign = enc & 8 || size == 8 || (enc & 0xf) == 1;
			u64 base, want;
			u32 put;

			EXPECT_EQ(size, ehf_pointer_size(&b->abi, (u8)enc));
			b_cut(b, B_BASE);
			b_put(b, 0xee, 0xee, 0xee);	/* not at the start */
			base = (enc & 0x70) == 0x10 ? b_pos(b) :
			       (enc & 0x70) == 0x30 ? datarel : 0;
			want = base + (u64)deltas[k / 2];
			b_ptr(b, (u8)enc & 0x7f, want, datarel);
			if (size && size < 8 && !sign)	/* cut to its format, then added */
				want = base + ((u64)deltas[k / 2] & ((1ULL << 8 * size) - 1));
			if (variant->addr_size == 4)
				want = (u32)want;
			put = b->len - 3;
			b_put(b, 0xee);
			ehf_open(&self->c, &b->ctx, B_BASE + 3, b_pos(b));
			if (!followed((u8)enc, datarel)) {
				EXPECT_EQ(0, ehf_pointer(&self->c, (u8)enc, datarel));
				EXPECT_EQ(EHF_STOP_ENCODING, self->c.stop) TH_LOG("0x%x", enc);
				continue;
			}
			EXPECT_EQ(want, ehf_pointer(&self->c, (u8)enc, datarel)) {
				TH_LOG("encoding 0x%x, datarel %d", enc, k & 1);
			}
			EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
			EXPECT_EQ(B_BASE + 3 + put, ehf_pos(&self->c)) TH_LOG("0x%x", enc);
			for (u32 len = 0; len < put; len++) {
				ehf_open(&self->c, &b->ctx, B_BASE + 3, B_BASE + 3 + len);
				EXPECT_EQ(0, ehf_pointer(&self->c, (u8)enc, datarel));
				EXPECT_EQ(EHF_STOP_TRUNCATED, self->c.stop);
			}
		}
	}
}

TEST_F(cursor, narrow_bounds_what_is_inside)
{
	struct ehf_cursor *c;
	u64 end;

	for (u32 k = 0; k < 200; k++)
		b_u8(&self->b, (u8)k);
	for (u32 at = 0; at < 3; at++) {	/* also with bytes of the outer window at hand */
		for (u32 len = 0; len < 100; len += 9) {
			c = over(self);
			for (u32 k = 0; k < at; k++)
				ehf_u8(c);
			end = ehf_narrow(c, len);
			for (u32 k = 0; k < len; k++)
				ASSERT_EQ(at + k, ehf_u8(c));
			EXPECT_FALSE(ehf_more(c));
			ehf_widen(c, end);
			EXPECT_EQ(at + len, ehf_u8(c));
			EXPECT_EQ(EHF_STOP_NONE, c->stop);

			c = over(self);		/* widen moves past what was not read */
			for (u32 k = 0; k < at; k++)
				ehf_u8(c);
			end = ehf_narrow(c, len);
			ehf_widen(c, end);
			EXPECT_EQ(at + len, ehf_u8(c));

			c = over(self);		/* and nothing reads out of it */
			for (u32 k = 0; k < at; k++)
				ehf_u8(c);
			end = ehf_narrow(c, len);
			ehf_skip(c, len);
			EXPECT_EQ(EHF_STOP_NONE, c->stop);
			EXPECT_EQ(0, ehf_u8(c));
			EXPECT_EQ(EHF_STOP_TRUNCATED, c->stop);
			ehf_widen(c, end);
			EXPECT_EQ(0, ehf_u8(c)) TH_LOG("a stop survives ehf_widen()");
			EXPECT_FALSE(ehf_more(c));
		}
	}
}

/* R5: no length can wrap. */
TEST_F(cursor, lengths_do_not_wrap)
{
	static const u64 lens[] = { 101, 1ULL << 32, 1ULL << 63, ~0ULL - B_BASE, ~0ULL - 1, ~0ULL };
	struct ehf_cursor *c;

	for (u32 k = 0; k < 100; k++)
		b_u8(&self->b, 1);
	for (u32 k = 0; k < EHF_ARRAY_SIZE(lens); k++) {
		for (u32 at = 0; at < 2; at++) {
			c = over(self);
			if (at)
				ehf_u8(c);
			ehf_skip(c, lens[k]);
			EXPECT_EQ(EHF_STOP_TRUNCATED, c->stop);
			EXPECT_EQ(B_BASE + at, ehf_pos(c));
			c = over(self);
			if (at)
				ehf_u8(c);
			ehf_narrow(c, lens[k]);
			EXPECT_EQ(EHF_STOP_TRUNCATED, c->stop);
		}
	}
	c = over(self);
	ehf_skip(c, 100);
	EXPECT_EQ(EHF_STOP_NONE, c->stop);
	EXPECT_EQ(0, ehf_fixed(c, 1));
	EXPECT_EQ(EHF_STOP_TRUNCATED, c->stop);
}

TEST_F(cursor, windows_at_the_edge_of_memory)
{
	struct ehf_cursor *c = &self->c;

	ehf_open(c, &self->b.ctx, 100, 50);	/* turned round: empty */
	EXPECT_FALSE(ehf_more(c));
	EXPECT_EQ(0, ehf_uleb(c));
	EXPECT_EQ(EHF_STOP_TRUNCATED, c->stop);
	ehf_open(c, &self->b.ctx, ~0ULL, ~0ULL);
	EXPECT_FALSE(ehf_more(c));
	ehf_open(c, &self->b.ctx, ~0ULL - 3, ~0ULL);
	EXPECT_EQ(0, ehf_fixed(c, 8));		/* asks for no byte past the end */
	EXPECT_EQ(EHF_STOP_SECTION_MEMORY, c->stop);
	ehf_open(c, &self->b.ctx, 0, ~0ULL);
	EXPECT_EQ(0, ehf_fixed(c, 8));
	EXPECT_EQ(EHF_STOP_SECTION_MEMORY, c->stop);
}

/* A mixed bag, read from memory in which read number n fails. */
static void mixed(struct ehf_cursor *c)
{
	u64 end = ehf_narrow(c, 300);

	ehf_u8(c);
	ehf_fixed(c, 8);
	ehf_uleb(c);
	ehf_sleb(c);
	ehf_pointer(c, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0);
	ehf_skip(c, 100);
	ehf_fixed(c, 4);
	ehf_widen(c, end);
	ehf_fixed(c, 4);
}

TEST_F(cursor, any_read_may_fault)
{
	struct ehf_cursor *c;
	u32 reads;

	for (u32 k = 0; k < 400; k++)
		b_u8(&self->b, 0x11);
	c = over(self);
	mixed(c);
	ASSERT_EQ(EHF_STOP_NONE, c->stop);
	EXPECT_EQ(B_BASE + 304, ehf_pos(c));
	reads = self->b.reads;
	ASSERT_GT(reads, 0);
	EXPECT_EQ(reads, self->b.cost.reads);
	for (u32 n = 1; n <= reads; n++) {
		b_memory(&self->b, variant->kind);
		self->b.fault_at = n;
		c = over(self);
		mixed(c);
		EXPECT_EQ(EHF_STOP_SECTION_MEMORY, c->stop) TH_LOG("read number %u", n);
		EXPECT_EQ(n, self->b.reads) TH_LOG("nothing is read after a failure");
	}
}

TEST_F(cursor, every_prefix)
{
	for (u32 k = 0; k < 400; k++)
		b_u8(&self->b, 0x11);
	for (u32 len = 0; len < 400; len++) {
		b_memory(&self->b, variant->kind);
		ehf_open(&self->c, &self->b.ctx, B_BASE, B_BASE + len);
		mixed(&self->c);
		EXPECT_EQ(len < 304 ? EHF_STOP_TRUNCATED : EHF_STOP_NONE, self->c.stop) {
			TH_LOG("%u bytes", len);
		}
	}
}

TEST_F(cursor, plain_read)
{
	struct b *b = &self->b;
	u8 bytes[64];

	b->one_page = false;	/* all of these bytes are asked for */
	for (u32 k = 0; k < 5000; k++)
		b_u8(b, (u8)(k * 7));
	for (u32 len = 1; len <= 16; len++) {
		for (u32 at = 4080; at < 4100; at++) {
			ASSERT_TRUE(ehf_read(&b->ctx, B_BASE + at, bytes, len));
			for (u32 k = 0; k < len; k++)
				ASSERT_EQ((u8)((at + k) * 7), bytes[k]);
		}
	}
	EXPECT_FALSE(ehf_read(&b->ctx, B_BASE - 1, bytes, 2));
	EXPECT_FALSE(ehf_read(&b->ctx, B_BASE + 4999, bytes, 2));
	EXPECT_TRUE(ehf_read(&b->ctx, B_BASE + 4999, bytes, 1));
	EXPECT_FALSE(ehf_read(&b->ctx, ~0ULL, bytes, 1));
	EXPECT_FALSE(ehf_read(&b->ctx, ~0ULL - 3, bytes, 8));
}

TEST_HARNESS_MAIN
