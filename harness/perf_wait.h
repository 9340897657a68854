/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sleep until one of many descriptors has something: io_uring, or poll(2) where it is refused. */
#ifndef HARNESS_PERF_WAIT_H
#define HARNESS_PERF_WAIT_H

#include "ehframe/base.h"

struct perf_wait;

struct perf_wait *perf_wait_new(const int *fds, u32 nr, bool io_uring);
void perf_wait_free(struct perf_wait *w);
int perf_wait_refused(const struct perf_wait *w);
bool perf_wait_all_closed(const struct perf_wait *w, u32 nr);
int perf_wait_for(struct perf_wait *w, u32 timeout_ms);

#endif /* HARNESS_PERF_WAIT_H */
