// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The events of a capture: what is asked of the kernel, and what is given up when it refuses. */

#define _GNU_SOURCE
#include "harness/perf_events.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Younger than some headers (Linux 6.0). */
#define FORMAT_LOST	(1u << 4)

/* All of the general registers that a DWARF unwinder can ask for, by perf's numbers. */
#if defined(__x86_64__)
#define USER_REGS	0xff0fffull		/* without DS ES FS GS, which are refused */
#elif defined(__i386__)
#define USER_REGS	0x0fffull
#elif defined(__aarch64__)
#define USER_REGS	((1ull << 33) - 1)	/* x0-x30, sp, pc */
#elif defined(__s390x__)
#define USER_REGS	((1ull << 34) - 1)	/* r0-r15, f0-f15, mask, pc */
#elif defined(__riscv)
#define USER_REGS	((1ull << 32) - 1)
#elif defined(__powerpc64__)
#define USER_REGS	((1ull << 43) - 1)
#else
#define USER_REGS	0ull
#endif

static void note(const struct perf_capture_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void note(const struct perf_capture_sink *sink, const char *format, ...)
{
	char text[256];
	va_list ap;

	if (!sink->note)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	sink->note(sink->arg, text);
}

static long sysctl(const char *name, long otherwise)
{
	char path[96];
	long value;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (!f)
		return otherwise;
	if (fscanf(f, "%ld", &value) != 1)
		value = otherwise;
	fclose(f);
	return value;
}

static void fill_attr(struct perf_event_attr *a, const struct perf_capture_opts *opts,
		      bool on_exec)
{
	*a = (struct perf_event_attr){
		.type = opts->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(*a),
		.config = opts->cycles ? (u64)PERF_COUNT_HW_CPU_CYCLES :
					 (u64)PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = opts->frequency,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.read_format = PERF_FORMAT_ID | FORMAT_LOST,
		.disabled = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		/* A module's lowest mapping is no longer its text: perf script looks for it. */
		.mmap_data = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.enable_on_exec = on_exec,
		.sample_id_all = 1,
		.exclude_kernel = opts->user_only,
		.exclude_hv = opts->user_only,
		/* The chain is what we compute; its field stays, perf script wants it. */
		.exclude_callchain_kernel = 1,
		.exclude_callchain_user = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.sample_regs_user = USER_REGS,
		.sample_stack_user = opts->stack_size,
	};
}

static void close_fds(struct perf_events *ev)
{
	for (u32 i = 0; i < ev->nr; i++)
		close(ev->fds[i]);
	ev->nr = 0;
}

/* All threads on all CPUs; those of one CPU write into the ring of the first thread. */
static int open_all(struct perf_events *ev, const pid_t *tids, u32 nr_tids, u32 nr_cpus)
{
	int refused = -ENODEV;

	ev->nr = 0;
	ev->nr_rings = 0;
	for (u32 t = 0; t < nr_tids; t++) {
		u32 opened = 0;

		for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
			int fd = perf_ring_event(&ev->attr, tids[t], (int)cpu);

			/* A CPU that is offline, a thread that has ended meanwhile. */
			if (fd == -ENODEV || (fd == -ESRCH && nr_tids > 1)) {
				refused = fd;
				continue;
			}
			if (fd < 0) {
				close_fds(ev);
				return fd;
			}
			ev->fds[ev->nr++] = fd;
			opened++;
		}
		if (!ev->nr_rings)
			ev->nr_rings = opened;
		else if (opened && opened != ev->nr_rings) {
			close_fds(ev);	/* a CPU or thread went away in the middle */
			return -EAGAIN;
		}
	}
	return ev->nr ? 0 : refused;
}

static int raise_files_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= lim.rlim_max)
		return -EMFILE;
	lim.rlim_cur = lim.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &lim) ? -EMFILE : 0;
}

