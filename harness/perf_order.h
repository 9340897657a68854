/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Records of several CPUs put in order of time, with a bound on memory. */
#ifndef HARNESS_PERF_ORDER_H
#define HARNESS_PERF_ORDER_H

#include "harness/perf_data.h"

/* Enough for two rounds of the default rings of 16 CPUs, even if all stacks are full. */
#define PERF_ORDER_BYTES	(128u << 20)

/**
 * struct perf_order_stats - how well ordering worked
 * @pushed: records taken in
 * @early: records that had to leave before their round, because the memory bound was reached
 * @late: records that came out after one with a later time
 * @most_bytes: most memory held at once
 */
struct perf_order_stats {
	u64 pushed;
	u64 early;
	u64 late;
	size_t most_bytes;
};

struct perf_order;

struct perf_order *perf_order_new(size_t max_bytes);
void perf_order_free(struct perf_order *q);
int perf_order_push(struct perf_order *q, const struct perf_event_rec *rec);
void perf_order_round(struct perf_order *q);
void perf_order_finish(struct perf_order *q);
int perf_order_pop(struct perf_order *q, struct perf_decode *d, struct perf_event_rec *out);
int perf_order_next(struct perf_order *q, struct perf_data *pd, struct perf_event_rec *out);
const u8 *perf_order_ahead(const struct perf_order *q, u32 nr, u32 *size);
const struct perf_order_stats *perf_order_stats(const struct perf_order *q);

#endif /* HARNESS_PERF_ORDER_H */
