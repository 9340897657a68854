// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Compressed records: cut anywhere, of both kinds, whole, truncated and damaged. */

#include "selftests/kselftest_harness.h"

#include <zstd.h>

#include "harness/perf_data.h"
#include "selftests/lib/perf_builder.h"

#define NR_SAMPLES	400

static const struct pb_attr event = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_STACK_USER,
	.stack_user = 1024,
};

FIXTURE(zstd)
{
	struct pb plain;	/* the records as they are before compression */
	struct pb b;
	struct perf_data *pd;
	struct perf_error err;
	int fd;
};

FIXTURE_VARIANT(zstd)
{
	u32 type;
	bool be;
	bool pipe;
	size_t chunk;		/* plain bytes in a compressed record */
};

FIXTURE_VARIANT_ADD(zstd, small_chunks) { PERF_ABI_COMPRESSED, false, false, 777 };
FIXTURE_VARIANT_ADD(zstd, large_chunks) { PERF_ABI_COMPRESSED, false, false, 300000 };
FIXTURE_VARIANT_ADD(zstd, big_endian) { PERF_ABI_COMPRESSED, true, false, 1111 };
FIXTURE_VARIANT_ADD(zstd, pipe) { PERF_ABI_COMPRESSED, false, true, 20001 };
FIXTURE_VARIANT_ADD(zstd, second_kind) { PERF_ABI_COMPRESSED2, false, false, 5003 };
FIXTURE_VARIANT_ADD(zstd, second_kind_big) { PERF_ABI_COMPRESSED2, true, true, 5003 };

static void put_samples(struct pb *b)
{
	for (u32 i = 0; i < NR_SAMPLES; i++) {
		pb_rec(b, PERF_RECORD_SAMPLE, 0);
		pb_u64(b, 0x400000 + i);
		pb_u32(b, i);
		pb_u32(b, i);
		pb_u64(b, i);
		pb_u64(b, 1024);
		for (u32 k = 0; k < 1024; k++)
			pb_u8(b, (u8)(k * i));
		pb_u64(b, 1024);
		pb_end(b);
	}
}

static void put_compressed(struct pb *b, u32 type, const u8 *bytes, size_t len)
{
	pb_rec(b, type, 0);
	if (type == PERF_ABI_COMPRESSED2)
		pb_u64(b, len);
	pb_bytes(b, bytes, len);
	while (type == PERF_ABI_COMPRESSED2 && (b->len - b->rec) & 7)
		pb_u8(b, 0);
	pb_end(b);
}

/* One stream over all records, flushed after each chunk, as perf does it. */
static void compress(struct pb *b, const FIXTURE_VARIANT(zstd) *variant, const struct pb *plain)
{
	static u8 out[60000];
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	ZSTD_inBuffer in = { plain->buf, 0, 0 };

	while (in.pos < plain->len) {
		size_t rest;

		in.size = in.pos + variant->chunk < plain->len ? in.pos + variant->chunk :
								 plain->len;
		do {
			ZSTD_outBuffer o = { out, sizeof(out), 0 };

			rest = ZSTD_compressStream2(ctx, &o, &in, ZSTD_e_flush);
			ASSERT_FALSE(ZSTD_isError(rest));
			put_compressed(b, variant->type, out, o.pos);
		} while (rest);
		pb_rec(b, PERF_ABI_FINISHED_ROUND, 0);
		pb_end(b);
	}
	ZSTD_freeCCtx(ctx);
}

FIXTURE_SETUP(zstd)
{
	self->fd = -1;
	self->plain.be = variant->be;
	put_samples(&self->plain);
	pb_init(&self->b, variant->be, variant->pipe);
	pb_attr(&self->b, &event);
	pb_begin_data(&self->b);
	compress(&self->b, variant, &self->plain);
	pb_end_data(&self->b);
}

static void reopen(FIXTURE_DATA(zstd) *self, size_t len)
{
	perf_data_close(self->pd);
	if (self->fd >= 0)
		close(self->fd);
	self->fd = pb_fd(&self->b, len, false);
	self->pd = perf_data_open_fd(self->fd, "test", &self->err);
}

