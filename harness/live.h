/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stops each thread of a command or of a process at every so much of its CPU time, on its way back
 * to user space: perf events with sigtrap under ptrace. What deferral is in a kernel, from outside.
 */
#ifndef HARNESS_LIVE_H
#define HARNESS_LIVE_H

#include <sys/types.h>

#include "harness/perf_abi.h"
#include "harness/perf_capture.h"

/* Registers of a stop in perf's order of bits, without those that perf refuses. */
#if defined(__x86_64__)
#define LIVE_REGS	0xff0fffull
#define LIVE_NR_REGS	20
#else
#define LIVE_REGS	0ull
#define LIVE_NR_REGS	1
#endif

/**
 * struct live_stop - a thread that is stopped in user space
 * @pid: its process
 * @tid: the thread
 * @own: for the hooks: what it is to them, as they left it; NULL at first
 * @time: CLOCK_MONOTONIC, ns
 * @abi: PERF_SAMPLE_REGS_ABI_*
 * @regs: those of LIVE_REGS, ascending
 */
struct live_stop {
	pid_t pid;
	pid_t tid;
	void **own;
	u64 time;
	u64 abi;
	u64 regs[LIVE_NR_REGS];
};

/**
 * struct live_hooks - who is told; each may be NULL
 * @start: before anything else: attr and id of the events, as a perf.data file has them
 * @overflow: a thread's time is up: it stays where it is until this returns
 * @exec: a process is another program now, and has one thread. Also the first program of a command
 * @fork: a new process, a copy of @parent
 * @exit: a process is gone
 * @thread: a new thread of a known process
 * @thread_end: a thread is gone, or is let go; @own as above
 * @note: a sentence for the user
 * @arg: passed to all of them
 *
 * All are called in the thread that called live_command() or live_attach(). A non-zero result ends
 * the run and becomes live_result.hook_status.
 */
struct live_hooks {
	int (*start)(void *arg);
	int (*overflow)(void *arg, const struct live_stop *stop);
	int (*exec)(void *arg, pid_t pid);
	int (*fork)(void *arg, pid_t parent, pid_t pid);
	int (*exit)(void *arg, pid_t pid);
	int (*thread)(void *arg, pid_t pid, pid_t tid);
	void (*thread_end)(void *arg, pid_t tid, void *own);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/**
 * struct live_opts - what to do; zeros mean the defaults
 * @frequency: stops per second of CPU time of each thread; PERF_CAPTURE_FREQUENCY
 * @duration_ms: stop after this time; 0: when the target ends
 */
struct live_opts {
	u32 frequency;
	u32 duration_ms;
};

/**
 * struct live_result - figures of a run
 * @overflows: stops that were handed to the hook
 * @late: overflows of a thread that blocked SIGTRAP at the time: it stopped when it no longer did,
 *	which says nothing of where it was. Not handed on
 * @vanished: threads that were gone, killed, before their registers could be read
 * @threads: threads that were followed
 * @processes: processes that were followed
 * @execs: programs executed
 * @blocked: threads that used CPU time and blocked SIGTRAP all the while: not sampled
 * @blocked_name: the first of them
 * @no_event: threads for which the kernel refused an event; @no_event_error is the first errno
 * @signals: signals of the target that were passed on
 * @undetached: threads that could not be let go in time; our own end does that
 * @signal: signal that interrupted the run, 0 if none did
 * @exited: the command has ended, with @wait_status as from waitpid()
 * @hook_status: what a hook returned
 */
struct live_result {
	u64 overflows;
	u64 late;
	u64 vanished;
	u64 threads;
	u64 processes;
	u64 execs;
	u64 blocked;
	char blocked_name[64];
	u64 no_event;
	int no_event_error;
	u64 signals;
	u64 undetached;
	int signal;
	bool exited;
	int wait_status;
	int hook_status;
};

enum perf_capture_end live_command(const struct live_opts *opts, char *const argv[],
				   const struct live_hooks *hooks, struct live_result *result,
				   struct perf_error *err);
enum perf_capture_end live_attach(const struct live_opts *opts, pid_t pid,
				  const struct live_hooks *hooks, struct live_result *result,
				  struct perf_error *err);

bool live_still_stopped(pid_t tid);

#endif /* HARNESS_LIVE_H */
