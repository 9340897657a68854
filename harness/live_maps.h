/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What running processes map, read again at each stop, and told as perf records where it changed.
 */
#ifndef HARNESS_LIVE_MAPS_H
#define HARNESS_LIVE_MAPS_H

#include <sys/types.h>

#include "harness/perf_proc.h"

struct live_maps;

/**
 * struct live_maps_out - who is told
 * @record: an MMAP2 record for a mapping that is new
 * @reset: mappings of files are gone: forget all of the process; records of what there is follow
 * @arg: passed to both
 * @id_size: bytes of sample_id behind each record, written as 0
 */
struct live_maps_out {
	perf_ring_fn record;
	int (*reset)(void *arg, pid_t pid);
	void *arg;
	u32 id_size;
};

/**
 * struct live_maps_stats - what was done
 * @reads: of /proc/PID/maps
 * @changes: reads that found something else than the last one
 * @resets: of them, those that found mappings of files gone
 */
struct live_maps_stats {
	u64 reads;
	u64 changes;
	u64 resets;
};

struct live_maps *live_maps_new(const struct live_maps_out *out);
void live_maps_free(struct live_maps *m);
int live_maps_update(struct live_maps *m, pid_t pid, pid_t tid);
int live_maps_fork(struct live_maps *m, pid_t parent, pid_t pid);
void live_maps_drop(struct live_maps *m, pid_t pid);
const struct live_maps_stats *live_maps_stats(const struct live_maps *m);

#endif /* HARNESS_LIVE_MAPS_H */
