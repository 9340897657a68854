// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferral on a simulated machine of two CPUs: every point at which an NMI can arrive or the
 * other CPU can get in between is tried, up to a number of such events in one run.
 *
 * The file under test is compiled into this program, with a hook before each of its atomic
 * operations. Kernel code of each CPU is a coroutine. The hook asks choose() what happens there:
 * nothing, an NMI with a request, or the other CPU; choose() goes through all answers.
 */
#include "selftests/kselftest_harness.h"

#include <ucontext.h>

static void step(void);
#define EHU_STEP() step()
#include "unwind/deferred.c"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

enum { NR_CPUS = 2, NR_TASKS = 3, NR_WORKS = 3, STACK = 256 * 1024, MAX_LOG = 256, MAX_PATH = 4096 };

struct task {
	struct ehu_task_info info;
	struct ehu_cache cache;
	u32 cpu;
	bool there;		/* for_each_task sees it */
	bool scheduled;		/* ehu_deferred_work() will be called */
	bool exiting;
	bool mm_gone;
	bool in_reset;		/* inside ehu_deferred_return_to_user() */
	u64 window;		/* cookie of this entry context, 0 before the first request */
	u64 late;		/* cookie of the next one, taken inside in_reset */
};

struct requester {
	struct ehu_work work;	/* first: a callback finds the rest from it */
	bool asked_in;		/* init has returned */
	bool cancel_begun;
	bool dead;		/* cancel has returned */
};

struct event {
	int task, work;
	u64 cookie;
	int ret;
};

struct cpu {
	ucontext_t ctx;
	char *stack;
	void (*script)(void);
	bool done;
	bool blocked;
};

/* What choose() has said so far in this run, and how many answers there were. */
static struct {
	int answer[MAX_PATH];
	int nr_answers[MAX_PATH];
	int len, pos;
	int budget;
} path;

/* Sums over all runs. */
static struct {
	unsigned long runs, steps, nmis, switches, requests, refused, walks, callbacks, cookies;
	unsigned long cancels;
} sum;

static struct machine {
	struct ehu_deferred d;		/* first: ops find the rest from it */
	struct task task[NR_TASKS];
	struct requester req[NR_WORKS];
	u32 counter[NR_CPUS];
	struct cpu cpu[NR_CPUS];
	int now;			/* CPU that runs */
	bool on;			/* step() does something */
	int nmi_depth, max_nmi_depth;
	int nmi_works;			/* requesters 0 .. this - 1 ask in NMIs */
	bool locked;
	u32 readers[16];		/* serials of open reader sections; 0: free */
	u32 serial;
	struct event asked[MAX_LOG], called[MAX_LOG], walked[MAX_LOG];
	int nr_asked, nr_called, nr_walked;
	u64 retired[MAX_LOG];
	int nr_retired;
	ucontext_t main;
} m;

static int choose(int n)
{
	if (n == 1)
		return 0;
	if (path.pos == path.len) {
		if (path.len == MAX_PATH)
			abort();
		path.answer[path.len] = 0;
		path.nr_answers[path.len++] = n;
	}
	return path.answer[path.pos++];
}

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

/* ---- two CPUs ---- */

static void run_other(void)
{
	int from = m.now, to = 1 - from;
	int depth = m.nmi_depth;

	m.now = to;
	m.nmi_depth = 0;
	swapcontext(&m.cpu[from].ctx, &m.cpu[to].ctx);
	m.now = from;
	m.nmi_depth = depth;
}

static bool other_can_run(void)
{
	return m.cpu[1 - m.now].script && !m.cpu[1 - m.now].done && !m.cpu[1 - m.now].blocked;
}

/* Waits for the other CPU to do something. The other one may wait, too, for a moment only. */
static void wait_other(void)
{
	static int spins;

	EXPECT_TRUE(m.cpu[1 - m.now].script && !m.cpu[1 - m.now].done && spins < 1000) {
		TH_LOG("CPU %d waits for ever", m.now);
		_exit(1);
	}
	spins++;
	m.cpu[m.now].blocked = true;
	run_other();
	m.cpu[m.now].blocked = false;
	spins = 0;
}

static void cpu_main(void)
{
	struct cpu *c = &m.cpu[m.now];

	c->script();
	c->done = true;
	/* Nobody waits for a CPU that is done; the other one goes on, or all is over. */
	if (m.cpu[1 - m.now].script && !m.cpu[1 - m.now].done)
		run_other();
	setcontext(&m.main);
}

