// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferral on real threads: each is a task on a CPU of its own, timers interrupt it as NMIs do,
 * tasks exit and are born, and a requester comes and goes.
 *
 * EHU_STRESS_SECONDS: how long (2).
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/srcu.h"

#include <sys/syscall.h>

#include "unwind/deferred.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { NR_TASKS = 4, NR_FIXED = 2, CANCELLER = NR_TASKS };

/* A requester that says when it may not be called any more. */
struct requester {
	struct ehu_work work;	/* first */
	int index;
	unsigned int dead;
};

/*
 * A task. All but info is used by its own thread alone, and by the handler that interrupts it:
 * volatile tells the compiler so.
 */
struct task {
	struct ehu_task_info info;	/* first */
	struct ehu_cache cache;
	int cpu;
	volatile int scheduled, mm_gone;
	volatile unsigned long asked, queued[NR_FIXED], called[NR_FIXED];
	volatile unsigned long told_1, refused, walks, nmis, temp_queued, temp_called, entries;
	volatile unsigned long cookies, lives;
	volatile u64 last_cookie, called_cookie[NR_FIXED], walked_cookie, walk_nr;
	volatile unsigned int errors;
};

static struct srcu srcu = SRCU_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, task_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct task tasks[NR_TASKS];
static struct ehu_task_info *alive[NR_TASKS];	/* under task_mutex */
static struct { u32 count; char pad[60]; } cpus[NR_TASKS];
static struct requester fixed[NR_FIXED];
static struct requester *temp;
static struct ehu_deferred machine;
static int stop;
static __thread struct task *current __attribute__((tls_model("initial-exec")));
static __thread int me __attribute__((tls_model("initial-exec")));

/* A handler may count in between. */
#define INC(n) __atomic_fetch_add(&(n), 1, __ATOMIC_RELAXED)

#define WRONG(t, cond) ((cond) ? (void)(INC((t)->errors), wrong(#cond, __LINE__)) : (void)0)

/* Also in handlers: one write(). */
static void wrong(const char *what, int line)
{
	char buf[128];
	int len = snprintf(buf, sizeof(buf), "# line %d: %s\n", line, what);

	if (write(STDERR_FILENO, buf, (size_t)len) < 0)
		_exit(1);
}

static u32 op_cpu(struct ehu_deferred *d TH_UNUSED)
{
	return (u32)current->cpu;
}

static u32 *op_counter(struct ehu_deferred *d TH_UNUSED, u32 cpu)
{
	return &cpus[cpu].count;
}

static void op_schedule(struct ehu_deferred *d TH_UNUSED, struct ehu_task_info *info)
{
	struct task *t = (struct task *)(void *)info;

	WRONG(t, t->scheduled);
	WRONG(t, t != current);
	t->scheduled = 1;
}

static void op_unschedule(struct ehu_deferred *d TH_UNUSED, struct ehu_task_info *info)
{
	((struct task *)(void *)info)->scheduled = 0;
}

static u32 op_read_lock(struct ehu_deferred *d TH_UNUSED)
{
	return srcu_enter(&srcu, me);
}

static void op_read_unlock(struct ehu_deferred *d TH_UNUSED, u32 key)
{
	srcu_leave(&srcu, me, key);
}

static void op_synchronize(struct ehu_deferred *d TH_UNUSED)
{
	srcu_synchronize(&srcu);
}

static void op_lock(struct ehu_deferred *d TH_UNUSED)
{
	pthread_mutex_lock(&mutex);
}

static void op_unlock(struct ehu_deferred *d TH_UNUSED)
{
	pthread_mutex_unlock(&mutex);
}

static void op_for_each_task(struct ehu_deferred *d TH_UNUSED,
			     void (*fn)(struct ehu_task_info *info, void *arg), void *arg)
{
	pthread_mutex_lock(&task_mutex);
	for (int k = 0; k < NR_TASKS; k++)
		if (alive[k])
			fn(alive[k], arg);
	pthread_mutex_unlock(&task_mutex);
}

static void spin(unsigned int n)
{
	for (volatile unsigned int k = 0; k < n; k++)
		;
}

