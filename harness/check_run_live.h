/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A capture under way, handed record by record to another thread, and to a file.
 */
#ifndef HARNESS_CHECK_RUN_LIVE_H
#define HARNESS_CHECK_RUN_LIVE_H

#include "harness/perf_capture.h"
#include "harness/perf_order.h"

struct check_run_live;

/**
 * struct check_run_live_opts - what to capture
 * @capture: how
 * @command: program and arguments, ended by NULL; or NULL with @pid
 * @pid: a running process
 * @save: file to write, or NULL
 * @argv: own command line, kept in that file
 * @note: gets sentences for the user, from the capturing thread
 * @arg: passed to it
 */
struct check_run_live_opts {
	struct perf_capture_opts capture;
	char *const *command;
	pid_t pid;
	const char *save;
	char *const *argv;
	void (*note)(void *arg, const char *text);
	void *arg;
};

/**
 * struct check_run_live_result - how it went
 * @end: as perf_capture_command() says
 * @err: its message, where @end is not PERF_CAPTURE_OK
 * @capture: its figures
 * @saved: bytes written to the file
 * @save_err: what went wrong with the file; status 0 where nothing did
 */
struct check_run_live_result {
	enum perf_capture_end end;
	struct perf_error err;
	struct perf_capture_result capture;
	u64 saved;
	struct perf_error save_err;
};

int check_run_live(const struct check_run_live_opts *opts,
		   int (*consume)(struct check_run_live *live, void *arg), void *arg,
		   struct check_run_live_result *result);
int check_run_live_next(struct check_run_live *live, struct perf_event_rec *rec);
const struct perf_order_stats *check_run_live_order(const struct check_run_live *live);
u64 check_run_live_bad(const struct check_run_live *live);

#endif /* HARNESS_CHECK_RUN_LIVE_H */