/* Give up one thing that may be what the kernel does not like; false: nothing is left. */
static bool give_up(struct perf_event_attr *a, int refused, const struct perf_capture_sink *sink)
{
	switch (refused) {
	case -EACCES:
	case -EPERM:
		if (a->exclude_kernel)
			return false;
		a->exclude_kernel = 1;
		a->exclude_hv = 1;
		note(sink, "no samples while in the kernel: not permitted (perf_event_paranoid is %ld)",
		     sysctl("perf_event_paranoid", -1));
		return true;
	case -EMFILE:
		return !raise_files_limit();
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		if (a->type != PERF_TYPE_HARDWARE)
			return false;
		a->type = PERF_TYPE_SOFTWARE;
		a->config = PERF_COUNT_SW_CPU_CLOCK;
		note(sink, "cpu-clock instead of hardware cycles: this machine has no such counter");
		return true;
	case -EINVAL:
	case -E2BIG:
		if (a->read_format & FORMAT_LOST) {	/* before Linux 6.0: LOST records only */
			a->read_format &= ~(u64)FORMAT_LOST;
			return true;
		}
		if (a->build_id) {
			a->build_id = 0;
			note(sink, "no build-ids in mapping records: older than Linux 5.12");
			return true;
		}
		if (a->use_clockid) {
			a->use_clockid = 0;
			a->clockid = 0;
			note(sink, "time stamps of perf's own clock");
			return true;
		}
		return false;
	default:
		return false;
	}
}

static int map_rings(struct perf_events *ev, u32 size)
{
	int rc = 0;
	u32 i;

	for (i = 0; i < ev->nr_rings && !rc; i++)
		rc = perf_ring_map(&ev->rings[i], ev->fds[i], size);
	if (!rc)
		return 0;
	while (i--)
		perf_ring_unmap(&ev->rings[i]);
	return rc;
}

/* An unprivileged user may lock only so much memory: try with less. */
static int map_what_fits(struct perf_events *ev, const struct perf_capture_opts *opts,
			 const struct perf_capture_sink *sink)
{
	u32 page = (u32)sysconf(_SC_PAGESIZE);
	u32 least = page;
	u32 wanted = page;
	u32 size;
	int rc;

	while (least < 2 * opts->stack_size)
		least *= 2;
	while (wanted < opts->ring_size)
		wanted *= 2;
	if (wanted < least)
		wanted = least;
	for (size = wanted; ; size /= 2) {
		rc = map_rings(ev, size);
		if ((rc != -EPERM && rc != -ENOMEM) || size / 2 < least)
			break;
	}
	if (!rc && size < wanted)
		note(sink, "ring buffers of %u KiB instead of %u KiB: no more may be locked "
		     "(perf_event_mlock_kb is %ld); records may be lost", size >> 10,
		     wanted >> 10, sysctl("perf_event_mlock_kb", -1));
	ev->ring_size = size;
	return rc;
}

static int join_rings(struct perf_events *ev)
{
	for (u32 i = 0; i < ev->nr; i++) {
		if (ioctl(ev->fds[i], PERF_EVENT_IOC_ID, &ev->ids[i]))
			return -errno;
		if (i >= ev->nr_rings && ioctl(ev->fds[i], PERF_EVENT_IOC_SET_OUTPUT,
					       ev->fds[i % ev->nr_rings]))
			return -errno;
	}
	return 0;
}

static int explain(struct perf_error *err, int rc, const char *what)
{
	err->status = -rc;
	err->pos = 0;
	if (rc == -EACCES || rc == -EPERM)
		snprintf(err->text, sizeof(err->text), "%s: %s (perf_event_paranoid is %ld)", what,
			 strerror(-rc), sysctl("perf_event_paranoid", -1));
	else if (rc == -ENOSYS)
		snprintf(err->text, sizeof(err->text), "%s: this kernel has no perf events", what);
	else
		snprintf(err->text, sizeof(err->text), "%s: %s", what, strerror(-rc));
	return rc;
}

