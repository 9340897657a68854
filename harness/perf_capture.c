// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sampling of a command or of running processes: registers and a piece of the stack each time. */

#define _GNU_SOURCE
#include "harness/perf_capture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness/perf_events.h"
#include "harness/perf_proc.h"
#include "harness/perf_target.h"
#include "harness/perf_wait.h"
#include "harness/perf_signals.h"

/* Rings are read at least this often: a record does not wait longer for its round. */
#define TICK_MS		50

/* After an interrupt the command may still end by itself for this long. */
#define GRACE_MS	1000

struct capture {
	struct perf_capture_opts opts;
	const struct perf_capture_sink *sink;
	struct perf_capture_result *result;
	struct perf_error *err;
	struct perf_events ev;
	struct perf_wait *wait;
	sigset_t old_mask;
	int signals;		/* signalfd, -1: none */
	struct perf_target target;
	struct pollfd *pidfds;	/* of attached processes; fd -1: ended */
	u32 nr_pidfds;
	u64 lost_seen;
};

static void note(const struct capture *c, const char *text)
{
	if (c->sink->note)
		c->sink->note(c->sink->arg, text);
}

static enum perf_capture_end fail(struct capture *c, enum perf_capture_end end, int status,
				  const char *what)
{
	c->err->status = status;
	c->err->pos = 0;
	snprintf(c->err->text, sizeof(c->err->text), "%s: %s", what, strerror(status));
	return end;
}

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

static int take_record(void *arg, const void *record, size_t size)
{
	struct capture *c = arg;
	struct perf_capture_result *r = c->result;
	struct perf_event_header h;
	u64 lost[2];	/* id, number */

	memcpy(&h, record, sizeof(h));
	r->records++;
	r->bytes += size;
	switch (h.type) {
	case PERF_RECORD_SAMPLE:
		r->samples++;
		break;
	case PERF_RECORD_THROTTLE:
		r->throttled++;
		break;
	case PERF_RECORD_LOST:
		if (size >= sizeof(h) + sizeof(lost)) {
			memcpy(lost, (const u8 *)record + sizeof(h), sizeof(lost));
			c->lost_seen += lost[1];
		}
		break;
	}
	return c->sink->record ? c->sink->record(c->sink->arg, record, size) : 0;
}

static int drain(struct capture *c)
{
	int rc = 0;

	for (u32 i = 0; i < c->ev.nr_rings && !rc; i++)
		rc = perf_ring_drain(&c->ev.rings[i], take_record, c);
	if (!rc && c->sink->round)
		rc = c->sink->round(c->sink->arg);
	c->result->rounds++;
	return rc;
}

static int start_waiting(struct capture *c)
{
	u32 nr = c->ev.nr_rings + 1;
	int *fds = malloc(nr * sizeof(*fds));

	if (!fds)
		return -ENOMEM;
	memcpy(fds, c->ev.fds, c->ev.nr_rings * sizeof(*fds));
	fds[nr - 1] = c->signals;
	c->wait = perf_wait_new(fds, nr, !c->opts.no_io_uring);
	free(fds);
	if (!c->wait)
		return -ENOMEM;
	c->result->io_uring = !c->opts.no_io_uring && !perf_wait_refused(c->wait);
	if (perf_wait_refused(c->wait)) {
		char text[128];

		snprintf(text, sizeof(text), "waiting with poll(2): io_uring is refused: %s",
			 strerror(perf_wait_refused(c->wait)));
		note(c, text);
	}
	return 0;
}

static bool target_ended(struct capture *c)
{
	bool alive = false;

	if (!c->nr_pidfds) {
		if (!perf_target_reap(&c->target, &c->result->wait_status))
			return false;
		c->result->exited = true;
		return true;
	}
	poll(c->pidfds, c->nr_pidfds, 0);
	for (u32 i = 0; i < c->nr_pidfds; i++) {
		if (c->pidfds[i].revents)
			c->pidfds[i].fd = -1;
		alive |= c->pidfds[i].fd >= 0;
	}
	return !alive;
}

