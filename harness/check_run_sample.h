/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is done with each record of a run: processes are followed, samples walked, compared,
 * counted and written down.
 */
#ifndef HARNESS_CHECK_RUN_SAMPLE_H
#define HARNESS_CHECK_RUN_SAMPLE_H

#include "harness/check_run.h"
#include "harness/check_run_oracle.h"
#include "harness/defer_merge.h"
#include "harness/perf_order.h"
#include "harness/report_trace.h"

/**
 * struct check_run_samples - a run over records
 * @opts: options
 * @out: where JSON lines go
 * @pager: who reads files
 * @modules: mapped files
 * @tasks: processes
 * @replay: the sample at hand
 * @oracles: libdw's sessions
 * @cache: rows and CIEs of the run, for a second walk of each sample
 * @memo: the same
 * @slot: storage of @cache
 * @names: of frames
 * @still: is the task of the sample at hand still stopped; NULL where none is
 * @still_arg: passed to it
 * @merge: deferred callchains of the records
 * @order: where the records wait that come from a file; NULL where they do not
 * @chains: user callchains of the samples are libgcc's, made in the program: a second reference
 * @figures: what came out so far
 * @list: samples that failed, as text; what @listed says of them
 * @listed: samples in @list, at most CHECK_RUN_LIST
 */
struct check_run_samples {
	const struct check_run_options *opts;
	FILE *out;
	struct pager *pager;
	struct modules *modules;
	struct task_table *tasks;
	struct replay replay;
	struct check_run_oracle *oracles;
	struct ehu_row_cache cache;
	struct ehf_memo memo;
	struct ehu_slot *slot;
	struct check_run_names *names;
	bool (*still)(void *arg);
	void *still_arg;
	struct defer_merge *merge;
	const struct perf_order *order;
	bool chains;
	struct report_trace figures;
	FILE *list;
	char *list_text;
	size_t list_size;
	u32 listed;
};

int check_run_samples_init(struct check_run_samples *s, const struct check_run_options *opts,
			   FILE *out, const struct module_params *where);
void check_run_samples_end(struct check_run_samples *s);
int check_run_samples_record(struct check_run_samples *s, const struct perf_event_rec *rec);
int check_run_samples_pass(struct check_run_samples *s, const struct perf_event_rec *rec);

/* The parts of a sample's way, for one whose task is stopped: harness/defer.c. */
enum replay_untestable check_run_samples_take(struct check_run_samples *s,
					      const struct perf_event_rec *rec, struct task *task);
int check_run_samples_compare(struct check_run_samples *s, const struct perf_event_rec *rec,
			      struct task *task, const struct ehu_trace *ours,
			      const struct replay_cost *cost);
void check_run_samples_window(struct check_run_samples *s, const struct perf_event_rec *rec,
			      const struct ehu_trace *whole, const struct ehu_trace *window);

#endif /* HARNESS_CHECK_RUN_SAMPLE_H */
