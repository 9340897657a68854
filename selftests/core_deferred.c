// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferral on a simulated machine: every point at which an NMI can arrive or the other CPU can get
 * in between is tried, up to a number of such events in one run.
 */
#include "selftests/lib/deferred_machine.h"

/* The test itself: before a run and after it. */
static struct coroutine main_co;

/* The next run: the last answer that can be another one is. */
static bool next_path(void)
{
	while (path.len && path.answer[path.len - 1] + 1 == path.nr_answers[path.len - 1])
		path.len--;
	if (!path.len)
		return false;
	path.answer[path.len - 1]++;
	return true;
}

/* Nobody waits for a CPU that is done; the other one goes on, or all is over. */
static struct coroutine *cpu_main(void)
{
	m.cpu[m.now].script();
	m.cpu[m.now].done = true;
	if (!m.cpu[1 - m.now].script || m.cpu[1 - m.now].done)
		return &main_co;
	m.now = 1 - m.now;
	m.nmi_depth = 0;
	return &cpu_co[m.now];
}

static void print_sums(const char *name)
{
	TH_LOG("%s: %lu runs, %lu steps, %lu NMIs, %lu switches; %lu requests, %lu refused, "
	       "%lu walks, %lu callbacks, %lu cookies, %lu cancels", name, sum.runs, sum.steps,
	       sum.nmis, sum.switches, sum.requests, sum.refused, sum.walks, sum.callbacks,
	       sum.cookies, sum.cancels);
}

struct scenario {
	const char *name;
	void (*setup)(void);
	void (*cpu0)(void);
	void (*cpu1)(void);
	int nmi_works, nmi_depth, budget;
};

static void reset_machine(const struct scenario *s)
{
	memset(&m, 0, sizeof(m));
	ehu_deferred_setup(&m.d, &ops);
	m.max_nmi_depth = s->nmi_depth;
	m.nmi_works = s->nmi_works;
	s->setup();
	m.cpu[0].script = s->cpu0;
	m.cpu[1].script = s->cpu1;
	for (int k = 0; k < NR_CPUS; k++)
		if (m.cpu[k].script)
			ASSERT_TRUE(co_start(&cpu_co[k], cpu_main));
}

/* All runs with at most @budget events. EHU_STRESS adds to it. */
static void explore(const struct scenario *s)
{
	const char *more = getenv("EHU_STRESS");

#ifdef __SANITIZE_THREAD__
	SKIP(return, "coroutines of one thread are nothing to TSan");
#endif
	path.len = 0;
	do {
		path.pos = 0;
		path.budget = s->budget + (more ? atoi(more) : 0);
		reset_machine(s);
		m.on = true;
		co_switch(&main_co, &cpu_co[0]);
		m.on = false;
		check_run();
		sum.runs++;
		if (_metadata->failed) {
			TH_LOG("after %lu runs; %d answers:", sum.runs, path.pos);
			for (int k = 0; k < path.pos; k++)
				if (path.answer[k])
					TH_LOG("  at %d: %d of %d", k, path.answer[k],
					       path.nr_answers[k]);
			break;
		}
	} while (next_path());
	print_sums(s->name);
	EXPECT_LT(0, sum.callbacks);
	EXPECT_LT(0, sum.nmis);
	for (int k = 0; k < NR_CPUS; k++)
		co_free(&cpu_co[k]);
}

/* ---- scenarios ---- */

/* Two entry contexts with a request of their own, the second on another CPU; then exit. */
static void life(void)
{
	step();
	ask(0, 0);
	leave_kernel(0);
	m.task[0].cpu = 1;
	step();
	leave_kernel(0);
	leave_mm(0);
}

TEST_TIMEOUT(nmi_at_every_step_of_a_life, 300)
{
	explore(&(struct scenario){ "life", two_works, life, NULL, 2, 2, 2 });
}

/* Nobody but NMIs asks. */
static void quiet_life(void)
{
	step();
	leave_kernel(0);
	leave_kernel(0);
	leave_mm(0);
}

TEST_TIMEOUT(nmi_at_every_step_of_a_quiet_life, 300)
{
	explore(&(struct scenario){ "quiet life", two_works, quiet_life, NULL, 2, 2, 3 });
}

static void short_life(void)
{
	ask(0, 0);
	leave_kernel(0);
	leave_mm(0);
}

static void other_life(void)
{
	ask(1, 1);
	leave_kernel(1);
	leave_mm(1);
}

TEST_TIMEOUT(two_tasks, 300)
{
	explore(&(struct scenario){ "two tasks", two_works, short_life, other_life, 2, 1, 2 });
}

/* The requester goes while its requests are pending, and another one takes its bit. */
static void cancel_and_init(void)
{
	cancel_work(0);
	new_work(2);
	EXPECT_EQ(0, m.req[2].work.bit);
}

static void task_on_0(void)
{
	new_task(0, 0);
	new_work(0);
}

static void two_entries(void)
{
	ask(0, 0);
	leave_kernel(0);
	if (m.req[2].asked_in)
		ask(0, 2);
	leave_kernel(0);
	leave_mm(0);
}

TEST_TIMEOUT(cancel_while_pending, 300)
{
	explore(&(struct scenario){ "cancel", task_on_0, two_entries, cancel_and_init, 3, 1, 3 });
}

/* The bit must not be given out while a cancel has yet to clear it in the tasks. */
static void init_meanwhile(void)
{
	ask(0, 0);
	new_work(2);
	ask(0, 2);
	leave_kernel(0);
	leave_mm(0);
}

static void cancel_0(void)
{
	cancel_work(0);
}

TEST_TIMEOUT(init_during_cancel, 300)
{
	explore(&(struct scenario){ "init during cancel", task_on_0, init_meanwhile, cancel_0,
				    3, 1, 2 });
}

/* As before, but NMIs are the only ones that ask. */
TEST_TIMEOUT(cancel_against_nmis, 300)
{
	explore(&(struct scenario){ "cancel against NMIs", task_on_0, quiet_life, cancel_and_init,
				    3, 2, 3 });
}

static void two_cancels(void)
{
	cancel_work(1);
	cancel_work(0);
}

TEST_TIMEOUT(exit_while_others_cancel, 300)
{
	explore(&(struct scenario){ "cancel at exit", two_works, short_life, two_cancels,
				    2, 1, 2 });
}

/* The parent has asked, and may go on asking, while its info is copied. */
static void fork_pending(void)
{
	ask(0, 0);
	m.task[2] = m.task[0];
	step();
	new_task(2, 0);
	m.task[2].scheduled = false;
	EXPECT_EQ(0, m.task[2].info.mask | m.task[2].info.done);
	EXPECT_EQ(0, m.task[2].info.cnt | m.task[2].info.cpu);
	step();
	leave_kernel(0);
	leave_mm(0);
	/* The child leaves without a callback. */
	ehu_deferred_work(&m.d, &m.task[2].info);
	EXPECT_TRUE(ehu_deferred_return_to_user(&m.task[2].info));
}

TEST_TIMEOUT(fork_starts_empty, 300)
{
	explore(&(struct scenario){ "fork", two_works, fork_pending, two_cancels, 2, 1, 2 });
	for (int k = 0; k < m.nr_called; k++)
		EXPECT_NE(2, m.called[k].task);
}

TEST_HARNESS_MAIN
