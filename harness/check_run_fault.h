/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Fault injection: walk a sample again and again, each time with less of its memory.
 */
#ifndef HARNESS_CHECK_RUN_FAULT_H
#define HARNESS_CHECK_RUN_FAULT_H

#include "harness/report_trace.h"

/* One sample in so many is also walked with every shorter stack window. */
#define CHECK_RUN_CUT_EVERY	50

/**
 * struct check_run_fault - the first contradiction of a sample
 * @what: what was done, in words; "" where nothing contradicts
 * @at: frame
 */
struct check_run_fault {
	char what[120];
	u32 at;
};

void check_run_fault(struct replay *r, const struct ehu_trace *whole, bool windows,
		     struct report_trace *figures, struct check_run_fault *first);

#endif /* HARNESS_CHECK_RUN_FAULT_H */
