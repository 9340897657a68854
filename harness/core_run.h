/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A core dump as a run: a sample a thread.
 */
#ifndef HARNESS_CORE_RUN_H
#define HARNESS_CORE_RUN_H

#include "harness/check_run_sample.h"
#include "harness/core.h"

/**
 * struct core_run_opts - what is known besides the core
 * @exe: the program, or NULL
 * @symfs: put before the names of files, or NULL
 * @note: gets sentences for a person
 * @arg: passed to it
 */
struct core_run_opts {
	const char *exe;
	const char *symfs;
	void (*note)(void *arg, const char *text);
	void *arg;
};

void core_run_params(const struct core *core, const struct core_run_opts *opts,
		     struct module_params *params);
int core_run(const struct core *core, const struct core_run_opts *opts,
	     struct check_run_samples *samples);

#endif /* HARNESS_CORE_RUN_H */
