// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferral one call after the other: what each returns, and what it leaves alone.
 */
#include "selftests/lib/deferred_machine.h"

FIXTURE(defer) {
	struct task *t;
};

FIXTURE_SETUP(defer)
{
	memset(&m, 0, sizeof(m));
	ehu_deferred_setup(&m.d, &ops);
	new_task(0, 0);
	self->t = &m.task[0];
}

TEST_F(defer, as_many_requesters_as_bits)
{
	static struct ehu_work work[EHU_MAX_WORKS], extra;
	unsigned long seen = 0;

	EXPECT_EQ(sizeof(long) == 8 ? 62 : 30, EHU_MAX_WORKS);
	for (u32 k = 0; k < EHU_MAX_WORKS; k++) {
		ASSERT_EQ(0, ehu_deferred_init(&m.d, &work[k], callback));
		EXPECT_EQ(0, seen >> work[k].bit & 1);
		seen |= 1UL << work[k].bit;
	}
	EXPECT_EQ(-EBUSY, ehu_deferred_init(&m.d, &extra, callback));
	EXPECT_EQ(-EBUSY, ehu_deferred_init(&m.d, &extra, callback));
	EXPECT_GT(0, extra.bit);
	ehu_deferred_cancel(&m.d, &extra);	/* has no bit: nothing happens */
	ehu_deferred_cancel(&m.d, &work[17]);
	EXPECT_EQ(0, ehu_deferred_init(&m.d, &extra, callback));
	EXPECT_EQ(17, extra.bit);
	EXPECT_EQ(-EBUSY, ehu_deferred_init(&m.d, &work[17], callback));
}

TEST_F(defer, highest_bit_is_told_1)
{
	static struct ehu_work work[EHU_MAX_WORKS];
	u64 cookie;

	for (u32 k = 0; k < EHU_MAX_WORKS; k++)
		ASSERT_EQ(0, ehu_deferred_init(&m.d, &work[k], callback));
	for (u32 k = 0; k < EHU_MAX_WORKS; k++) {
		EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &work[k], &cookie));
		EXPECT_EQ(1, ehu_deferred_request(&m.d, &self->t->info, &work[k], &cookie));
	}
}

TEST_F(defer, kernel_threads_and_exiting_tasks_are_refused)
{
	new_work(0);
	new_task(1, EHU_TASK_KERNEL);
	m.task[1].exiting = true;	/* for ask(): refusal is right */
	EXPECT_EQ(-EINVAL, ask(1, 0));
	leave_mm(0);
	EXPECT_EQ(-EINVAL, ask(0, 0));
	EXPECT_EQ(0, m.nr_called);
	EXPECT_EQ(0, m.nr_walked);
}

static bool in_nmi;

static bool op_in_nmi(struct ehu_deferred *d TH_UNUSED)
{
	return in_nmi;
}

TEST_F(defer, no_request_in_an_nmi_where_that_is_unsafe)
{
	struct ehu_deferred_ops unsafe = ops;
	u64 cookie = 5;

	unsafe.nmi_safe = false;
	unsafe.in_nmi = op_in_nmi;
	m.d.ops = &unsafe;
	new_work(0);
	in_nmi = true;
	EXPECT_EQ(-EINVAL, ehu_deferred_request(&m.d, &self->t->info, &m.req[0].work, &cookie));
	EXPECT_EQ(0, cookie);
	EXPECT_EQ(0, self->t->info.mask);
	in_nmi = false;
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &m.req[0].work, &cookie));
}

TEST_F(defer, cancelled_requester_is_refused)
{
	new_work(0);
	cancel_work(0);
	EXPECT_EQ(-EINVAL, ask(0, 0));
	ehu_deferred_cancel(&m.d, &m.req[0].work);	/* again: nothing happens */
	EXPECT_EQ(0, m.d.used);
}

TEST_F(defer, cookie_is_cpu_plus_1_and_an_odd_count)
{
	u64 cookie, last = 0;

	new_work(0);
	for (int k = 0; k < 100; k++) {
		self->t->cpu = (u32)k & 1;
		EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &m.req[0].work, &cookie));
		EXPECT_EQ((u32)(k & 1) + 1, (u32)cookie);
		EXPECT_EQ((u32)(k / 2) * 2 + 3, cookie >> 32);
		EXPECT_NE(last, cookie);
		last = cookie;
		self->t->window = cookie;
		leave_kernel(0);
	}
}

TEST_F(defer, count_wraps_past_0)
{
	u64 cookie;

	new_work(0);
	m.counter[0] = 0xffffffff;
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &m.req[0].work, &cookie));
	EXPECT_EQ(1, cookie >> 32);
	self->t->window = cookie;
	leave_kernel(0);
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &m.req[0].work, &cookie));
	EXPECT_EQ(3, cookie >> 32);
}

TEST_F(defer, one_walk_an_entry_whoever_asks)
{
	two_works();
	EXPECT_EQ(0, ask(0, 0));
	EXPECT_EQ(1, ask(0, 0));
	EXPECT_EQ(0, ask(0, 1));
	ehu_deferred_work(&m.d, &self->t->info);
	self->t->scheduled = false;
	EXPECT_EQ(1, m.nr_walked);
	EXPECT_EQ(2, m.nr_called);
	EXPECT_EQ(1, ask(0, 0));	/* has run */
	new_work(2);
	EXPECT_EQ(0, ask(0, 2));
	leave_kernel(0);
	EXPECT_EQ(1, m.nr_walked);
	EXPECT_EQ(3, m.nr_called);
	EXPECT_EQ(0, ask(0, 0));	/* the next entry */
	leave_kernel(0);
	EXPECT_EQ(2, m.nr_walked);
	EXPECT_EQ(4, m.nr_called);
	check_run();
}

