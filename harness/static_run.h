/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The static check of many files: a process a file, several at a time, one report.
 */
#ifndef HARNESS_STATIC_RUN_H
#define HARNESS_STATIC_RUN_H

#include <stdbool.h>

/**
 * struct static_options - how to run it
 * @jobs: files at a time, at least 1
 * @json: JSON lines
 * @verbose: everything one by one
 */
struct static_options {
	unsigned int jobs;
	bool json;
	bool verbose;
};

int static_run(const struct static_options *options, char *const *paths, int nr);

#endif /* HARNESS_STATIC_RUN_H */
