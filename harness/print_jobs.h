/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Printing by several processes: each reads all records, walks the samples of every n-th block,
 * and writes their stacks when it is that block's turn.
 */
#ifndef HARNESS_PRINT_JOBS_H
#define HARNESS_PRINT_JOBS_H

#include "ehframe/base.h"

#include <stdio.h>

/* Samples of a block: enough to make the change of turns cheap, few enough to share them well. */
#define PRINT_JOBS_BLOCK	512

/**
 * struct print_jobs_sum - what the jobs have done together
 * @samples: they met
 * @untestable: of them, those without a stack
 */
struct print_jobs_sum {
	u64 samples;
	u64 untestable;
};

struct print_jobs;

struct print_jobs *print_jobs_start(u32 nr, FILE *out);
bool print_jobs_first(const struct print_jobs *j);
FILE *print_jobs_text(struct print_jobs *j);
int print_jobs_sample(struct print_jobs *j, void (*flush)(void *arg), void *arg);
int print_jobs_end(struct print_jobs *j, int rc, void (*flush)(void *arg), void *arg,
		   struct print_jobs_sum *sum);

#endif /* HARNESS_PRINT_JOBS_H */