static void op_walk(struct ehu_deferred *d TH_UNUSED, struct ehu_task_info *info,
		    struct ehu_trace *trace)
{
	struct task *t = (struct task *)(void *)info;
	u64 cookie = (u64)__atomic_load_n(&info->cnt, __ATOMIC_RELAXED) << 32 |
		     __atomic_load_n(&info->cpu, __ATOMIC_RELAXED);

	WRONG(t, t->mm_gone);
	WRONG(t, cookie == t->walked_cookie);	/* one walk an entry */
	WRONG(t, trace->nr);
	t->walked_cookie = cookie;
	INC(t->walks);
	trace->entry[0].ip = ++t->walk_nr;
	spin(300);
	trace->nr = 1;
}

static void op_callback(struct ehu_work *work, const struct ehu_trace *trace, u64 cookie)
{
	struct requester *r = (struct requester *)(void *)work;
	struct task *t = current;

	WRONG(t, __atomic_load_n(&r->dead, __ATOMIC_SEQ_CST));
	WRONG(t, trace->nr != 1 || trace->entry[0].ip != t->walk_nr);
	WRONG(t, cookie != t->walked_cookie);
	if (r->index < NR_FIXED) {
		WRONG(t, t->called_cookie[r->index] == cookie);
		t->called_cookie[r->index] = cookie;
		INC(t->called[r->index]);
	} else {
		INC(t->temp_called);
	}
	spin(100);
}

static const struct ehu_deferred_ops ops = {
	.nmi_safe = true, .cpu = op_cpu, .counter = op_counter, .schedule = op_schedule,
	.unschedule = op_unschedule, .read_lock = op_read_lock, .read_unlock = op_read_unlock,
	.synchronize = op_synchronize, .lock = op_lock, .unlock = op_unlock,
	.for_each_task = op_for_each_task, .walk = op_walk,
};

/* In the thread or in a handler that interrupts it. */
static void ask(struct requester *r)
{
	struct task *t = current;
	u64 cookie = 1;
	int ret = ehu_deferred_request(&machine, &t->info, &r->work, &cookie);

	INC(t->asked);
	if (ret < 0) {
		WRONG(t, cookie);
		INC(t->refused);
		return;
	}
	WRONG(t, !cookie || (u32)cookie != (u32)t->cpu + 1 || !(cookie >> 32 & 1));
	/* One CPU's cookies only grow: a new one was never seen, an old one is the last. */
	WRONG(t, cookie < t->last_cookie);
	t->cookies += cookie != t->last_cookie;
	t->last_cookie = cookie;
	if (ret)
		INC(t->told_1);
	else if (r->index < NR_FIXED)
		INC(t->queued[r->index]);
	else
		INC(t->temp_queued);
}

static void on_nmi(int sig TH_UNUSED)
{
	static __thread unsigned int nr __attribute__((tls_model("initial-exec")));
	struct requester *r;
	u32 key;

	if (!current)
		return;
	INC(current->nmis);
	if (++nr % 3)
		ask(&fixed[nr & 1]);
	/* The one that comes and goes is freed when nobody can be here any more. */
	key = srcu_enter(&srcu, me);
	r = __atomic_load_n(&temp, __ATOMIC_SEQ_CST);
	if (r)
		ask(r);
	srcu_leave(&srcu, me, key);
}

static void set_alive(struct task *t, struct ehu_task_info *info)
{
	pthread_mutex_lock(&task_mutex);
	alive[t->cpu] = info;
	pthread_mutex_unlock(&task_mutex);
}

static void begin_life(struct task *t)
{
	ehu_deferred_task_init(&t->info, 0);
	t->info.cache = &t->cache;
	t->mm_gone = 0;
	INC(t->lives);
	set_alive(t, &t->info);
	current = t;
}

static void end_life(struct task *t)
{
	ehu_deferred_task_exit(&machine, &t->info);
	t->mm_gone = 1;
	spin(50);
	WRONG(t, t->scheduled);
	current = NULL;
	set_alive(t, NULL);
}

static void leave_kernel(struct task *t)
{
	do {
		if (t->scheduled) {
			t->scheduled = 0;
			ehu_deferred_work(&machine, &t->info);
		}
	} while (!ehu_deferred_return_to_user(&t->info));
	INC(t->entries);
}

