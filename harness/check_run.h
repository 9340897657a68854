/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Unwind the samples of a command, a process or a perf.data file, and compare each with libdw.
 */
#ifndef HARNESS_CHECK_RUN_H
#define HARNESS_CHECK_RUN_H

#include <stdio.h>

#include "harness/check_run_names.h"
#include "harness/perf_capture.h"

/* Failing samples that the text report lists in full; all are in the JSON. */
#define CHECK_RUN_LIST	10

/**
 * struct check_run_options - what to check; zeros are the defaults
 * @prog: name in messages
 * @argv: own command line, kept in a saved file
 * @command: program and arguments to sample, ended by NULL; NULL with @perf_data
 * @perf_data: file to read, "-" for a pipe on standard input
 * @core: core dump to read; NULL for none
 * @exe: the program that dumped it, or NULL
 * @pid: running process to sample; 0 for none
 * @defer: stop its threads and walk their live memory; else what the kernel copies of the stack
 * @exit_status: where nothing differs, the command's own exit status becomes the result
 * @save: file to write what was captured to, or NULL
 * @capture: how to capture
 * @symfs: put before each recorded path, or NULL
 * @json: JSON lines instead of text
 * @fault_reads: walk every sample again once for each read, with that read failing
 * @debug_frame: libdw may use .debug_frame of separate files
 * @no_io_uring: plain reads, writes and poll(2)
 * @jobs: processes that print the stacks of @perf_data; 0: one, as everywhere else
 * @names: which frames are named, and what is written with them; its symfs and live are set
 *	from here
 * @out: where the report goes; NULL for standard output
 */
struct check_run_options {
	const char *prog;
	char *const *argv;
	char *const *command;
	const char *perf_data;
	const char *core;
	const char *exe;
	pid_t pid;
	bool defer;
	bool exit_status;
	const char *save;
	struct perf_capture_opts capture;
	const char *symfs;
	bool json;
	bool fault_reads;
	bool debug_frame;
	bool no_io_uring;
	u32 jobs;
	struct check_run_names_options names;
	FILE *out;
};

int check_run_main(const struct check_run_options *opts);

#endif /* HARNESS_CHECK_RUN_H */