/* Until the target ends, time is up, or somebody interrupts. Returns what the sink said. */
static int run(struct capture *c)
{
	u64 end = c->opts.duration_ms ? now_ms() + c->opts.duration_ms : UINT64_MAX;
	u32 interrupts = 0;
	int rc;

	for (;;) {
		bool ended;
		u32 nr;

		rc = perf_wait_for(c->wait, TICK_MS);
		if (rc < 0)
			return rc;
		nr = perf_signals_read(c->signals, &c->result->signal);
		/* Ask before reading: what the target did before it ended is in the rings. */
		ended = target_ended(c);
		rc = drain(c);
		if (rc || ended || now_ms() >= end)
			break;
		if (nr && !interrupts && !c->nr_pidfds && now_ms() + GRACE_MS < end)
			end = now_ms() + GRACE_MS;
		interrupts += nr;
		if (interrupts > 1 || (interrupts && c->nr_pidfds))
			break;
	}
	return rc;
}

/* LOST records for losses that no later record told of. */
static int tell_lost(struct capture *c)
{
	u64 counted = perf_events_lost(&c->ev);
	u32 id_size = perf_proc_id_size(c->ev.attr.sample_type);
	u8 record[128] = { 0 };
	struct perf_event_header h = {
		.type = PERF_RECORD_LOST,
		.size = (u16)(sizeof(h) + 16 + id_size),
	};
	u64 missing;

	c->result->lost = c->lost_seen;
	if (counted <= c->lost_seen)
		return 0;
	missing = counted - c->lost_seen;
	memcpy(record, &h, sizeof(h));
	memcpy(record + sizeof(h), &c->ev.ids[0], 8);
	memcpy(record + sizeof(h) + 8, &missing, 8);
	c->result->lost = counted;
	return take_record(c, record, h.size);
}

static enum perf_capture_end finish(struct capture *c, int rc)
{
	perf_events_enable(&c->ev, false);
	if (!rc)
		rc = drain(c);
	if (!rc)
		rc = tell_lost(c);
	if (!rc)
		return PERF_CAPTURE_OK;
	if (rc == -EIO)
		return fail(c, PERF_CAPTURE_FAILED, EIO, "ring buffer");
	c->result->sink_status = rc;
	c->err->status = rc < 0 ? -rc : EIO;
	snprintf(c->err->text, sizeof(c->err->text), "the receiver of the records gave up");
	return PERF_CAPTURE_SINK;
}

static void clean_up(struct capture *c)
{
	perf_wait_free(c->wait);
	perf_events_close(&c->ev);
	if (c->target.pid)
		perf_target_end(&c->target);
	for (u32 i = 0; i < c->nr_pidfds; i++) {
		if (c->pidfds[i].fd >= 0)
			close(c->pidfds[i].fd);
	}
	free(c->pidfds);
	if (c->signals >= 0) {
		/* Or one that was meant for us would end us now. */
		perf_signals_read(c->signals, &c->result->signal);
		close(c->signals);
	}
	sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
}

static bool fill_opts(struct capture *c, const struct perf_capture_opts *opts)
{
	struct perf_capture_opts *o = &c->opts;

	*o = *opts;
	if (!o->frequency)
		o->frequency = PERF_CAPTURE_FREQUENCY;
	if (!o->stack_size)
		o->stack_size = PERF_CAPTURE_STACK;
	if (!o->ring_size)
		o->ring_size = PERF_CAPTURE_RING;
	return o->stack_size % 8 == 0 && o->stack_size <= PERF_CAPTURE_MAX_STACK &&
	       o->ring_size <= 1u << 30;
}