static void *run_task(void *arg)
{
	struct task *t = arg;
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec when = { { 0, 61000 + 7000 * t->cpu }, { 0, 1000 } };
	unsigned int n = 0;
	timer_t timer;

	me = t->cpu;
	ev.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	begin_life(t);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &when, NULL)) {
		WRONG(t, "no timer");
		return NULL;
	}
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (n % 4 == 0)
			ask(&fixed[n / 4 & 1]);
		spin(n % 97);
		leave_kernel(t);
		spin(n % 31);		/* user space */
		if (++n % 1000 == 0) {
			end_life(t);
			begin_life(t);
		}
		if (n % 64 == 0)
			sched_yield();	/* where TSan delivers signals */
	}
	timer_delete(timer);
	end_life(t);
	return NULL;
}

static void *run_canceller(void *arg)
{
	unsigned long *cycles = arg;

	me = CANCELLER;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct requester *r = calloc(1, sizeof(*r));

		r->index = NR_FIXED;
		if (ehu_deferred_init(&machine, &r->work, op_callback))
			abort();
		__atomic_store_n(&temp, r, __ATOMIC_SEQ_CST);
		usleep(300);
		if (*cycles & 1)	/* some are cancelled while they are still asked for */
			__atomic_store_n(&temp, NULL, __ATOMIC_SEQ_CST);
		ehu_deferred_cancel(&machine, &r->work);
		__atomic_store_n(&r->dead, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&temp, NULL, __ATOMIC_SEQ_CST);
		srcu_synchronize(&srcu);
		free(r);
		INC(*cycles);
	}
	return NULL;
}

/* Has all of it happened, and not only once? On a loaded machine that may take a while. */
static bool enough(const unsigned long *cycles)
{
	unsigned long nmis = 0;

	for (int k = 0; k < NR_TASKS; k++)
		nmis += __atomic_load_n(&tasks[k].nmis, __ATOMIC_RELAXED);
	return nmis > 100 && __atomic_load_n(cycles, __ATOMIC_RELAXED) > 10;
}

TEST_TIMEOUT(threads_and_signals, 900)
{
	const char *seconds = getenv("EHU_STRESS_SECONDS");
	struct sigaction sa = { .sa_handler = on_nmi, .sa_flags = SA_RESTART };
	unsigned long cycles = 0, sum[10] = { 0 };
	pthread_t thread[NR_TASKS + 1];

	ehu_deferred_setup(&machine, &ops);
	for (int k = 0; k < NR_FIXED; k++) {
		fixed[k].index = k;
		ASSERT_EQ(0, ehu_deferred_init(&machine, &fixed[k].work, op_callback));
	}
	sigaction(SIGUSR1, &sa, NULL);
	for (int k = 0; k < NR_TASKS; k++) {
		tasks[k].cpu = k;
		pthread_create(&thread[k], NULL, run_task, &tasks[k]);
	}
	pthread_create(&thread[CANCELLER], NULL, run_canceller, &cycles);
	sleep(seconds ? (unsigned int)atoi(seconds) : 2);
	for (int k = 0; k < 100 && !enough(&cycles); k++)
		sleep(1);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int k = 0; k <= NR_TASKS; k++)
		pthread_join(thread[k], NULL);
	for (int k = 0; k < NR_TASKS; k++) {
		struct task *t = &tasks[k];

		EXPECT_EQ(0, t->errors);
		for (int w = 0; w < NR_FIXED; w++) {
			EXPECT_EQ(t->queued[w], t->called[w]);
			sum[4] += t->called[w];
		}
		EXPECT_LE(t->temp_called, t->temp_queued);
		EXPECT_EQ(0, t->info.mask & EHU_PENDING);
		sum[0] += t->asked;
		sum[1] += t->nmis;
		sum[2] += t->refused;
		sum[3] += t->walks;
		sum[5] += t->temp_called;
		sum[6] += t->cookies;
		sum[7] += t->lives;
		sum[8] += t->entries;
		sum[9] += t->told_1;
	}
	TH_LOG("%lu requests (%lu told 1, %lu refused), %lu NMIs, %lu walks, %lu + %lu callbacks, "
	       "%lu cookies, %lu entries, %lu lives, %lu cancels", sum[0], sum[9], sum[2], sum[1],
	       sum[3], sum[4], sum[5], sum[6], sum[8], sum[7], cycles);
	EXPECT_TRUE(enough(&cycles));
}

TEST_HARNESS_MAIN
