/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What deferral costs and what it saves: the figures of a live run, and their report.
 */
#ifndef HARNESS_DEFER_REPORT_H
#define HARNESS_DEFER_REPORT_H

#include "harness/json.h"
#include "harness/live.h"

#include <stdio.h>

/**
 * struct defer_side - one of the two ways to a trace of the same stop
 * @complete: traces that end where the stack does
 * @full: those that fill all entries
 * @cut: those that end where the copied window does
 * @frames: of all
 * @deepest: frames of the deepest
 */
struct defer_side {
	u64 complete;
	u64 full;
	u64 cut;
	u64 frames;
	u32 deepest;
};

/**
 * struct defer_figures - figures of a run in which tasks were stopped
 * @live: what the stops came to
 * @requests: requests that were queued
 * @walks: walks: one an entry context, whoever asked
 * @callbacks: callbacks
 * @bad: requests, cookies or callbacks that were not as they must be
 * @changed: stops at which other threads changed the stack under the walk
 * @pairs: stops that were also walked as a kernel without deferral would: from a copy of the stack
 * @window: bytes of stack that such a sample asks for
 * @copied_bytes: bytes that were copied, of all pairs
 * @read_bytes: bytes that the deferred walks of the same stops read, of stack, data and CFI
 * @live_bytes: of them, those of the task's own memory: stack and data
 * @defer: the deferred walks
 * @copy: those of the copies
 * @maps_reads: times that the mappings were read
 * @maps_changes: of them, times that they had changed
 * @maps_resets: of them, times that files had been unmapped
 */
struct defer_figures {
	struct live_result live;
	u64 requests;
	u64 walks;
	u64 callbacks;
	u64 bad;
	u64 changed;
	u64 pairs;
	u32 window;
	u64 copied_bytes;
	u64 read_bytes;
	u64 live_bytes;
	struct defer_side defer;
	struct defer_side copy;
	u64 maps_reads;
	u64 maps_changes;
	u64 maps_resets;
};

void defer_report_text(const struct defer_figures *f, FILE *out);
void defer_report_json(const struct defer_figures *f, FILE *out);

#endif /* HARNESS_DEFER_REPORT_H */
