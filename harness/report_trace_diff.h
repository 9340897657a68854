/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Two traces that part, side by side, with names, and both rows at the frame before.
 */
#ifndef HARNESS_REPORT_TRACE_DIFF_H
#define HARNESS_REPORT_TRACE_DIFF_H

#include "harness/oracle_frames.h"
#include "harness/report_trace.h"

void report_trace_diff(const struct report_trace_sample *s, u64 number, struct replay *r,
		       struct oracle_frames *oracle, FILE *out);

#endif /* HARNESS_REPORT_TRACE_DIFF_H */
