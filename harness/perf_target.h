/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A command that waits, forked but not executed, until its events are open. */
#ifndef HARNESS_PERF_TARGET_H
#define HARNESS_PERF_TARGET_H

#include <signal.h>
#include <sys/types.h>

#include "harness/perf_abi.h"

/**
 * struct perf_target - the forked child
 * @pid: its pid, 0 once it is reaped or if there is none
 * @go: socket that it waits on, -1 when closed
 * @report: pipe that it reports a failed execve() on, -1 when closed
 */
struct perf_target {
	pid_t pid;
	int go;
	int report;
};

int perf_target_fork(struct perf_target *t, char *const argv[], const sigset_t *mask);
int perf_target_start(struct perf_target *t);
bool perf_target_reap(struct perf_target *t, int *wait_status);
void perf_target_end(struct perf_target *t);
void perf_target_explain(int status, const char *name, struct perf_error *err);

#endif /* HARNESS_PERF_TARGET_H */
