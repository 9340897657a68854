/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The zstd stream inside PERF_RECORD_COMPRESSED, turned back into records piece by piece. */
#ifndef HARNESS_PERF_UNZIP_H
#define HARNESS_PERF_UNZIP_H

#include "harness/perf_abi.h"

struct perf_unzip;

struct perf_unzip *perf_unzip_new(void);
void perf_unzip_free(struct perf_unzip *z);
void perf_unzip_feed(struct perf_unzip *z, const void *bytes, size_t len);
int perf_unzip_more(struct perf_unzip *z, const char **why);
const u8 *perf_unzip_peek(const struct perf_unzip *z, size_t *len);
void perf_unzip_take(struct perf_unzip *z, size_t len);

#endif /* HARNESS_PERF_UNZIP_H */
