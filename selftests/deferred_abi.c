// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferred callchains of perf.data files: which record belongs to which sample, what happens to the
 * others, and the comparison with a trace of ours.
 */
#include "selftests/kselftest_harness.h"

#include "harness/defer_merge.h"
#include "harness/perf_order.h"
#include "selftests/lib/perf_builder.h"

#define OURS	5		/* frames of ours, always 0x1000, 0x1001 .. */

FIXTURE(deferred)
{
	struct pb b;
	struct defer_merge *m;
	struct perf_data *pd;
	struct perf_order *q;
	int fd;
	bool blind;		/* samples are not walked */
	bool no_sample_id;
};

FIXTURE_VARIANT(deferred) { bool big; };
FIXTURE_VARIANT_ADD(deferred, le) { false };
FIXTURE_VARIANT_ADD(deferred, be) { true };

static void begin(FIXTURE_DATA(deferred) *self, bool big, bool no_sample_id)
{
	const struct pb_attr event = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN,
		.no_sample_id = no_sample_id,
	};

	self->no_sample_id = no_sample_id;
	pb_init(&self->b, big, false);
	pb_attr(&self->b, &event);
	pb_begin_data(&self->b);
}

FIXTURE_SETUP(deferred)
{
	self->fd = -1;
	self->m = defer_merge_new();
	ASSERT_NE(NULL, self->m);
	begin(self, variant->big, false);
}

FIXTURE_TEARDOWN(deferred)
{
	defer_merge_free(self->m);
	perf_order_free(self->q);
	perf_data_close(self->pd);
	if (self->fd >= 0)
		close(self->fd);
}

