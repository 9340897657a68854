/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The events of a capture: what is asked of the kernel, and what is given up when it refuses. */
#ifndef HARNESS_PERF_EVENTS_H
#define HARNESS_PERF_EVENTS_H

#include "harness/perf_capture.h"
#include "harness/perf_ring.h"

/**
 * struct perf_events - open events and their rings
 * @attr: as the kernel took it
 * @fds: events; those of the first thread come first, one a ring
 * @ids: their ids
 * @nr: number of events
 * @rings: one per CPU
 * @nr_rings: their number
 * @ring_size: bytes of each
 */
struct perf_events {
	struct perf_event_attr attr;
	int *fds;
	u64 *ids;
	u32 nr;
	struct perf_ring *rings;
	u32 nr_rings;
	u32 ring_size;
};

int perf_events_open(struct perf_events *ev, const struct perf_capture_opts *opts,
		     const pid_t *tids, u32 nr_tids, bool on_exec,
		     const struct perf_capture_sink *sink, struct perf_error *err);
void perf_events_close(struct perf_events *ev);
void perf_events_enable(const struct perf_events *ev, bool on);
u64 perf_events_lost(const struct perf_events *ev);

#endif /* HARNESS_PERF_EVENTS_H */
