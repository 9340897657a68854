/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A perf.data file, written as the records come. */
#ifndef HARNESS_PERF_WRITE_H
#define HARNESS_PERF_WRITE_H

#include "harness/perf_abi.h"

struct perf_write;

struct perf_write *perf_write_open(const char *path, bool io_uring, struct perf_error *err);
int perf_write_refused(const struct perf_write *w);
int perf_write_begin(struct perf_write *w, const struct perf_event_attr *attr, const u64 *ids,
		     u32 nr_ids);
int perf_write_record(struct perf_write *w, const void *record, size_t size);
int perf_write_round(struct perf_write *w);
int perf_write_close(struct perf_write *w, const char *version, char *const argv[], u64 *bytes,
		     struct perf_error *err);

#endif /* HARNESS_PERF_WRITE_H */
