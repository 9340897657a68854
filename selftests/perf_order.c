// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Putting records of several CPUs in order: rounds, untimed records, the bound on memory. */

#include "selftests/kselftest_harness.h"

#include "harness/perf_order.h"
#include "selftests/lib/perf_builder.h"

static const struct pb_attr event = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
};

FIXTURE(order)
{
	struct pb b;
	struct perf_data *pd;
	struct perf_order *q;
	int fd;
};

FIXTURE_SETUP(order)
{
	self->fd = -1;
	pb_init(&self->b, false, false);
	pb_attr(&self->b, &event);
	pb_begin_data(&self->b);
}

FIXTURE_TEARDOWN(order)
{
	perf_order_free(self->q);
	perf_data_close(self->pd);
	if (self->fd >= 0)
		close(self->fd);
}

static void put(struct pb *b, u64 time, u32 tid)
{
	pb_rec(b, PERF_RECORD_SAMPLE, 0);
	pb_u64(b, 1);
	pb_u32(b, 1);
	pb_u32(b, tid);
	pb_u64(b, time);
	pb_end(b);
}

static void put_round(struct pb *b)
{
	pb_rec(b, PERF_ABI_FINISHED_ROUND, 0);
	pb_end(b);
}

static void start(FIXTURE_DATA(order) *self, size_t len, size_t max_bytes)
{
	struct perf_error err;

	self->fd = pb_fd(&self->b, len, false);
	self->pd = perf_data_open_fd(self->fd, "test", &err);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", err.text); }
	self->q = perf_order_new(max_bytes);
	ASSERT_NE(NULL, self->q);
}

/*
 * Four CPUs write records at random times into their rings; a reader comes now and then and
 * takes from each what is there. Rings that are read later in a round may hold younger
 * records than those read before.
 */
static u32 put_rings(struct pb *b, u32 rounds)
{
	u64 next[4] = { 1, 2, 3, 4 };
	u64 time = 1;
	u32 tid = 0;

	srand(7);
	for (u32 r = 0; r < rounds; r++) {
		for (u32 cpu = 0; cpu < 4; cpu++) {
			time += (u32)rand() % 50;	/* this ring is read now */
			for (; next[cpu] < time; next[cpu] += 1 + (u32)rand() % 20)
				put(b, next[cpu], tid++);
		}
		put_round(b);
	}
	return tid;
}

TEST_F(order, rounds_put_everything_in_order)
{
	u32 total = put_rings(&self->b, 200);
	struct perf_event_rec r;
	u64 last = 0;
	u32 nr = 0;
	int rc;

	pb_end_data(&self->b);
	start(self, self->b.len, PERF_ORDER_BYTES);
	while ((rc = perf_order_next(self->q, self->pd, &r)) > 0) {
		EXPECT_LE(last, r.time);
		last = r.time;
		nr++;
	}
	EXPECT_EQ(0, rc);
	EXPECT_EQ(total, nr);
	EXPECT_LT(1000, nr);
	EXPECT_EQ(0, perf_order_stats(self->q)->late);
	EXPECT_EQ(0, perf_order_stats(self->q)->early);
	/* Two rounds wait at most, not the file. */
	EXPECT_LT(perf_order_stats(self->q)->most_bytes, self->b.len / 4);
}

TEST_F(order, records_of_one_time_keep_their_order)
{
	struct perf_event_rec r;

	for (u32 i = 0; i < 100; i++)
		put(&self->b, i < 50 ? 5 : 0, i);
	pb_end_data(&self->b);
	start(self, self->b.len, PERF_ORDER_BYTES);
	/* Those without a time come first where they can. */
	for (u32 i = 0; i < 100; i++) {
		ASSERT_EQ(1, perf_order_next(self->q, self->pd, &r));
		EXPECT_EQ((i + 50) % 100, r.tid);
	}
	EXPECT_EQ(0, perf_order_next(self->q, self->pd, &r));
	EXPECT_EQ(0, perf_order_stats(self->q)->late);
}

TEST_F(order, memory_is_bounded_without_rounds)
{
	struct perf_event_rec r;
	u32 nr = 0;

	for (u32 i = 0; i < 5000; i++)
		put(&self->b, 100 + (i ^ 1), i);
	put(&self->b, 50, 1);
	pb_end_data(&self->b);
	start(self, self->b.len, 8192);
	while (perf_order_next(self->q, self->pd, &r) > 0)
		nr++;
	EXPECT_EQ(5001, nr);
	EXPECT_LT(4000, perf_order_stats(self->q)->early);
	EXPECT_EQ(1, perf_order_stats(self->q)->late);
	EXPECT_GE(8192 + 1024, perf_order_stats(self->q)->most_bytes);
}

TEST_F(order, a_cut_file_yields_all_before_the_error)
{
	u32 total = put_rings(&self->b, 20);
	struct perf_event_rec r;
	u64 last = 0;
	u32 nr = 0;
	int rc;

	put(&self->b, 1000000, 1);
	pb_end_data(&self->b);
	start(self, self->b.len - 1, PERF_ORDER_BYTES);
	while ((rc = perf_order_next(self->q, self->pd, &r)) > 0) {
		EXPECT_LE(last, r.time);
		last = r.time;
		nr++;
	}
	EXPECT_EQ(-1, rc);
	EXPECT_EQ(total, nr);
	EXPECT_NE(0, perf_data_error(self->pd)->status);
	EXPECT_EQ(-1, perf_order_next(self->q, self->pd, &r));
}

/* Of a stack area only what the kernel filled is kept; the fields behind it are. */
TEST_F(order, stacks_are_kept_as_far_as_they_go)
{
	static const struct pb_attr with_stack = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
		.stack_user = 4096,
	};
	struct pb *b = &self->b;
	struct perf_event_rec r;
	u64 weight;

	pb_init(b, false, true);
	pb_attr(b, &with_stack);
	for (u32 i = 0; i < 3; i++) {
		pb_rec(b, PERF_RECORD_SAMPLE, 0);
		pb_u64(b, 1);
		pb_u64(b, 1);
		pb_u64(b, 10 - i);
		pb_u64(b, 4096);
		pb_fill(b, (u8)(0xa0 + i), 4096);
		pb_u64(b, i * 2048);
		pb_u64(b, 77);
		pb_end(b);
	}
	start(self, b->len, 1 << 20);
	for (u32 i = 3; i-- > 0;) {
		ASSERT_EQ(1, perf_order_next(self->q, self->pd, &r));
		EXPECT_EQ(10 - i, r.time);
		EXPECT_EQ(4096, r.sample.stack_size);
		ASSERT_EQ(i * 2048, r.sample.dyn_size);
		for (u32 k = 0; k < 4096; k++)
			ASSERT_EQ(k < i * 2048 ? 0xa0 + i : 0, r.sample.stack[k]);
		memcpy(&weight, (const u8 *)r.raw + r.raw_size - 8, 8);
		EXPECT_EQ(77, weight);
	}
	EXPECT_GT(8192, perf_order_stats(self->q)->most_bytes);
}

TEST_HARNESS_MAIN