static void check_frequency(struct perf_capture_opts *opts, const struct perf_capture_sink *sink)
{
	long most = sysctl("perf_event_max_sample_rate", LONG_MAX);

	if (most <= 0 || opts->frequency <= (unsigned long)most)
		return;
	note(sink, "%ld samples a second instead of %u: perf_event_max_sample_rate", most,
	     opts->frequency);
	opts->frequency = (u32)most;
}

/**
 * perf_events_open() - open events on threads, and map their rings
 * @ev: filled; on error nothing is left open
 * @asked: what to record, all fields filled
 * @tids: threads
 * @nr_tids: their number
 * @on_exec: sampling begins with the next execve(), else with perf_events_enable()
 * @sink: told what is given up
 * @err: why it failed
 *
 * Return: 0 or a negative errno; -EAGAIN if threads or CPUs went away meanwhile, try again.
 */
int perf_events_open(struct perf_events *ev, const struct perf_capture_opts *asked,
		     const pid_t *tids, u32 nr_tids, bool on_exec,
		     const struct perf_capture_sink *sink, struct perf_error *err)
{
	struct perf_capture_opts opts = *asked;
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	memset(ev, 0, sizeof(*ev));
	if (!USER_REGS)
		return explain(err, -EOPNOTSUPP, "registers of this machine");
	if (nr_cpus < 1)
		nr_cpus = 1;
	check_frequency(&opts, sink);
	fill_attr(&ev->attr, &opts, on_exec);
	ev->fds = calloc((size_t)nr_cpus * nr_tids, sizeof(*ev->fds));
	ev->ids = calloc((size_t)nr_cpus * nr_tids, sizeof(*ev->ids));
	ev->rings = calloc((size_t)nr_cpus, sizeof(*ev->rings));
	if (!ev->fds || !ev->ids || !ev->rings) {
		perf_events_close(ev);
		return explain(err, -ENOMEM, "events");
	}

	/* The wakeup comes when a quarter of the ring is full. */
	ev->attr.wakeup_watermark = opts.ring_size / 4;
	do {
		rc = open_all(ev, tids, nr_tids, (u32)nr_cpus);
	} while (rc < 0 && give_up(&ev->attr, rc, sink));
	if (rc < 0) {
		explain(err, rc, "perf_event_open");
		perf_events_close(ev);
		return rc;
	}
	rc = map_what_fits(ev, &opts, sink);
	if (rc < 0)
		explain(err, rc, "ring buffer");
	if (!rc) {
		rc = join_rings(ev);
		if (rc < 0)
			explain(err, rc, "ring buffers of several threads");
	}
	if (rc < 0)
		perf_events_close(ev);
	return rc;
}

/**
 * perf_events_close() - end sampling and give everything back
 * @ev: events, open or zeroed
 */
void perf_events_close(struct perf_events *ev)
{
	for (u32 i = 0; ev->rings && i < ev->nr_rings; i++)
		perf_ring_unmap(&ev->rings[i]);
	if (ev->fds)
		close_fds(ev);
	free(ev->fds);
	free(ev->ids);
	free(ev->rings);
	memset(ev, 0, sizeof(*ev));
}

/**
 * perf_events_enable() - start or stop sampling
 * @ev: events
 * @on: start
 */
void perf_events_enable(const struct perf_events *ev, bool on)
{
	for (u32 i = 0; i < ev->nr; i++)
		ioctl(ev->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/**
 * perf_events_lost() - records lost, as the events themselves count them
 * @ev: events
 *
 * LOST records tell of a loss only when a later record finds room: those at the end are seen
 * only here.
 *
 * Return: their number; 0 also where the kernel does not count (before Linux 6.0).
 */
u64 perf_events_lost(const struct perf_events *ev)
{
	u64 lost = 0;

	if (!(ev->attr.read_format & FORMAT_LOST))
		return 0;
	for (u32 i = 0; i < ev->nr; i++) {
		u64 v[3];	/* value, id, lost */

		if (read(ev->fds[i], v, sizeof(v)) == (ssize_t)sizeof(v))
			lost += v[2];
	}
	return lost;
}
