/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A simulated machine of two CPUs that defers walks: what a kernel provides, requests, and what
 * must hold of them when all is over.
 *
 * The file under test is compiled into the program, with a hook before each of its atomic
 * operations. Kernel code of each CPU is a coroutine. The hook asks choose() what happens there:
 * nothing, an NMI with a request, or the other CPU.
 */
#ifndef SELFTESTS_LIB_DEFERRED_MACHINE_H
#define SELFTESTS_LIB_DEFERRED_MACHINE_H

#include "selftests/kselftest_harness.h"
#include "selftests/lib/coroutine.h"

static void step(void);
#define EHU_STEP() step()
#include "unwind/deferred.c"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

enum { NR_CPUS = 2, NR_TASKS = 3, NR_WORKS = 3 };
enum { MAX_LOG = 256, MAX_PATH = 4096 };

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
} m;

static struct coroutine cpu_co[NR_CPUS];

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

/* ---- two CPUs ---- */

static void run_other(void)
{
	int from = m.now, to = 1 - from;
	int depth = m.nmi_depth;

	m.now = to;
	m.nmi_depth = 0;
	co_switch(&cpu_co[from], &cpu_co[to]);
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
		abort();
	}
	spins++;
	m.cpu[m.now].blocked = true;
	run_other();
	m.cpu[m.now].blocked = false;
	spins = 0;
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

static void two_works(void)
{
	new_task(0, 0);
	new_task(1, 0);
	new_work(0);
	new_work(1);
}

#endif /* SELFTESTS_LIB_DEFERRED_MACHINE_H */
