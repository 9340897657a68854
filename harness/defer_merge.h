/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Deferred callchains of a recording: samples wait for the records with their user part, and what
 * the kernel found is compared with what we find.
 */
#ifndef HARNESS_DEFER_MERGE_H
#define HARNESS_DEFER_MERGE_H

#include "harness/json.h"
#include "harness/perf_decode.h"
#include "unwind/walk.h"

#include <stdio.h>

/* Bounds; what does not fit is counted. */
#define DEFER_MERGE_WAITING	16384	/* samples at a time, each with 510 addresses at most */
#define DEFER_MERGE_EARLY	1024	/* records before their sample */

/**
 * struct defer_merge_figures - what came out
 * @samples: samples with a cookie = @merged + @mismatched + @left + @dropped
 * @records: records of user parts
 * @merged: samples whose user part came = @uncompared + @equal + @ours_shorter + @ours_longer +
 *	@different
 * @early: of them, those whose record came first, from another buffer
 * @mismatched: samples that a record of their thread with another cookie put an end to: their own
 *	was lost
 * @left: samples whose record never came
 * @dropped: samples that were not kept for lack of room
 * @orphans: records that no sample waited for
 * @no_tid: of them, records that do not say which thread they are of
 * @empty: records of no address
 * @longest: addresses of the longest record
 * @uncompared: there is no trace of ours: the sample has no registers or stack
 * @equal: the same addresses
 * @ours_shorter: ours ends earlier, the same up to there: the window of the stack was too short
 * @ours_longer: the kernel's ends earlier
 * @different: an address differs
 */
struct defer_merge_figures {
	u64 samples;
	u64 records;
	u64 merged;
	u64 early;
	u64 mismatched;
	u64 left;
	u64 dropped;
	u64 orphans;
	u64 no_tid;
	u64 empty;
	u64 longest;
	u64 uncompared;
	u64 equal;
	u64 ours_shorter;
	u64 ours_longer;
	u64 different;
};

struct defer_merge;

struct defer_merge *defer_merge_new(void);
void defer_merge_free(struct defer_merge *m);
int defer_merge_sample(struct defer_merge *m, const struct perf_event_rec *rec,
		       const struct ehu_trace *ours);
int defer_merge_record(struct defer_merge *m, const struct perf_event_rec *rec);
void defer_merge_end(struct defer_merge *m);
const struct defer_merge_figures *defer_merge_figures(const struct defer_merge *m);
void defer_merge_text(const struct defer_merge_figures *f, FILE *out);
void defer_merge_json(const struct defer_merge_figures *f, FILE *out);

#endif /* HARNESS_DEFER_MERGE_H */
