/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Deferral on live processes: a request at each overflow, the walk of live memory before the
 * thread goes on, and the comparison.
 */
#ifndef HARNESS_DEFER_H
#define HARNESS_DEFER_H

#include "harness/check_run_sample.h"
#include "harness/defer_report.h"

/**
 * struct defer_opts - what is sampled
 * @live: how often, how long
 * @command: program and arguments, ended by NULL; or NULL with @pid
 * @pid: running process
 * @window: bytes of stack that a sample would have copied; 0: PERF_CAPTURE_STACK
 * @save: perf.data file to write, or NULL
 * @no_io_uring: plain writes
 * @argv: own command line, kept in that file
 * @note: gets sentences for the user
 * @arg: passed to it
 */
struct defer_opts {
	struct live_opts live;
	char *const *command;
	pid_t pid;
	u32 window;
	const char *save;
	bool no_io_uring;
	char *const *argv;
	void (*note)(void *arg, const char *text);
	void *arg;
};

/**
 * struct defer_result - how it went
 * @end: as live_command() says
 * @err: its message, where @end is not PERF_CAPTURE_OK
 * @saved: bytes written to the file
 * @save_err: what went wrong with the file; status 0 where nothing did
 */
struct defer_result {
	enum perf_capture_end end;
	struct perf_error err;
	u64 saved;
	struct perf_error save_err;
};

int defer_run(const struct defer_opts *opts, struct check_run_samples *samples,
	      struct defer_figures *figures, struct defer_result *result);

#endif /* HARNESS_DEFER_H */