static bool init(struct capture *c, const struct perf_capture_opts *opts,
		 const struct perf_capture_sink *sink, struct perf_capture_result *result,
		 struct perf_error *err)
{
	memset(c, 0, sizeof(*c));
	memset(result, 0, sizeof(*result));
	memset(err, 0, sizeof(*err));
	c->sink = sink;
	c->result = result;
	c->err = err;
	c->signals = -1;
	sigprocmask(SIG_BLOCK, NULL, &c->old_mask);
	return fill_opts(c, opts);
}

/* What the events have become, for the report; then the sink is told. */
static int tell_start(struct capture *c)
{
	c->result->ring_size = c->ev.ring_size;
	c->result->cpus = c->ev.nr_rings;
	c->result->user_only = c->ev.attr.exclude_kernel;
	if (!c->sink->start)
		return 0;
	return c->sink->start(c->sink->arg, &c->ev.attr, c->ev.ids, c->ev.nr);
}

static enum perf_capture_end capture_command(struct capture *c, char *const argv[])
{
	int rc = perf_signals_catch(&c->signals, &c->old_mask);

	if (rc)
		return fail(c, PERF_CAPTURE_FAILED, -rc, "signalfd");
	rc = perf_target_fork(&c->target, argv, &c->old_mask);
	if (rc)
		return fail(c, PERF_CAPTURE_FAILED, -rc, "fork");
	rc = perf_events_open(&c->ev, &c->opts, &c->target.pid, 1, true, c->sink, c->err);
	if (rc)
		return PERF_CAPTURE_IMPOSSIBLE;
	rc = start_waiting(c);
	if (rc)
		return fail(c, PERF_CAPTURE_FAILED, -rc, "waiting");
	rc = tell_start(c);
	if (rc)
		return finish(c, rc);
	rc = perf_target_start(&c->target);
	if (rc) {
		perf_target_explain(rc, argv[0], c->err);
		return PERF_CAPTURE_NO_COMMAND;
	}
	return finish(c, run(c));
}

/**
 * perf_capture_command() - run a command under sampling
 * @opts: what to record
 * @argv: command and arguments, ended by NULL; searched in PATH
 * @sink: gets the records
 * @result: figures, filled as far as it came
 * @err: why it failed, also when the command cannot be executed: then in the shell's words
 *
 * Follows all threads and child processes. Ends when the command itself ends; SIGINT,
 * SIGTERM and SIGHUP end it too (the command gets a second to end by itself, then SIGTERM), and what was
 * captured stays. Signals are blocked for the calling thread meanwhile: a program with several
 * threads must block these and SIGCHLD in the others.
 *
 * Return: how it ended.
 */
enum perf_capture_end perf_capture_command(const struct perf_capture_opts *opts,
					   char *const argv[],
					   const struct perf_capture_sink *sink,
					   struct perf_capture_result *result,
					   struct perf_error *err)
{
	enum perf_capture_end end;
	struct capture c;

	if (!init(&c, opts, sink, result, err))
		return fail(&c, PERF_CAPTURE_BAD_OPTS, EINVAL, "stack or ring size");
	end = capture_command(&c, argv);
	clean_up(&c);
	return end;
}

