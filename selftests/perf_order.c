// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Putting records of several CPUs in order: rounds, untimed records, the bound on memory. */

#include "selftests/kselftest_harness.h"

#include <errno.h>

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

static void start_from(FIXTURE_DATA(order) *self, size_t len, size_t max_bytes, bool pipe_fd)
{
	struct perf_error err;

	self->fd = pb_fd(&self->b, len, pipe_fd);
	self->pd = perf_data_open_fd(self->fd, "test", &err);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", err.text); }
	self->q = perf_order_new(max_bytes);
	ASSERT_NE(NULL, self->q);
}

static void start(FIXTURE_DATA(order) *self, size_t len, size_t max_bytes)
{
	start_from(self, len, max_bytes, false);
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

/* Three samples, the last first, with so many bytes of a stack of 4,096. */
static void put_stacks(struct pb *b, const u64 dyn[3])
{
	static const struct pb_attr with_stack = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
		.stack_user = 4096,
	};

	pb_init(b, false, true);
	pb_attr(b, &with_stack);
	for (u32 i = 0; i < 3; i++) {
		pb_rec(b, PERF_RECORD_SAMPLE, 0);
		pb_u64(b, 1);
		pb_u64(b, 1);
		pb_u64(b, 10 - i);
		pb_u64(b, 4096);
		pb_fill(b, (u8)(0xa0 + i), 4096);
		pb_u64(b, dyn[i]);
		pb_u64(b, 77);
		pb_end(b);
	}
}

/* Of a pipe's stack area only what the kernel filled is kept; the fields behind it are. */
TEST_F(order, stacks_are_kept_as_far_as_they_go)
{
	struct perf_event_rec r;
	u64 weight;

	put_stacks(&self->b, (u64[]){ 0, 2048, 4096 });
	start_from(self, self->b.len, 1 << 20, true);
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
	EXPECT_LT(2048 + 4096, perf_order_stats(self->q)->most_bytes);
	EXPECT_GT(8192, perf_order_stats(self->q)->most_bytes);
}

/* A file's stacks are used where they are. */
TEST_F(order, stacks_of_a_file_are_not_copied)
{
	struct perf_event_rec r;
	u32 size = 0;

	put_stacks(&self->b, (u64[]){ 0, 2048, 4096 });
	start(self, self->b.len, 1 << 20);
	for (u32 i = 3; i-- > 0;) {
		const u8 *ahead;

		ASSERT_EQ(1, perf_order_next(self->q, self->pd, &r));
		EXPECT_EQ(10 - i, r.time);
		ASSERT_EQ(i * 2048, r.sample.dyn_size);
		for (u32 k = 0; k < i * 2048; k++)
			ASSERT_EQ(0xa0 + i, r.sample.stack[k]);
		/* The next one lies before it. */
		ahead = perf_order_ahead(self->q, 0, &size);
		EXPECT_EQ(i ? (const u8 *)r.raw - r.raw_size : NULL, ahead);
		EXPECT_EQ(r.raw_size, size);
		EXPECT_EQ(i > 1, perf_order_ahead(self->q, 1, &size) != NULL);
	}
	EXPECT_GT(2048, perf_order_stats(self->q)->most_bytes);
}

/* A sample is only looked at in detail when it leaves: then it turns out to be no good. */
TEST_F(order, a_bad_sample_is_counted_once)
{
	struct perf_event_rec r;

	put_stacks(&self->b, (u64[]){ 0, 4097, 4096 });
	start(self, self->b.len, 1 << 20);
	ASSERT_EQ(1, perf_order_next(self->q, self->pd, &r));
	EXPECT_EQ(8, r.time);
	ASSERT_EQ(1, perf_order_next(self->q, self->pd, &r)) {
		TH_LOG("%s", perf_data_error(self->pd)->text);
	}
	EXPECT_EQ(10, r.time);
	EXPECT_EQ(0, perf_order_next(self->q, self->pd, &r));
	EXPECT_EQ(1, perf_data_stats(self->pd)->bad);
}

/* What waits in the queue is gone before it is looked at: no crash, and no silence. */
TEST_F(order, a_file_that_shrinks_is_an_error)
{
	struct perf_event_rec r;
	u32 nr = 0;
	int rc;

	put_rings(&self->b, 200);
	pb_end_data(&self->b);
	start(self, self->b.len, PERF_ORDER_BYTES);
	ASSERT_EQ(1, perf_order_next(self->q, self->pd, &r));
	ASSERT_EQ(0, ftruncate(self->fd, 8192));
	while ((rc = perf_order_next(self->q, self->pd, &r)) > 0)
		nr++;
	EXPECT_EQ(-1, rc);
	EXPECT_GE(8192 / 32, nr);
	EXPECT_EQ(EBADMSG, perf_data_error(self->pd)->status);
	EXPECT_EQ(-1, perf_order_next(self->q, self->pd, &r));
}

TEST_HARNESS_MAIN
