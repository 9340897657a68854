/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A running process described by COMM and MMAP2 records, from /proc. */
#ifndef HARNESS_PERF_PROC_H
#define HARNESS_PERF_PROC_H

#include <sys/types.h>

#include "harness/perf_ring.h"

/**
 * struct perf_proc_out - where the records go
 * @fn: called with each record, as perf_ring_drain() does
 * @arg: passed to @fn
 * @id_size: bytes of sample_id that the events' attr puts behind each record; written as 0
 * @build_ids: look into mapped ELF files for their build-id
 */
struct perf_proc_out {
	perf_ring_fn fn;
	void *arg;
	u32 id_size;
	bool build_ids;
};

u32 perf_proc_id_size(u64 sample_type);
int perf_proc_threads(pid_t pid, pid_t **tids);
int perf_proc_mapping(pid_t pid, char *line, const struct perf_proc_out *out);
int perf_proc_describe(pid_t pid, const struct perf_proc_out *out);
u32 perf_proc_build_id(const char *path, u8 id[PERF_ABI_BUILD_ID_LEN]);
const void *perf_proc_vdso(size_t *size);

#endif /* HARNESS_PERF_PROC_H */
