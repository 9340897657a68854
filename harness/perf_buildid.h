/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The build-id table of a perf.data file: which path had which build-id. */
#ifndef HARNESS_PERF_BUILDID_H
#define HARNESS_PERF_BUILDID_H

#include "harness/perf_abi.h"

struct perf_buildid;

struct perf_buildid *perf_buildid_new(void);
void perf_buildid_free(struct perf_buildid *t);
int perf_buildid_add(struct perf_buildid *t, const void *record, size_t size, u16 misc);
const u8 *perf_buildid_find(const struct perf_buildid *t, const char *path, u32 *size);

#endif /* HARNESS_PERF_BUILDID_H */