/* ---- requests ---- */

static bool is_retired(u64 cookie)
{
	for (int k = 0; k < m.nr_retired; k++)
		if (m.retired[k] == cookie)
			return true;
	return false;
}

static void note(struct event *log, int *nr, int task, int work, u64 cookie, int ret)
{
	if (*nr == MAX_LOG)
		abort();
	log[(*nr)++] = (struct event){ task, work, cookie, ret };
}

/* One cookie from the first request of an entry context to its end, and never again. */
static void check_cookie(struct task *t, u64 cookie)
{
	EXPECT_NE(0, cookie);
	EXPECT_NE(0, (u32)cookie);
	EXPECT_EQ(1, cookie >> 32 & 1);
	EXPECT_FALSE(is_retired(cookie));
	if (!t->window)
		t->window = cookie;
	else if (t->in_reset && cookie != t->window && !t->late)
		t->late = cookie;
	else if (t->late)
		EXPECT_EQ(t->late, cookie);
	else
		EXPECT_EQ(t->window, cookie);
}

static int ask(int task, int work)
{
	struct task *t = &m.task[task];
	struct requester *r = &m.req[work];
	bool cancelled = r->cancel_begun;
	u64 cookie = 1;
	int ret;

	ret = ehu_deferred_request(&m.d, &t->info, &r->work, &cookie);
	if (ret < 0) {
		EXPECT_EQ(-EINVAL, ret);
		EXPECT_EQ(0, cookie);
		EXPECT_TRUE(t->exiting || r->cancel_begun);
		sum.refused++;
		return ret;
	}
	EXPECT_TRUE(ret == 0 || ret == 1);
	EXPECT_FALSE(cancelled && r->dead);
	check_cookie(t, cookie);
	note(m.asked, &m.nr_asked, task, work, cookie, ret);
	sum.requests++;
	return ret;
}

/* The task that runs on a CPU is the one of that number. */
static void nmi(int work)
{
	m.nmi_depth++;
	sum.nmis++;
	ask(m.now, work);
	m.nmi_depth--;
}

static void step(void)
{
	int n = 1, kinds = 0, k;

	if (!m.on)
		return;
	sum.steps++;
	if (!path.budget)
		return;
	if (m.nmi_depth < m.max_nmi_depth && m.task[m.now].there)
		for (k = 0; k < m.nmi_works; k++)
			kinds += m.req[k].asked_in && !m.req[k].dead;
	n += kinds + other_can_run();
	k = choose(n);
	if (!k)
		return;
	path.budget--;
	if (k > kinds) {
		sum.switches++;
		run_other();
		return;
	}
	for (int w = 0; w < m.nmi_works; w++) {
		if (m.req[w].asked_in && !m.req[w].dead && !--k) {
			nmi(w);
			return;
		}
	}
}

/* ---- what a kernel provides ---- */

static u32 op_cpu(struct ehu_deferred *d TH_UNUSED)
{
	return m.task[m.now].cpu;
}

static u32 *op_counter(struct ehu_deferred *d TH_UNUSED, u32 cpu)
{
	return &m.counter[cpu];
}

static struct task *task_of(struct ehu_task_info *info)
{
	return (struct task *)(void *)info;
}

static void op_schedule(struct ehu_deferred *d TH_UNUSED, struct ehu_task_info *info)
{
	EXPECT_FALSE(task_of(info)->scheduled);
	task_of(info)->scheduled = true;
	step();
}

static void op_unschedule(struct ehu_deferred *d TH_UNUSED, struct ehu_task_info *info)
{
	task_of(info)->scheduled = false;
}

static u32 op_read_lock(struct ehu_deferred *d TH_UNUSED)
{
	u32 key = ++m.serial;
	int k = 0;

	while (m.readers[k])
		if (++k == 16)
			abort();
	m.readers[k] = key;
	step();
	return key;
}

static void op_read_unlock(struct ehu_deferred *d TH_UNUSED, u32 key)
{
	step();
	for (int k = 0; k < 16; k++)
		if (m.readers[k] == key)
			m.readers[k] = 0;
}

static bool readers_before(u32 serial)
{
	for (int k = 0; k < 16; k++)
		if (m.readers[k] && m.readers[k] <= serial)
			return true;
	return false;
}

static void op_synchronize(struct ehu_deferred *d TH_UNUSED)
{
	u32 serial = m.serial;

	step();
	while (readers_before(serial))
		wait_other();
	step();
}

