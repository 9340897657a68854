/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* perf_event_open() and the ring buffer behind it. */
#ifndef HARNESS_PERF_RING_H
#define HARNESS_PERF_RING_H

#include <sys/types.h>

#include "harness/perf_abi.h"

/**
 * struct perf_ring - one mapped ring buffer
 * @fd: event whose mapping it is
 * @map: control page, then data; NULL: not mapped
 * @map_size: bytes of the mapping
 * @data: where the records are
 * @data_size: bytes there, a power of two
 * @bounce: a record that wraps around is put together here
 */
struct perf_ring {
	int fd;
	struct perf_event_mmap_page *map;
	size_t map_size;
	const u8 *data;
	size_t data_size;
	u8 *bounce;
};

typedef int (*perf_ring_fn)(void *arg, const void *record, size_t size);

int perf_ring_event(struct perf_event_attr *attr, pid_t pid, int cpu);
int perf_ring_map(struct perf_ring *r, int fd, size_t data_size);
void perf_ring_unmap(struct perf_ring *r);
int perf_ring_drain(struct perf_ring *r, perf_ring_fn fn, void *arg);

#endif /* HARNESS_PERF_RING_H */