FIXTURE_TEARDOWN(zstd)
{
	perf_data_close(self->pd);
	if (self->fd >= 0)
		close(self->fd);
}

/* Samples until the end, each checked; @rc: how it ended. */
static u32 read_samples(struct perf_data *pd, int *rc)
{
	struct perf_event_rec r;
	u32 nr = 0;

	while ((*rc = perf_data_next(pd, &r)) > 0) {
		if (r.type != PERF_RECORD_SAMPLE)
			continue;
		EXPECT_EQ(nr, r.tid);
		EXPECT_EQ(1024, r.sample.dyn_size);
		EXPECT_EQ((u8)(1023 * nr), r.sample.stack[1023]);
		nr++;
	}
	return nr;
}

TEST_F(zstd, all_records_come_out)
{
	int rc;

	reopen(self, self->b.len);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
	EXPECT_EQ(NR_SAMPLES, read_samples(self->pd, &rc));
	EXPECT_EQ(0, rc) { TH_LOG("%s", perf_data_error(self->pd)->text); }
	EXPECT_TRUE(perf_data_info(self->pd)->compressed);
	EXPECT_EQ(self->plain.len, perf_data_stats(self->pd)->plain_bytes);
	EXPECT_EQ(0, perf_data_stats(self->pd)->bad);
}

TEST_F(zstd, a_prefix_yields_a_prefix)
{
	u32 last = 0;
	int rc;

	for (size_t len = self->b.data; len < self->b.len; len += 397) {
		u32 nr;

		reopen(self, len);
		ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
		nr = read_samples(self->pd, &rc);
		EXPECT_LE(last, nr);
		last = nr;
		if (!variant->pipe)
			EXPECT_EQ(-1, rc) { TH_LOG("%zu of %zu", len, self->b.len); }
	}
	EXPECT_LT(0, last);
}

TEST_F(zstd, damage_in_the_stream_is_survived)
{
	struct pb *b = &self->b;

	for (size_t at = b->data; at < b->len; at += 211) {
		struct perf_event_rec r;
		u32 nr = 0;

		b->buf[at] ^= 0x55;
		reopen(self, b->len);
		b->buf[at] ^= 0x55;
		if (!self->pd)
			continue;
		while (perf_data_next(self->pd, &r) > 0)
			nr++;
		EXPECT_LE(nr, b->len);
	}
}

/* 64 MiB of zeros in a few kilobytes: records of no length, found at once. */
TEST(a_bomb_is_cheap)
{
	static struct pb b;
	static u8 zeros[1 << 20];
	static u8 out[60000];
	struct perf_event_rec r;
	struct perf_error err;
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	ZSTD_outBuffer o = { out, sizeof(out), 0 };
	struct perf_data *pd;
	int fd;

	for (int i = 0; i < 64; i++) {
		ZSTD_inBuffer in = { zeros, sizeof(zeros), 0 };

		while (in.pos < in.size)
			ASSERT_FALSE(ZSTD_isError(ZSTD_compressStream2(ctx, &o, &in,
								       ZSTD_e_continue)));
	}
	ASSERT_EQ(0, ZSTD_compressStream2(ctx, &o, &(ZSTD_inBuffer){ 0 }, ZSTD_e_end));
	ZSTD_freeCCtx(ctx);

	pb_init(&b, false, false);
	pb_attr(&b, &event);
	pb_begin_data(&b);
	put_compressed(&b, PERF_ABI_COMPRESSED, out, o.pos);
	pb_end_data(&b);
	fd = pb_fd(&b, b.len, false);
	pd = perf_data_open_fd(fd, "bomb", &err);
	ASSERT_NE(NULL, pd) { TH_LOG("%s", err.text); }
	EXPECT_EQ(-1, perf_data_next(pd, &r));
	EXPECT_GE(1 << 20, perf_data_stats(pd)->plain_bytes);
	perf_data_close(pd);
	close(fd);
}

TEST_HARNESS_MAIN