static void op_lock(struct ehu_deferred *d TH_UNUSED)
{
	step();
	while (m.locked)
		wait_other();
	m.locked = true;
}

static void op_unlock(struct ehu_deferred *d TH_UNUSED)
{
	m.locked = false;
	step();
}

static void op_for_each_task(struct ehu_deferred *d TH_UNUSED,
			     void (*fn)(struct ehu_task_info *info, void *arg), void *arg)
{
	for (int k = 0; k < NR_TASKS; k++)
		if (m.task[k].there)
			fn(&m.task[k].info, arg);
}

static void op_walk(struct ehu_deferred *d TH_UNUSED, struct ehu_task_info *info,
		    struct ehu_trace *trace)
{
	struct task *t = task_of(info);
	u64 cookie = (u64)info->cnt << 32 | info->cpu;

	EXPECT_FALSE(t->mm_gone);
	EXPECT_EQ(EHU_MAX_ENTRIES, trace->max);
	EXPECT_EQ(0, trace->nr);
	step();
	trace->entry[0].ip = (u64)m.nr_walked;
	trace->nr = 1;
	trace->stop = EHF_STOP_RA_UNDEFINED;
	note(m.walked, &m.nr_walked, (int)(t - m.task), 0, cookie, 0);
	sum.walks++;
	step();
}

static const struct ehu_deferred_ops ops = {
	.nmi_safe	= true,
	.cpu		= op_cpu,
	.counter	= op_counter,
	.schedule	= op_schedule,
	.unschedule	= op_unschedule,
	.read_lock	= op_read_lock,
	.read_unlock	= op_read_unlock,
	.synchronize	= op_synchronize,
	.lock		= op_lock,
	.unlock		= op_unlock,
	.for_each_task	= op_for_each_task,
	.walk		= op_walk,
};

static void callback(struct ehu_work *work, const struct ehu_trace *trace, u64 cookie)
{
	struct requester *r = (struct requester *)(void *)work;

	EXPECT_FALSE(r->dead);
	EXPECT_EQ(1, trace->nr);
	if (trace->nr == 1) {
		struct event *w = &m.walked[trace->entry[0].ip];

		EXPECT_EQ(cookie, w->cookie);
		EXPECT_EQ(m.now, w->task);
	}
	note(m.called, &m.nr_called, m.now, (int)(r - m.req), cookie, 0);
	sum.callbacks++;
	step();
}

/* ---- what the kernel of a task does ---- */

static void new_task(int k, u32 flags)
{
	ehu_deferred_task_init(&m.task[k].info, flags);
	m.task[k].info.cache = &m.task[k].cache;
	m.task[k].cpu = (u32)k % NR_CPUS;
	m.task[k].there = true;
}

static void new_work(int k)
{
	EXPECT_EQ(0, ehu_deferred_init(&m.d, &m.req[k].work, callback));
	m.req[k].asked_in = true;
}

static void leave_kernel(int k)
{
	struct task *t = &m.task[k];
	bool go;

	do {
		step();
		if (t->scheduled) {
			t->scheduled = false;
			ehu_deferred_work(&m.d, &t->info);
		}
		t->in_reset = true;
		go = ehu_deferred_return_to_user(&t->info);
		t->in_reset = false;
		/* Pending without a call to come would never be done. */
		EXPECT_TRUE(go || t->scheduled);
		if ((go && t->window) || t->late) {
			m.retired[m.nr_retired++] = t->window;
			t->window = t->late;
			t->late = 0;
		}
	} while (!go);
	step();	/* in user space */
}

static void leave_mm(int k)
{
	struct task *t = &m.task[k];

	t->exiting = true;	/* a request may be refused from here on */
	ehu_deferred_task_exit(&m.d, &t->info);
	EXPECT_EQ(0, t->info.mask & EHU_PENDING);
	EXPECT_FALSE(t->scheduled);
	t->mm_gone = true;
	step();
	EXPECT_EQ(-EINVAL, ask(k, 0));
}

static void cancel_work(int k)
{
	unsigned long bit = 1UL << m.req[k].work.bit;

	m.req[k].cancel_begun = true;
	ehu_deferred_cancel(&m.d, &m.req[k].work);
	m.req[k].dead = true;
	sum.cancels++;
	/* The next owner may have it already, but only if it is there. */
	for (int t = 0; t < NR_TASKS && !(m.d.used & bit); t++)
		EXPECT_EQ(0, (m.task[t].info.mask | m.task[t].info.done) & bit);
}

