// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Lets traced threads go, so that none of our traps is left behind: without a tracer it would kill
 * its thread.
 *
 * A thread is asked to stop; its event is closed; a trap that came before is then in its queue of
 * signals, where it can be seen, and is taken out by letting it be delivered, to us.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/live_int.h"

/* How long all threads may take. A parent in vfork() cannot stop before its child is done. */
#define LEAVE_MS	3000

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

/* Is a trap of ours waiting for the thread? */
static bool has_trap(const struct live *l, pid_t tid)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 16 };
	siginfo_t info[16];
	bool late;

	for (;;) {
		long nr = ptrace(PTRACE_PEEKSIGINFO, tid, &args, info);

		if (nr <= 0)
			return false;
		for (long k = 0; k < nr; k++) {
			if (live_is_trap(l, &info[k], &late))
				return true;
		}
		args.off += (u64)nr;
	}
}

static void detach(struct live *l, struct live_thread *t, int sig)
{
	if (t->unblocked)
		ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask);
	ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(long)sig);
	live_forget(l, t);
}

/* Lets the trap come; where the thread blocks it, not for longer than that. */
static void fetch_trap(struct live_thread *t)
{
	const u64 bit = 1ull << (SIGTRAP - 1);

	if (!t->unblocked &&
	    !ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask) &&
	    t->mask & bit) {
		u64 open = t->mask & ~bit;

		t->unblocked = !ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(open), &open);
	}
	ptrace(PTRACE_CONT, t->tid, NULL, NULL);
}

/**
 * live_leaving() - a thread that is to be let go has stopped
 * @l: the run
 * @t: the thread
 * @sig: its signal
 * @event: PTRACE_EVENT_*, 0 for a signal
 */
void live_leaving(struct live *l, struct live_thread *t, int sig, int event)
{
	siginfo_t info;
	bool late;

	if (event) {
		sig = 0;
	} else if (sig == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info) &&
		   live_is_trap(l, &info, &late)) {
		sig = 0;
	}
	live_close_event(t);
	if (!has_trap(l, t->tid)) {
		detach(l, t, sig);
	} else if (!sig) {
		fetch_trap(t);
	} else {
		/* This signal first, and then once more. */
		ptrace(PTRACE_CONT, t->tid, NULL, (void *)(long)sig);
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	}
}

/**
 * live_let_go() - let all threads go
 * @l: the run
 *
 * Those that start meanwhile too. What cannot be stopped in time is counted.
 */
void live_let_go(struct live *l)
{
	u64 end = now_ms() + LEAVE_MS;

	l->letting_go = true;
	for (u32 k = 0; k < LIVE_BUCKETS; k++) {
		struct live_thread *next;

		for (struct live_thread *t = l->bucket[k]; t; t = next) {
			next = t->next;
			t->letting_go = true;
			live_close_event(t);
			if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) && errno == ESRCH)
				continue;	/* it is about to be reported as gone */
		}
	}
	while (l->nr_threads && now_ms() < end) {
		struct pollfd fd = { .fd = l->signals, .events = POLLIN };
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid > 0) {
			live_handle(l, tid, status);
		} else if (tid < 0 && errno == ECHILD) {
			live_forget_all(l);
		} else {
			u8 drop[1024];

			poll(&fd, 1, 20);
			if (read(l->signals, drop, sizeof(drop)) < 0)
				continue;
		}
	}
	l->result->undetached = l->nr_threads;
	live_forget_all(l);
}
