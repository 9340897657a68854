// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Makes every read of a walk fail, one at a time, and cuts the stack window at every word. What
 * is left must be a prefix of the whole trace, and say that something was missing.
 */
#include "harness/check_run_fault.h"

#include <inttypes.h>

static void check(const struct ehu_trace *whole, const struct ehu_trace *some,
		  struct report_trace *figures, struct check_run_fault *first, const char *what,
		  u64 number)
{
	u32 at;

	if (compare_faulted(whole, some, &at))
		return;
	figures->fault_bad++;
	if (first->what[0])
		return;
	snprintf(first->what, sizeof(first->what), "%s %" PRIu64 ": %u frames, %s, not %u, %s",
		 what, number, some->nr, ehf_stop_name(some->stop), whole->nr,
		 ehf_stop_name(whole->stop));
	first->at = at;
}

/**
 * check_run_fault() - walk a sample with faults
 * @r: the sample
 * @whole: its trace without them, at most REPLAY_ENTRIES entries
 * @windows: cut the stack window too
 * @figures: counters, added to
 * @first: set to the first contradiction
 *
 * The source copies what is read, as a kernel does: there are more reads than where it hands out
 * pointers, and each of them fails once. Without a fault the trace has to be the same.
 */
void check_run_fault(struct replay *r, const struct ehu_trace *whole, bool windows,
		     struct report_trace *figures, struct check_run_fault *first)
{
	static struct ehu_entry entry[REPLAY_ENTRIES];
	struct ehu_trace some = { .entry = entry, .max = REPLAY_ENTRIES };
	struct replay_opts opts = { .copy = true };
	struct replay_cost cost;
	u64 reads, n;

	first->what[0] = '\0';
	figures->fault_samples++;
	replay_walk(r, &opts, &some, &cost);
	if (!compare_same(whole, &some, &first->at)) {
		figures->fault_bad++;
		snprintf(first->what, sizeof(first->what), "another trace when copying");
	}
	reads = cost.reads;
	for (n = 1; n <= reads; n++) {
		opts.fault_at = n;
		replay_walk(r, &opts, &some, &cost);
		check(whole, &some, figures, first, "read", n);
		figures->faults++;
	}
	if (!windows)
		return;
	figures->cut_samples++;
	opts = (struct replay_opts){ .cut_stack = true };
	for (n = 0; n < r->stack_size; n += 8) {
		opts.stack_limit = (u32)n;
		replay_walk(r, &opts, &some, &cost);
		check(whole, &some, figures, first, "stack window of", n);
		figures->cuts++;
	}
}