/* What is not there is not pending: a return to user space costs nothing. */
TEST_F(defer, nothing_asked_nothing_done)
{
	new_work(0);
	ehu_deferred_work(&m.d, &self->t->info);
	EXPECT_TRUE(ehu_deferred_return_to_user(&self->t->info));
	EXPECT_EQ(0, m.nr_walked);
	EXPECT_EQ(0, m.nr_called);
}

TEST_F(defer, no_walk_when_all_have_cancelled)
{
	new_work(0);
	EXPECT_EQ(0, ask(0, 0));
	cancel_work(0);
	leave_kernel(0);
	EXPECT_EQ(0, m.nr_walked);
	EXPECT_EQ(0, m.nr_called);
}

static u32 empty_calls;
static enum ehf_stop empty_stop;

static void empty_callback(struct ehu_work *work TH_UNUSED, const struct ehu_trace *trace,
			   u64 cookie)
{
	EXPECT_NE(0, cookie);
	EXPECT_EQ(0, trace->nr);
	empty_stop = trace->stop;
	empty_calls++;
}

static void op_walk_nothing(struct ehu_deferred *d TH_UNUSED,
			    struct ehu_task_info *info TH_UNUSED, struct ehu_trace *trace)
{
	trace->stop = EHF_STOP_MEMORY;
}

TEST_F(defer, callback_comes_with_an_empty_trace)
{
	struct ehu_deferred_ops nothing = ops;
	struct ehu_work work;
	u64 cookie;

	/* No storage. */
	self->t->info.cache = NULL;
	ASSERT_EQ(0, ehu_deferred_init(&m.d, &work, empty_callback));
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &work, &cookie));
	self->t->window = cookie;
	leave_kernel(0);
	EXPECT_EQ(1, empty_calls);
	EXPECT_EQ(EHF_STOP_TRACE_FULL, empty_stop);

	/* Nothing found. */
	nothing.walk = op_walk_nothing;
	m.d.ops = &nothing;
	self->t->info.cache = &self->t->cache;
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &work, &cookie));
	self->t->window = cookie;
	leave_kernel(0);
	EXPECT_EQ(2, empty_calls);
	EXPECT_EQ(EHF_STOP_MEMORY, empty_stop);
}

static struct ehu_cache late_cache;
static u32 cache_asked;

static struct ehu_cache *op_cache(struct ehu_deferred *d TH_UNUSED,
				  struct ehu_task_info *info TH_UNUSED)
{
	return cache_asked++ ? &late_cache : NULL;
}

/* Out of memory once: that trace is empty, the next one is not. */
TEST_F(defer, storage_comes_late)
{
	struct ehu_deferred_ops late = ops;
	struct ehu_work work;
	u64 cookie;

	late.cache = op_cache;
	m.d.ops = &late;
	self->t->info.cache = NULL;
	ASSERT_EQ(0, ehu_deferred_init(&m.d, &work, empty_callback));
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &work, &cookie));
	self->t->window = cookie;
	leave_kernel(0);
	EXPECT_EQ(1, empty_calls);
	new_work(0);
	EXPECT_EQ(0, ask(0, 0));
	leave_kernel(0);
	EXPECT_EQ(1, m.nr_called);
	EXPECT_EQ(2, cache_asked);
	EXPECT_TRUE(self->t->info.cache == &late_cache);
}

TEST_F(defer, exit_does_what_is_pending_before_the_mm_goes)
{
	two_works();
	ask(0, 0);
	ask(0, 1);
	leave_mm(0);
	EXPECT_EQ(1, m.nr_walked);
	EXPECT_EQ(2, m.nr_called);
	EXPECT_EQ(-EINVAL, ask(0, 1));
	check_run();
}

/* A stack that never ends fills the cache, and no more. */
static void op_walk_forever(struct ehu_deferred *d TH_UNUSED,
			    struct ehu_task_info *info TH_UNUSED, struct ehu_trace *trace)
{
	while (trace->nr < trace->max)
		trace->entry[trace->nr++].ip = 1;
	trace->stop = EHF_STOP_TRACE_FULL;
}

static u32 full_nr;

static void full_callback(struct ehu_work *work TH_UNUSED, const struct ehu_trace *trace,
			  u64 cookie TH_UNUSED)
{
	full_nr = trace->nr;
}

TEST_F(defer, a_trace_has_510_entries)
{
	struct ehu_deferred_ops forever = ops;
	struct ehu_work work;
	u64 cookie;

	forever.walk = op_walk_forever;
	m.d.ops = &forever;
	ASSERT_EQ(0, ehu_deferred_init(&m.d, &work, full_callback));
	EXPECT_EQ(0, ehu_deferred_request(&m.d, &self->t->info, &work, &cookie));
	ehu_deferred_work(&m.d, &self->t->info);
	EXPECT_EQ(510, full_nr);
}

TEST_HARNESS_MAIN
