/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A capture that goes to a file and nowhere else: what ehunwind-record does. */
#ifndef HARNESS_RECORD_MAIN_H
#define HARNESS_RECORD_MAIN_H

#include "harness/perf_capture.h"

#define RECORD_MAIN_PIDS	64

/**
 * struct record_main - what to record and where
 * @prog: name in messages
 * @path: file to write
 * @argv: own command line, kept in the file
 * @opts: what to record
 * @pids: processes to attach to
 * @nr_pids: their number; 0: a command is run
 * @quiet: say nothing but errors
 */
struct record_main {
	const char *prog;
	const char *path;
	char *const *argv;
	struct perf_capture_opts opts;
	pid_t pids[RECORD_MAIN_PIDS];
	u32 nr_pids;
	bool quiet;
};

int record_main_run(const struct record_main *rec, char *const command[]);

#endif /* HARNESS_RECORD_MAIN_H */
