/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sampling of a command or of running processes: registers and a piece of the stack each time. */
#ifndef HARNESS_PERF_CAPTURE_H
#define HARNESS_PERF_CAPTURE_H

#include <sys/types.h>

#include "harness/perf_abi.h"

#define PERF_CAPTURE_FREQUENCY	997u		/* Hz; prime: not in step with timers */
#define PERF_CAPTURE_STACK	(16u << 10)	/* bytes */
#define PERF_CAPTURE_RING	(4u << 20)	/* bytes per CPU: no loss at 10 kHz with 8 KiB */
#define PERF_CAPTURE_MAX_STACK	65528u		/* the kernel's limit; multiple of 8 */

/**
 * struct perf_capture_opts - what to record; zeros mean the defaults
 * @frequency: samples per second and CPU
 * @stack_size: bytes of stack in a sample, a multiple of 8, at most PERF_CAPTURE_MAX_STACK
 * @ring_size: bytes of ring buffer per CPU; rounded up to a power of two
 * @cycles: hardware cycles instead of the CPU clock, where the machine has them
 * @user_only: no samples while the target is in the kernel
 * @no_io_uring: wait with poll(2)
 * @duration_ms: stop after this time; 0: when the target ends
 */
struct perf_capture_opts {
	u32 frequency;
	u32 stack_size;
	u32 ring_size;
	bool cycles;
	bool user_only;
	bool no_io_uring;
	u32 duration_ms;
};

/**
 * struct perf_capture_sink - who gets the records; each function may be NULL
 * @start: events are open, the target does not run yet: the attr and the ids of its events
 * @record: one record, of this machine's byte order; the bytes hold during the call
 * @round: every ring has been read once more (PERF_RECORD_FINISHED_ROUND)
 * @note: something was given up, or is worth knowing: a sentence for the user
 * @arg: passed to all of them
 *
 * A non-zero return value of the first three ends the capture and becomes its result's
 * @sink_status.
 */
struct perf_capture_sink {
	int (*start)(void *arg, const struct perf_event_attr *attr, const u64 *ids, u32 nr_ids);
	int (*record)(void *arg, const void *record, size_t size);
	int (*round)(void *arg);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/* How a capture ended. */
enum perf_capture_end {
	PERF_CAPTURE_OK,		/* the target ended, or was interrupted, or time is up */
	PERF_CAPTURE_IMPOSSIBLE,	/* the kernel refuses, whatever is given up */
	PERF_CAPTURE_NO_COMMAND,	/* the command cannot be executed, or no such process */
	PERF_CAPTURE_SINK,		/* the sink ended it */
	PERF_CAPTURE_BAD_OPTS,		/* options out of range */
	PERF_CAPTURE_FAILED,		/* something else went wrong */
};

/**
 * struct perf_capture_result - figures of a capture
 * @records: records handed to the sink
 * @samples: of them, samples
 * @bytes: their bytes
 * @lost: records that the kernel had no room for
 * @throttled: times that the kernel paused sampling
 * @rounds: times that all rings were read
 * @ring_size: bytes of ring buffer per CPU that were granted
 * @cpus: number of rings
 * @user_only: samples in the kernel were given up, or not asked for
 * @io_uring: waited with io_uring
 * @signal: signal that interrupted the capture, 0 if none did
 * @exited: the command has ended, with @wait_status as from waitpid()
 * @sink_status: what the sink returned
 */
struct perf_capture_result {
	u64 records;
	u64 samples;
	u64 bytes;
	u64 lost;
	u64 throttled;
	u64 rounds;
	u32 ring_size;
	u32 cpus;
	bool user_only;
	bool io_uring;
	int signal;
	bool exited;
	int wait_status;
	int sink_status;
};

enum perf_capture_end perf_capture_command(const struct perf_capture_opts *opts,
					   char *const argv[],
					   const struct perf_capture_sink *sink,
					   struct perf_capture_result *result,
					   struct perf_error *err);
enum perf_capture_end perf_capture_attach(const struct perf_capture_opts *opts,
					  const pid_t *pids, u32 nr_pids,
					  const struct perf_capture_sink *sink,
					  struct perf_capture_result *result,
					  struct perf_error *err);

#endif /* HARNESS_PERF_CAPTURE_H */
