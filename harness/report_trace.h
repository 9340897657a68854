/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The figures of a run over many samples, and their report: for a person, or as JSON lines.
 */
#ifndef HARNESS_REPORT_TRACE_H
#define HARNESS_REPORT_TRACE_H

#include "harness/compare.h"
#include "harness/defer_merge.h"
#include "harness/defer_report.h"
#include "harness/frame_records.h"
#include "harness/json.h"
#include "harness/replay.h"

#include <stdio.h>

/* Depths are counted in buckets: 1, 2, 3-4, 5-8, 9-16 .. 257-512. */
#define REPORT_TRACE_DEPTHS	10

/**
 * struct report_trace - figures of a run
 * @samples: samples met
 * @lost: records that the kernel lost, as it says
 * @untestable: samples that could not be walked, by reason
 * @no_oracle: samples that libdw could not begin to walk
 * @no_oracle_why: its word on the first of them
 * @outcome: samples by outcome; the untestable ones of the two lines above too
 * @explained: of the shorter and longer ones, those with a reason
 * @fault: of the longer ones, by the fault of libdw that explains them
 * @unexplained: of the shorter and longer ones, the others
 * @complete: testable samples whose trace ends where the stack does
 * @partial: the other testable ones
 * @stop: testable samples by stop reason
 * @stop_memory: of those that a stack or data read ended, by why it failed
 * @frames: frames of ours, of all testable samples
 * @frames_oracle: frames of libdw, after the cut
 * @guessed: frames of libdw behind the cut, which it reached by a guess
 * @debug_frame: those that it reached by .debug_frame
 * @via: frames of ours by method
 * @depth: testable samples by depth
 * @deepest: frames of the deepest trace
 * @cost: sums over all walks that are compared
 * @kernel_regs: testable samples that lack registers as they hit the kernel in an NMI
 * @faults: reads that were made to fail
 * @cuts: stack windows that were shortened
 * @fault_samples: samples that this was done to
 * @cut_samples: samples whose window was shortened
 * @fault_bad: faulted traces that contradict the whole one
 * @copied_bytes: bytes of stack that came with the testable samples
 * @window_cut: testable samples whose trace ends where what was copied of the stack does
 * @window_bad: stops at which the trace of a copy is no prefix of that of the memory
 * @chains: samples that came with the trace of a second reference: libgcc's backtrace
 * @chain_equal: of them, those with the same pcs to the same end
 * @chain_bad: of them, those that contradict
 * @chain_blind: of them, those that end in a module without .eh_frame_hdr, as libgcc's do
 * @chain_spoke: of the equal ones, those whose end libdw did not see
 * @records: samples where libdw stops by a fault of its own, and frame records go on
 * @records_complete: of them, those with complete traces
 * @records_whole: of those, those that the records confirm to the end
 * @records_differ: samples that they contradict
 * @records_astray: samples whose trace is not complete, and that they contradict
 * @records_beyond: frames behind libdw's last one in those samples
 * @records_named: of them, those that a record names
 * @cache_bad: traces that were not the same with caches
 * @cache_hits: rows that the cache had
 * @cache_misses: rows that it had not
 * @records_bad: records of the input that contradict themselves
 * @records_unknown: records of types that are not known
 * @records_late: records that came after later ones
 */
struct report_trace {
	u64 samples;
	u64 lost;
	u64 untestable[REPLAY_NR_UNTESTABLES];
	u64 no_oracle;
	char no_oracle_why[160];
	u64 outcome[COMPARE_NR_OUTCOMES];
	u64 explained;
	u64 fault[COMPARE_NR_FAULTS];
	u64 unexplained;
	u64 complete;
	u64 partial;
	u64 stop[EHF_NR_STOPS];
	u64 stop_memory[REPLAY_NR_SOURCES];
	u64 frames;
	u64 frames_oracle;
	u64 guessed;
	u64 debug_frame;
	u64 via[EHU_NR_VIA];
	u64 depth[REPORT_TRACE_DEPTHS];
	u32 deepest;
	struct replay_cost cost;
	u64 kernel_regs;
	u64 faults;
	u64 cuts;
	u64 fault_samples;
	u64 cut_samples;
	u64 fault_bad;
	u64 copied_bytes;
	u64 window_cut;
	u64 window_bad;
	u64 chains;
	u64 chain_equal;
	u64 chain_bad;
	u64 chain_blind;
	u64 chain_spoke;
	u64 records;
	u64 records_complete;
	u64 records_whole;
	u64 records_differ;
	u64 records_astray;
	u64 records_beyond;
	u64 records_named;
	u64 cache_bad;
	u64 cache_hits;
	u64 cache_misses;
	u64 records_bad;
	u64 records_unknown;
	u64 records_late;
};

void report_trace_untestable(struct report_trace *f, enum replay_untestable why);
void report_trace_no_oracle(struct report_trace *f, const char *why);
void report_trace_add(struct report_trace *f, const struct ehu_trace *ours,
		      const struct compare_oracle *oracle, const struct compare_result *result,
		      const struct replay_cost *cost);
void report_trace_chain(struct report_trace *f, const struct compare_chain *chain,
			const struct compare_result *result);
void report_trace_records(struct report_trace *f, const struct ehu_trace *ours,
			  const struct frame_records *records);
bool report_trace_cut(const struct ehu_trace *t, const struct replay_cost *cost);
u64 report_trace_testable(const struct report_trace *f);
bool report_trace_failed(const struct report_trace *f);
void report_trace_verdict(const struct report_trace *f, char *buf, size_t n);

/*
 * What the report says of the run besides the figures: @defer is of a run with stopped tasks,
 * @merge of a recording with deferred callchains, @core of a core dump; else NULL. With @cover the
 * modules' code is told that has rows.
 */
struct report_trace_context {
	const struct modules *modules;
	const struct pager *pager;
	const struct task_stats *tasks;
	const struct defer_figures *defer;
	const struct defer_merge_figures *merge;
	const struct core *core;
	bool fault_reads;
	bool cover;
};

void report_trace_text(const struct report_trace *f, const struct report_trace_context *c,
		       FILE *out);
void report_trace_json(const struct report_trace *f, const struct report_trace_context *c,
		       FILE *out);

/*
 * One object a sample: harness/report_trace_json.c. @chain and @records are what other references
 * said, or NULL. @name adds what a frame is called, and
 * @name_at says it (NULL for nothing), where they are set.
 */
struct report_trace_sample {
	const struct perf_event_rec *rec;
	const struct task *task;
	const struct ehu_trace *ours;
	const struct compare_oracle *oracle;
	const struct compare_result *result;
	const struct replay_cost *cost;
	const struct compare_chain *chain;
	const struct frame_records *records;
	const char *untestable;
	const char *untestable_text;
	void (*name)(void *arg, struct json *j, const struct ehu_entry *e);
	const char *(*name_at)(void *arg, u64 lookup, u64 *off);
	void *name_arg;
};

void report_trace_json_sample(const struct report_trace_sample *s, FILE *out);

#endif /* HARNESS_REPORT_TRACE_H */
