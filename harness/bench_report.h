/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Tables of a benchmark: engines by captures, geometric means and ratios. */
#ifndef HARNESS_BENCH_REPORT_H
#define HARNESS_BENCH_REPORT_H

#include "harness/bench_run.h"

#define BENCH_MAX_FILES	32

/* A capture that was measured. */
struct bench_file {
	char name[32];
	u32 samples;
	struct bench_result result[BENCH_MAX_ENGINES];
};

/**
 * struct bench_report - what was measured
 * @json: one line a capture and engine, at once, instead of tables at the end
 * @file: captures, @nr of them
 */
struct bench_report {
	bool json;
	u32 nr;
	struct bench_file file[BENCH_MAX_FILES];
};

bool bench_report_add(struct bench_report *report, const char *path, const struct bench_set *set,
		      const struct bench_result *result);
void bench_report_print(const struct bench_report *report);

#endif /* HARNESS_BENCH_REPORT_H */
