/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of live sampling share: the table of traced threads.
 */
#ifndef HARNESS_LIVE_INT_H
#define HARNESS_LIVE_INT_H

#include <signal.h>

#include "harness/live.h"
#include "harness/perf_proc.h"
#include "harness/perf_target.h"

#define LIVE_BUCKETS	1024	/* a power of two */

/**
 * struct live_thread - a traced thread
 * @next: in its bucket
 * @tid: its number
 * @pid: its process
 * @event: perf event; -1 for none
 * @own: the hooks'
 * @sampled: its overflows
 * @scan_sampled: @sampled at the last look for blocked signals
 * @scan_used: ns of CPU time then
 * @scan_blocked: looks in a row that found SIGTRAP blocked, time used and no stop
 * @blocked: counted as one that blocks SIGTRAP
 * @letting_go: it gets no more events and is detached at its next stop that allows it
 * @unblocked: its signal mask was changed to get a pending trap out; @mask is its own
 */
struct live_thread {
	struct live_thread *next;
	pid_t tid;
	pid_t pid;
	int event;
	void *own;
	u64 sampled;
	u64 scan_sampled;
	u64 scan_used;
	u32 scan_blocked;
	bool blocked;
	bool letting_go;
	bool unblocked;
	u64 mask;
};

struct live {
	struct live_opts opts;
	const struct live_hooks *hooks;
	struct live_result *result;
	struct perf_error *err;
	struct perf_target target;	/* pid 0 without a command */
	pid_t pid;			/* the command, or what was attached to */
	unsigned long options;		/* of ptrace */
	u64 magic;			/* comes back with our traps */
	u64 period;			/* ns */
	sigset_t old_mask;
	int signals;			/* signalfd */
	bool started;			/* the command was executed */
	bool over;			/* the target has ended */
	bool letting_go;
	int status;			/* of a hook */
	u32 nr_threads;
	u32 scan_from;
	struct live_thread *bucket[LIVE_BUCKETS];
};

struct live_thread *live_find(struct live *l, pid_t tid);
struct live_thread *live_add(struct live *l, pid_t tid, pid_t pid);
void live_forget(struct live *l, struct live_thread *t);
void live_forget_all(struct live *l);
u32 live_threads_of(const struct live *l, pid_t pid);
void live_close_event(struct live_thread *t);
void live_note(struct live *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
int live_open_event(struct live *l, struct live_thread *t);
bool live_is_trap(const struct live *l, const siginfo_t *info, bool *late);
void live_handle(struct live *l, pid_t tid, int status);
bool live_status(pid_t tid, const char *key, char *buf, size_t n);
void live_scan(struct live *l, bool last);

void live_let_go(struct live *l);
void live_leaving(struct live *l, struct live_thread *t, int sig, int event);

#endif /* HARNESS_LIVE_INT_H */
