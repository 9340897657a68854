// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The threads that are traced, each with its perf event, and those that block what it sends.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness/live_int.h"
#include "harness/perf_ring.h"

/* Threads that one look for blocked signals reads of, in turn. */
#define SCAN_THREADS	64

static struct live_thread **bucket_of(struct live *l, pid_t tid)
{
	return &l->bucket[(u32)tid & (LIVE_BUCKETS - 1)];
}

/**
 * live_note() - tell the user something
 * @l: the run
 * @format: of printf
 */
void live_note(struct live *l, const char *format, ...)
{
	char text[512];
	va_list ap;

	if (!l->hooks->note)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	l->hooks->note(l->hooks->arg, text);
}

/**
 * live_find() - a thread by its number
 * @l: the run
 * @tid: thread
 *
 * Return: the thread, NULL where it is not known.
 */
struct live_thread *live_find(struct live *l, pid_t tid)
{
	struct live_thread *t = *bucket_of(l, tid);

	while (t && t->tid != tid)
		t = t->next;
	return t;
}

/**
 * live_threads_of() - threads of a process that are known
 * @l: the run
 * @pid: process
 *
 * Return: their number.
 */
u32 live_threads_of(const struct live *l, pid_t pid)
{
	u32 nr = 0;

	for (u32 k = 0; k < LIVE_BUCKETS; k++) {
		for (const struct live_thread *t = l->bucket[k]; t; t = t->next)
			nr += t->pid == pid;
	}
	return nr;
}

/**
 * live_add() - a thread is traced from now on
 * @l: the run
 * @tid: thread
 * @pid: its process
 *
 * Return: the thread, NULL without memory.
 */
struct live_thread *live_add(struct live *l, pid_t tid, pid_t pid)
{
	struct live_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->tid = tid;
	t->pid = pid;
	t->event = -1;
	t->next = *bucket_of(l, tid);
	*bucket_of(l, tid) = t;
	l->nr_threads++;
	l->result->threads++;
	return t;
}

/**
 * live_close_event() - no more traps but one that may be on its way
 * @t: thread
 */
void live_close_event(struct live_thread *t)
{
	if (t->event >= 0)
		close(t->event);
	t->event = -1;
}

/**
 * live_forget() - a thread is gone, or no longer traced
 * @l: the run
 * @t: thread; freed
 */
void live_forget(struct live *l, struct live_thread *t)
{
	struct live_thread **at = bucket_of(l, t->tid);

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	live_close_event(t);
	l->nr_threads--;
	if (l->hooks->thread_end)
		l->hooks->thread_end(l->hooks->arg, t->tid, t->own);
	free(t);
}

/**
 * live_forget_all() - forget what is left
 * @l: the run
 */
void live_forget_all(struct live *l)
{
	for (u32 k = 0; k < LIVE_BUCKETS; k++) {
		while (l->bucket[k])
			live_forget(l, l->bucket[k]);
	}
}

static bool raise_files_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= lim.rlim_max)
		return false;
	lim.rlim_cur = lim.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &lim);
}

/**
 * live_open_event() - have a thread trap at every period of its CPU time
 * @l: the run
 * @t: traced thread, stopped or not
 *
 * With exclude_kernel only times at which it is in user space count, so that no system call is
 * cut short by the trap. remove_on_exec is what the kernel demands with sigtrap.
 *
 * Return: 0, or a negative errno; counted, but for a thread that is gone.
 */
int live_open_event(struct live *l, struct live_thread *t)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = l->period,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.sig_data = l->magic,
	};
	int fd = perf_ring_event(&attr, t->tid, -1);

	if (fd == -EMFILE && raise_files_limit())
		fd = perf_ring_event(&attr, t->tid, -1);
	live_close_event(t);
	if (fd >= 0) {
		t->event = fd;
		t->scan_used = 0;
		return 0;
	}
	if (fd == -ESRCH)
		return fd;
	if (!l->result->no_event++)
		l->result->no_event_error = -fd;
	return fd;
}

/**
 * live_status() - a line of a thread's /proc status
 * @tid: thread
 * @key: what it begins with, such as "SigBlk:"
 * @buf: what follows, without spaces before it
 * @n: room there
 *
 * Return: whether it was found.
 */
bool live_status(pid_t tid, const char *key, char *buf, size_t n)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(buf, n, "%s", line + strlen(key) + strspn(line + strlen(key), " \t"));
		found = true;
	}
	fclose(f);
	return found;
}

static bool blocks_trap(pid_t tid)
{
	char mask[64];

	return live_status(tid, "SigBlk:", mask, sizeof(mask)) &&
	       strtoull(mask, NULL, 16) >> (SIGTRAP - 1) & 1;
}

/*
 * glibc blocks all signals for a moment when threads begin and end. One that is met so twice, has
 * used time for several traps between and had none is another matter.
 */
static void scan_thread(struct live *l, struct live_thread *t, u32 enough)
{
	bool quiet = t->sampled == t->scan_sampled;
	char name[48];
	u64 used = 0;

	if (t->event < 0 || t->blocked || read(t->event, &used, sizeof(used)) != sizeof(used))
		return;
	if (quiet && used - t->scan_used < 2 * l->period)
		return;
	t->scan_sampled = t->sampled;
	t->scan_used = used;
	if (!quiet || !blocks_trap(t->tid)) {
		t->scan_blocked = 0;
		return;
	}
	if (++t->scan_blocked < enough)
		return;
	t->blocked = true;
	if (l->result->blocked++)
		return;
	if (!live_status(t->tid, "Name:", name, sizeof(name)))
		name[0] = 0;
	snprintf(l->result->blocked_name, sizeof(l->result->blocked_name), "%d (%.40s)",
		 (int)t->tid, name);
	live_note(l, "thread %s blocks SIGTRAP: it is not sampled as long as it does",
		  l->result->blocked_name);
}

/**
 * live_scan() - look for threads that block SIGTRAP, which are silently not sampled
 * @l: the run
 * @last: the run is over: look at all, and one finding is enough
 *
 * Some of many threads, in turn.
 */
void live_scan(struct live *l, bool last)
{
	u32 seen = 0;

	for (u32 k = 0; k < LIVE_BUCKETS && (last || seen < SCAN_THREADS); k++) {
		struct live_thread *t = l->bucket[l->scan_from];

		l->scan_from = (l->scan_from + 1) & (LIVE_BUCKETS - 1);
		for (; t; t = t->next, seen++)
			scan_thread(l, t, last ? 1 : 2);
	}
}