static int watch_pids(struct capture *c, const pid_t *pids, u32 nr)
{
	c->pidfds = calloc(nr, sizeof(*c->pidfds));
	if (!c->pidfds)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		int fd = (int)syscall(SYS_pidfd_open, pids[i], 0);

		if (fd < 0)
			return -errno;
		c->pidfds[c->nr_pidfds++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	return 0;
}

/* The threads of all processes in one array; returns their number. */
static int list_threads(const pid_t *pids, u32 nr, pid_t **all)
{
	int total = 0;

	*all = NULL;
	for (u32 i = 0; i < nr; i++) {
		pid_t *tids;
		pid_t *more;
		int n = perf_proc_threads(pids[i], &tids);

		if (n < 0) {
			free(*all);
			return n;
		}
		more = realloc(*all, (size_t)(total + n) * sizeof(*more));
		if (!more) {
			free(tids);
			free(*all);
			return -ENOMEM;
		}
		memcpy(more + total, tids, (size_t)n * sizeof(*tids));
		free(tids);
		*all = more;
		total += n;
	}
	return total;
}

/*
 * A thread that starts while the events are being opened is followed if its parent already had
 * one, and not if it had none: which, nobody can tell. So if the list has changed at the end,
 * start again; a process that never stands still is taken as it is, and that is said.
 */
static int open_threads(struct capture *c, const pid_t *pids, u32 nr)
{
	for (int tries = 0; ; tries++) {
		pid_t *before;
		pid_t *after = NULL;
		int nr_before = list_threads(pids, nr, &before);
		int nr_after = 0;
		bool same;
		int rc;

		if (nr_before < 0)
			return nr_before;
		rc = perf_events_open(&c->ev, &c->opts, before, (u32)nr_before, false, c->sink,
				      c->err);
		if (!rc)
			nr_after = list_threads(pids, nr, &after);
		same = nr_after == nr_before &&
		       !memcmp(before, after, (size_t)nr_after * sizeof(*after));
		free(before);
		if (nr_after > 0)
			free(after);
		if (rc == -EAGAIN && tries < 10)
			continue;
		if (rc)
			return rc;
		if (same)
			return 0;
		if (tries >= 10) {
			note(c, "threads come and go: some may not be sampled");
			return 0;
		}
		perf_events_close(&c->ev);
	}
}

static enum perf_capture_end capture_attach(struct capture *c, const pid_t *pids, u32 nr)
{
	struct perf_proc_out out = { .fn = take_record, .arg = c, .build_ids = true };
	int rc = perf_signals_catch(&c->signals, &c->old_mask);

	if (rc)
		return fail(c, PERF_CAPTURE_FAILED, -rc, "signalfd");
	rc = watch_pids(c, pids, nr);
	if (!rc)
		rc = open_threads(c, pids, nr);
	if (rc == -ESRCH)
		return fail(c, PERF_CAPTURE_NO_COMMAND, ESRCH, "process to attach to");
	if (rc && !c->err->status)
		return fail(c, PERF_CAPTURE_FAILED, -rc, "process to attach to");
	if (rc)
		return PERF_CAPTURE_IMPOSSIBLE;
	rc = start_waiting(c);
	if (rc)
		return fail(c, PERF_CAPTURE_FAILED, -rc, "waiting");
	rc = tell_start(c);
	if (rc)
		return finish(c, rc);

	/* Enabled first: a mapping made meanwhile comes twice rather than not at all. */
	perf_events_enable(&c->ev, true);
	out.id_size = perf_proc_id_size(c->ev.attr.sample_type);
	for (u32 i = 0; i < nr && !rc; i++) {
		rc = perf_proc_describe(pids[i], &out);
		if (rc == -ESRCH)
			rc = 0;		/* ended meanwhile: nothing left to describe */
	}
	return finish(c, rc ? rc : run(c));
}

/**
 * perf_capture_attach() - sample running processes
 * @opts: what to record
 * @pids: processes
 * @nr_pids: their number, at least 1
 * @sink: gets the records; first a COMM for each thread and an MMAP2 for each mapping there is,
 *	with time 0
 * @result: figures, filled as far as it came
 * @err: why it failed
 *
 * All threads are sampled, and those and the child processes that they start from then on.
 * Ends when all of @pids have ended, at one of those signals, or when the time is up; the
 * processes are not disturbed.
 *
 * Return: how it ended.
 */
enum perf_capture_end perf_capture_attach(const struct perf_capture_opts *opts,
					  const pid_t *pids, u32 nr_pids,
					  const struct perf_capture_sink *sink,
					  struct perf_capture_result *result,
					  struct perf_error *err)
{
	enum perf_capture_end end;
	struct capture c;

	if (!init(&c, opts, sink, result, err))
		return fail(&c, PERF_CAPTURE_BAD_OPTS, EINVAL, "stack or ring size");
	end = capture_attach(&c, pids, nr_pids);
	clean_up(&c);
	return end;
}