/* ---- what must hold when all tasks are gone ---- */

static int count(const struct event *log, int nr, const struct event *e, int ret)
{
	int n = 0;

	for (int k = 0; k < nr; k++)
		n += log[k].task == e->task && log[k].work == e->work &&
		     log[k].cookie == e->cookie && (ret < 0 || log[k].ret == ret);
	return n;
}

static void check_run(void)
{
	u64 seen[MAX_LOG];
	int nr = 0, k, n;

	for (k = 0; k < m.nr_asked; k++) {
		const struct event *e = &m.asked[k];
		int queued = count(m.asked, m.nr_asked, e, 0);
		int calls = count(m.called, m.nr_called, e, -1);

		if (m.req[e->work].cancel_begun)
			EXPECT_LE(calls, 1);
		else
			EXPECT_EQ(1, calls);
		EXPECT_EQ(1, queued);	/* one is told 0, the others 1 */
		for (n = 0; n < nr && seen[n] != e->cookie; n++)
			;
		if (n == nr)
			seen[nr++] = e->cookie;
		for (n = 0; n < k; n++)
			if (m.asked[n].cookie == e->cookie)
				EXPECT_EQ(m.asked[n].task, e->task);
	}
	sum.cookies += (unsigned long)nr;
	for (k = 0; k < m.nr_called; k++)
		EXPECT_LE(1, count(m.asked, m.nr_asked, &m.called[k], -1));
	for (k = 0; k < m.nr_walked; k++) {
		EXPECT_EQ(1, count(m.walked, m.nr_walked, &m.walked[k], -1));
		for (n = 0; n < nr && seen[n] != m.walked[k].cookie; n++)
			;
		EXPECT_LT(n, nr);
	}
	for (k = 0; k < 16; k++)
		EXPECT_EQ(0, m.readers[k]);
	EXPECT_FALSE(m.locked);
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
	char *stack[NR_CPUS];

	for (int k = 0; k < NR_CPUS; k++)
		stack[k] = m.cpu[k].stack ? m.cpu[k].stack : malloc(STACK);
	memset(&m, 0, sizeof(m));
	ehu_deferred_setup(&m.d, &ops);
	m.max_nmi_depth = s->nmi_depth;
	m.nmi_works = s->nmi_works;
	s->setup();
	for (int k = 0; k < NR_CPUS; k++) {
		struct cpu *c = &m.cpu[k];

		c->stack = stack[k];
		c->script = k ? s->cpu1 : s->cpu0;
		if (!c->script)
			continue;
		getcontext(&c->ctx);
		c->ctx.uc_stack.ss_sp = c->stack;
		c->ctx.uc_stack.ss_size = STACK;
		c->ctx.uc_link = NULL;
		makecontext(&c->ctx, cpu_main, 0);
	}
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
		swapcontext(&m.main, &m.cpu[0].ctx);
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
		free(m.cpu[k].stack);
}

/* ---- scenarios ---- */

static void two_works(void)
{
	new_task(0, 0);
	new_task(1, 0);
	new_work(0);
	new_work(1);
}

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

TEST_TIMEOUT(nmi_at_every_step_of_a_life, 120)
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

TEST_TIMEOUT(nmi_at_every_step_of_a_quiet_life, 120)
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

TEST_TIMEOUT(two_tasks, 120)
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

TEST_TIMEOUT(cancel_while_pending, 120)
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

TEST_TIMEOUT(init_during_cancel, 120)
{
	explore(&(struct scenario){ "init during cancel", task_on_0, init_meanwhile, cancel_0,
				    3, 1, 2 });
}

/* As before, but NMIs are the only ones that ask. */
TEST_TIMEOUT(cancel_against_nmis, 120)
{
	explore(&(struct scenario){ "cancel against NMIs", task_on_0, quiet_life, cancel_and_init,
				    3, 2, 3 });
}

static void two_cancels(void)
{
	cancel_work(1);
	cancel_work(0);
}

TEST_TIMEOUT(exit_while_others_cancel, 120)
{
	explore(&(struct scenario){ "cancel at exit", two_works, short_life, two_cancels, 2, 1, 2 });
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

TEST_TIMEOUT(fork_starts_empty, 120)
{
	explore(&(struct scenario){ "fork", two_works, fork_pending, two_cancels, 2, 1, 2 });
	for (int k = 0; k < m.nr_called; k++)
		EXPECT_NE(2, m.called[k].task);
}

/* ---- one thing at a time ---- */

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