/* A sample that hit the kernel, so that the marker is not the first of its chain. */
static void sample(FIXTURE_DATA(deferred) *self, u64 time, u32 tid, u64 cookie)
{
	struct pb *b = &self->b;

	pb_rec(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	pb_u64(b, 1);
	pb_u32(b, 1);
	pb_u32(b, tid);
	pb_u64(b, time);
	pb_u64(b, 4);
	pb_u64(b, (u64)PERF_CONTEXT_KERNEL);
	pb_u64(b, 0xffffffff81000000ull);
	pb_u64(b, PERF_ABI_CONTEXT_USER_DEFERRED);
	pb_u64(b, cookie);
	pb_end(b);
}

/* Addresses from @base on: 0x1000 is what ours has. */
static void record(FIXTURE_DATA(deferred) *self, u64 time, u32 tid, u64 cookie, u64 base, u32 nr)
{
	struct pb *b = &self->b;

	pb_rec(b, PERF_ABI_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	pb_u64(b, cookie);
	pb_u64(b, nr);
	for (u32 k = 0; k < nr; k++)
		pb_u64(b, base + k);
	if (!self->no_sample_id) {
		pb_u32(b, 1);
		pb_u32(b, tid);
		pb_u64(b, time);
	}
	pb_end(b);
}

static const struct defer_merge_figures *merge(FIXTURE_DATA(deferred) *self)
{
	struct ehu_entry entry[OURS] = { 0 };
	const struct ehu_trace ours = { .entry = entry, .max = OURS, .nr = OURS };
	struct perf_event_rec rec;
	struct perf_error err;

	for (u32 k = 0; k < OURS; k++)
		entry[k].ip = 0x1000 + k;
	pb_end_data(&self->b);
	pb_finish(&self->b);
	self->fd = pb_fd(&self->b, self->b.len, false);
	self->pd = perf_data_open_fd(self->fd, "test", &err);
	self->q = perf_order_new(1 << 20);
	if (!self->pd || !self->q)
		abort();
	while (perf_order_next(self->q, self->pd, &rec) > 0) {
		if (rec.type == PERF_RECORD_SAMPLE &&
		    defer_merge_sample(self->m, &rec, self->blind ? NULL : &ours))
			abort();
		if (rec.type == PERF_ABI_CALLCHAIN_DEFERRED && defer_merge_record(self->m, &rec))
			abort();
	}
	defer_merge_end(self->m);
	return defer_merge_figures(self->m);
}

/* Every sample and every merged one has exactly one fate. */
static bool adds_up(const struct defer_merge_figures *f)
{
	return f->samples == f->merged + f->mismatched + f->left + f->dropped &&
	       f->merged == f->uncompared + f->equal + f->ours_shorter + f->ours_longer +
			    f->different;
}

TEST_F(deferred, sample_and_record_merge)
{
	const struct defer_merge_figures *f;

	sample(self, 10, 7, 0x100000001);
	record(self, 11, 7, 0x100000001, 0x1000, OURS);
	f = merge(self);
	EXPECT_EQ(1, f->samples);
	EXPECT_EQ(1, f->records);
	EXPECT_EQ(1, f->merged);
	EXPECT_EQ(1, f->equal);
	EXPECT_EQ(0, f->orphans);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, several_samples_share_a_record)
{
	const struct defer_merge_figures *f;

	for (u32 k = 0; k < 3; k++)
		sample(self, 10 + k, 7, 3);
	record(self, 20, 7, 3, 0x1000, OURS);
	f = merge(self);
	EXPECT_EQ(3, f->merged);
	EXPECT_EQ(3, f->equal);
	EXPECT_EQ(1, f->records);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, another_cookie_does_not_merge)
{
	const struct defer_merge_figures *f;

	sample(self, 10, 7, 3);
	record(self, 11, 7, 5, 0x1000, OURS);
	f = merge(self);
	EXPECT_EQ(0, f->merged);
	EXPECT_EQ(1, f->mismatched);
	EXPECT_EQ(1, f->orphans);
	EXPECT_TRUE(adds_up(f));
}

/* The next record of the thread ends the waiting of the sample whose own was lost. */
TEST_F(deferred, a_lost_record_leaves_its_sample_without)
{
	const struct defer_merge_figures *f;

	sample(self, 10, 7, 3);
	sample(self, 20, 7, 5);
	record(self, 21, 7, 5, 0x1000, OURS);
	sample(self, 30, 7, 7);
	f = merge(self);
	EXPECT_EQ(3, f->samples);
	EXPECT_EQ(1, f->merged);
	EXPECT_EQ(1, f->mismatched);
	EXPECT_EQ(1, f->left);
	EXPECT_EQ(0, f->orphans);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, another_thread_does_not_merge)
{
	const struct defer_merge_figures *f;

	sample(self, 10, 7, 3);
	record(self, 11, 8, 3, 0x1000, OURS);
	f = merge(self);
	EXPECT_EQ(0, f->merged);
	EXPECT_EQ(1, f->left);
	EXPECT_EQ(0, f->mismatched);
	EXPECT_EQ(1, f->orphans);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, a_record_of_no_address_merges)
{
	const struct defer_merge_figures *f;

	sample(self, 10, 7, 3);
	record(self, 11, 7, 3, 0x1000, 0);
	f = merge(self);
	EXPECT_EQ(1, f->merged);
	EXPECT_EQ(1, f->empty);
	EXPECT_EQ(1, f->ours_longer);
	EXPECT_TRUE(adds_up(f));
}

/* More than perf_event_max_stack allows in a sample. */
TEST_F(deferred, long_records_are_whole)
{
	static const u32 nrs[] = { 127, 128, 510, 8000 };
	const struct defer_merge_figures *f;

	for (u32 k = 0; k < 4; k++) {
		sample(self, 10 * k + 10, 7, 2 * k + 1);
		record(self, 10 * k + 11, 7, 2 * k + 1, 0x1000, nrs[k]);
	}
	f = merge(self);
	EXPECT_EQ(4, f->merged);
	EXPECT_EQ(4, f->ours_shorter);
	EXPECT_EQ(8000, f->longest);
	EXPECT_TRUE(adds_up(f));
}

/* Buffers out of step: the order by time is broken, and the record comes out first. */
TEST_F(deferred, a_record_before_its_sample_in_another_buffer)
{
	const struct defer_merge_figures *f;

	record(self, 5, 7, 3, 0x1000, OURS);
	record(self, 6, 7, 5, 0x1000, OURS);
	sample(self, 10, 7, 3);
	sample(self, 11, 7, 5);
	f = merge(self);
	EXPECT_EQ(2, f->merged);
	EXPECT_EQ(2, f->early);
	EXPECT_EQ(2, f->equal);
	EXPECT_EQ(0, f->orphans);
	EXPECT_TRUE(adds_up(f));
}

/* In the file the record comes first, but its time is later: order puts that right. */
TEST_F(deferred, order_of_time_not_of_the_file)
{
	const struct defer_merge_figures *f;

	record(self, 11, 7, 3, 0x1000, OURS);
	sample(self, 10, 7, 3);
	f = merge(self);
	EXPECT_EQ(1, f->merged);
	EXPECT_EQ(0, f->early);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, a_difference_is_seen)
{
	const struct defer_merge_figures *f;

	sample(self, 10, 7, 3);
	record(self, 11, 7, 3, 0x1001, OURS);
	sample(self, 20, 7, 5);
	record(self, 21, 7, 5, 0x1000, OURS - 1);
	f = merge(self);
	EXPECT_EQ(1, f->different);
	EXPECT_EQ(1, f->ours_longer);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, without_registers_it_is_counted)
{
	const struct defer_merge_figures *f;

	self->blind = true;
	sample(self, 10, 7, 3);
	record(self, 11, 7, 3, 0x1000, OURS);
	f = merge(self);
	EXPECT_EQ(1, f->merged);
	EXPECT_EQ(1, f->uncompared);
	EXPECT_EQ(0, f->equal);
	EXPECT_TRUE(adds_up(f));
}

TEST_F(deferred, a_record_without_a_thread_belongs_to_none)
{
	const struct defer_merge_figures *f;

	begin(self, variant->big, true);
	sample(self, 10, 7, 3);
	record(self, 11, 7, 3, 0x1000, OURS);
	f = merge(self);
	EXPECT_EQ(0, f->merged);
	EXPECT_EQ(1, f->no_tid);
	EXPECT_EQ(1, f->orphans);
	EXPECT_EQ(1, f->left);
	EXPECT_TRUE(adds_up(f));
}

/* Threads by the thousand whose records were all lost: nothing grows without bound. */
TEST_F(deferred, what_waits_is_bounded)
{
	struct perf_event_rec rec = { .type = PERF_RECORD_SAMPLE };
	const struct defer_merge_figures *f;

	rec.sample.has_cookie = true;
	for (u32 k = 0; k < DEFER_MERGE_WAITING + 100; k++) {
		rec.tid = k;
		rec.sample.cookie = k + 1;
		ASSERT_EQ(0, defer_merge_sample(self->m, &rec, NULL));
	}
	rec = (struct perf_event_rec){
		.type = PERF_ABI_CALLCHAIN_DEFERRED, .has = PERF_SAMPLE_TID,
	};
	for (u32 k = 0; k < DEFER_MERGE_EARLY + 100; k++) {
		rec.tid = 1000000 + k;
		rec.deferred.cookie = k + 1;
		ASSERT_EQ(0, defer_merge_record(self->m, &rec));
	}
	defer_merge_end(self->m);
	f = defer_merge_figures(self->m);
	EXPECT_EQ(100, f->dropped);
	EXPECT_EQ(DEFER_MERGE_WAITING, f->left);
	EXPECT_EQ(DEFER_MERGE_EARLY + 100, f->orphans);
	EXPECT_TRUE(adds_up(f));
}

TEST_HARNESS_MAIN
