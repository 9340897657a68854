// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Follows processes by the records of a run, and walks, compares and counts each sample.
 */
#include "harness/check_run_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check_run_fault.h"
#include "harness/frame_records.h"
#include "harness/report_trace_diff.h"

/* libdw's side of the seam: the same bytes, not counted as ours. */
struct oracle_mem {
	struct ehf_mem mem;
	struct replay *r;
};

static bool oracle_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	return replay_read(((const struct oracle_mem *)(const void *)mem)->r, addr, dst, len);
}

/**
 * check_run_samples_init() - begin
 * @s: filled in
 * @opts: options
 * @out: where JSON lines go
 * @where: where files are looked for; its pager is made here
 *
 * Return: 0, or -ENOMEM.
 */
int check_run_samples_init(struct check_run_samples *s, const struct check_run_options *opts,
			   FILE *out, const struct module_params *where)
{
	const struct pager_params paging = { .force_pread = opts->no_io_uring };
	struct check_run_names_options naming = opts->names;
	struct module_params params = *where;

	memset(s, 0, sizeof(*s));
	s->opts = opts;
	s->out = out;
	s->pager = pager_new(&paging);
	params.pager = s->pager;
	if (s->pager)
		s->modules = module_table_new(&params);
	if (s->modules)
		s->tasks = task_table_new(s->modules);
	naming.symfs = opts->symfs;
	naming.live = opts->command || opts->pid;
	s->names = check_run_names_new(&naming, out);
	if (s->names)
		s->oracles = check_run_oracle_new(opts->debug_frame ?
						  check_run_names_debuginfo(s->names) : NULL);
	s->merge = defer_merge_new();
	s->slot = calloc(EHU_ROW_CACHE_SLOTS, sizeof(*s->slot));
	s->list = open_memstream(&s->list_text, &s->list_size);
	if (!s->tasks || !s->oracles || !s->slot || !s->list || !s->names ||
	    !s->merge) {
		check_run_samples_end(s);
		return -ENOMEM;
	}
	ehu_row_cache_init(&s->cache, s->slot, EHU_ROW_CACHE_SLOTS);
	replay_init(&s->replay, s->pager);
	return 0;
}

/**
 * check_run_samples_end() - free what is held
 * @s: after check_run_samples_init(), or all zeros
 */
void check_run_samples_end(struct check_run_samples *s)
{
	check_run_oracle_free(s->oracles);
	check_run_names_free(s->names);
	defer_merge_free(s->merge);
	if (s->tasks)
		task_table_free(s->tasks);
	if (s->modules)
		module_table_free(s->modules);
	if (s->pager)
		pager_free(s->pager);
	if (s->list)
		fclose(s->list);
	free(s->list_text);
	free(s->slot);
	memset(s, 0, sizeof(*s));
}

static void count_modules(struct replay *r, const struct ehu_trace *t)
{
	u32 k;

	for (k = 0; k < t->nr; k++) {
		const struct ehu_entry *e = &t->entry[k];
		const struct task_range *range =
			task_range_at(r->maps, e->flags & EHU_ENTRY_EXACT ? e->ip : e->ip - 1);

		if (range)
			range->module->frames++;
	}
}

/* libdw would not take the file that the last common frame is in: told by itself, not guessed. */
static bool oracle_lacks_module(struct check_run_oracle *pool, const struct task_maps *maps,
				const struct compare_frame *last)
{
	const struct task_range *range = task_range_at(maps, last->exact ? last->pc : last->pc - 1);

	return range && range->place && check_run_oracle_refused(pool, maps, range->place);
}

static void untestable(struct check_run_samples *s, const struct perf_event_rec *rec,
		       const struct task *task, const char *name, const char *text)
{
	const struct report_trace_sample sample = {
		.rec = rec, .task = task, .untestable = name, .untestable_text = text,
	};

	if (s->opts->json)
		report_trace_json_sample(&sample, s->out);
}

/* Does another walk of a stopped task still see the same? Others may change it, or kill it. */
static bool still_same(struct check_run_samples *s, const struct ehu_trace *ours)
{
	static struct ehu_entry entry[REPLAY_ENTRIES];
	const struct replay_opts how = { .copy = true };
	struct ehu_trace again = { .entry = entry, .max = REPLAY_ENTRIES };
	struct replay_cost cost;
	u32 at;

	if (s->still && !s->still(s->still_arg))
		return false;
	replay_walk(&s->replay, &how, &again, &cost);
	return compare_same(ours, &again, &at);
}

/* The same walk with rows and CIEs of earlier ones at hand: nothing but its cost may change. */
static void walk_with_caches(struct check_run_samples *s, const struct ehu_trace *ours,
			     const struct perf_event_rec *rec)
{
	static struct ehu_entry entry[REPLAY_ENTRIES];
	const struct replay_opts how = { .cache = &s->cache, .memo = &s->memo };
	struct ehu_trace again = { .entry = entry, .max = REPLAY_ENTRIES };
	struct replay_cost cost;
	u32 at;

	replay_walk(&s->replay, &how, &again, &cost);
	s->figures.cache_hits = s->cache.hits;
	s->figures.cache_misses = s->cache.misses;
	if (compare_same(ours, &again, &at) || (s->replay.live && !still_same(s, ours)))
		return;
	s->figures.cache_bad++;
	if (s->listed >= CHECK_RUN_LIST)
		return;
	s->listed++;
	fprintf(s->list,
		"\nSample %" PRIu64 ", pid %u: another trace with caches: %u frames, %s, not "
		"%u, %s; frame %u\n",
		s->figures.samples, rec->pid, again.nr, ehf_stop_name(again.stop), ours->nr,
		ehf_stop_name(ours->stop), at);
}

/*
 * libgcc looks for CFI by PT_GNU_EH_FRAME and by nothing else: a module without (the vDSO of s390x
 * has an empty one) ends its chain.
 */
static bool libgcc_is_blind(const struct task_maps *maps, const struct ehu_entry *last)
{
	const struct task_range *at =
		task_range_at(maps, last->flags & EHU_ENTRY_EXACT ? last->ip : last->ip - 1);

	return at && at->place && !at->place->section.hdr;
}

/* What libgcc found from within the program, where the recording has it. */
static bool compare_with_libgcc(struct check_run_samples *s, const struct perf_event_rec *rec,
				const struct ehu_trace *ours, const struct compare_result *result,
				struct compare_chain *chain)
{
	const u64 *pcs;
	u32 nr = s->chains ? perf_decode_user_chain(&rec->sample, &pcs) : 0;

	if (!nr)
		return false;
	compare_chain(ours, pcs, nr, chain);
	if (chain->failed && chain->at == nr && nr < ours->nr &&
	    libgcc_is_blind(s->replay.maps, &ours->entry[nr - 1])) {
		chain->failed = false;
		s->figures.chain_blind++;
	}
	report_trace_chain(&s->figures, chain, result);
	if (chain->failed && s->listed < CHECK_RUN_LIST) {
		s->listed++;
		fprintf(s->list, "\nSample %" PRIu64 ", pid %u: libgcc has %u frames, ours %u, %s; they "
			"part at frame %u: 0x%" PRIx64 ", ours 0x%" PRIx64 "\n", s->figures.samples,
			rec->pid, nr, ours->nr, ehf_stop_name(ours->stop), chain->at,
			chain->at < nr ? pcs[chain->at] : 0,
			chain->at < ours->nr ? ours->entry[chain->at].ip : 0);
	}
	return true;
}

static bool is_code(void *arg, u64 addr)
{
	const struct task_range *at = task_range_at(arg, addr);

	return at && at->place && at->flags & TASK_TEXT;
}

/*
 * Where libdw stops at a signed return address or at a trampoline, the frame records speak of the
 * rest, if the machine has them. True where they have a say.
 */
static bool compare_with_records(struct check_run_samples *s, const struct perf_event_rec *rec,
				 const struct ehf_mem *mem, const struct ehu_trace *ours,
				 struct compare_result *result, struct frame_records *records)
{
	const struct frame_records_input in = {
		.arch = s->replay.arch, .regs = &s->replay.regs, .mem = mem,
		.ra_mask = s->replay.ra_mask, .is_code = is_code, .arg = s->replay.maps,
	};

	if (result->outcome != COMPARE_OURS_LONGER || !frame_records_apply(s->replay.arch))
		return false;
	frame_records_compare(&in, ours, result->nr_oracle, records);
	if (!records->differs)
		return true;
	result->explained = false;
	if (s->listed >= CHECK_RUN_LIST)
		return true;
	s->listed++;
	fprintf(s->list, "\nSample %" PRIu64 ", pid %u: a frame record says 0x%" PRIx64
		" at frame %u, not 0x%" PRIx64 "\n", s->figures.samples, rec->pid, records->pc,
		records->at, records->at < ours->nr ? ours->entry[records->at].ip : 0);
	return true;
}

static void inject(struct check_run_samples *s, const struct ehu_trace *ours,
		   const struct perf_event_rec *rec)
{
	bool windows = !s->replay.live &&
		       report_trace_testable(&s->figures) % CHECK_RUN_CUT_EVERY == 1;
	struct check_run_fault first;

	check_run_fault(&s->replay, ours, windows, &s->figures, &first);
	if (!first.what[0] || s->listed >= CHECK_RUN_LIST)
		return;
	s->listed++;
	fprintf(s->list,
		"\nSample %" PRIu64 ", pid %u: a fault does not give a prefix: %s, frame %u\n",
		s->figures.samples, rec->pid, first.what, first.at);
}

/**
 * check_run_samples_take() - take a sample at hand
 * @s: the run
 * @rec: a sample; must stay until it has been compared
 * @task: its process
 *
 * Return: REPLAY_TESTABLE, or why it is not; then it is counted and written down.
 */
enum replay_untestable check_run_samples_take(struct check_run_samples *s,
					      const struct perf_event_rec *rec, struct task *task)
{
	enum replay_untestable why = replay_sample(&s->replay, task, rec);

	if (why != REPLAY_TESTABLE) {
		report_trace_untestable(&s->figures, why);
		untestable(s, rec, task, replay_untestable_name(why), replay_untestable_text(why));
	}
	return why;
}

/**
 * check_run_samples_window() - compare two walks of one stop: of its memory and of a copy of it
 * @s: the run
 * @rec: the sample
 * @whole: of the memory
 * @window: of the copy, which has less of the stack
 *
 * One that is no prefix of the other is a failure.
 */
void check_run_samples_window(struct check_run_samples *s, const struct perf_event_rec *rec,
			      const struct ehu_trace *whole, const struct ehu_trace *window)
{
	u32 at;

	if (compare_faulted(whole, window, &at) || !still_same(s, whole))
		return;
	s->figures.window_bad++;
	if (s->listed >= CHECK_RUN_LIST)
		return;
	s->listed++;
	fprintf(s->list,
		"\nSample %" PRIu64 ", pid %u: the trace of the copied window, %u frames, %s, "
		"is no prefix of that of the memory, %u frames, %s; frame %u\n",
		s->figures.samples, rec->pid, window->nr, ehf_stop_name(window->stop), whole->nr,
		ehf_stop_name(whole->stop), at);
}

/**
 * check_run_samples_compare() - compare a trace of the sample at hand with libdw's
 * @s: the run
 * @rec: the sample
 * @task: its process
 * @ours: the trace
 * @cost: what it took
 *
 * Counts what comes out and writes it down. With --print the trace is only printed.
 *
 * Return: 0; -ENOMEM; 1 where the memory of a stopped task changed meanwhile: then the sample is
 * untestable.
 */
int check_run_samples_compare(struct check_run_samples *s, const struct perf_event_rec *rec,
			      struct task *task, const struct ehu_trace *ours,
			      const struct replay_cost *cost)
{
	static struct compare_frame frame[REPLAY_ENTRIES];
	struct compare_oracle theirs = { .frame = frame };
	struct oracle_mem mem = { .mem = { .read = oracle_read }, .r = &s->replay };
	struct compare_result result;
	struct report_trace_sample sample;
	struct oracle_frames *oracle;
	struct frame_records records;
	struct compare_chain chain;
	bool recorded;

	/* Stacks are wanted, no verdict: nothing is compared then. */
	if (s->opts->names.print) {
		sample = (struct report_trace_sample){ .rec = rec, .task = task, .ours = ours };
		s->figures.samples++;
		check_run_names_sample(s->names, &sample, s->replay.maps, s->figures.samples);
		return 0;
	}
	oracle = check_run_oracle_get(s->oracles, s->replay.maps);
	if (!oracle)
		return -ENOMEM;
	if (oracle_frames_walk(oracle, &s->replay.regs, &mem.mem, REPLAY_ENTRIES, &theirs, NULL)) {
		report_trace_no_oracle(&s->figures, oracle_frames_error(oracle));
		untestable(s, rec, task, "no-oracle", oracle_frames_error(oracle));
		return 0;
	}
	compare_traces(ours, &theirs, &result);
	if (result.outcome == COMPARE_OURS_LONGER && !result.explained &&
	    oracle_lacks_module(s->oracles, s->replay.maps, &theirs.frame[result.nr_oracle - 1])) {
		theirs.fault = COMPARE_FAULT_MODULE_REFUSED;
		compare_traces(ours, &theirs, &result);
	}
	recorded = compare_with_records(s, rec, &mem.mem, ours, &result, &records);
	/* After the walks and before their result counts. */
	if (s->replay.live && ((compare_failed(&result) && !still_same(s, ours)) ||
			       (s->still && !s->still(s->still_arg)))) {
		report_trace_untestable(&s->figures, REPLAY_CHANGED);
		untestable(s, rec, task, replay_untestable_name(REPLAY_CHANGED),
			   replay_untestable_text(REPLAY_CHANGED));
		return 1;
	}
	report_trace_add(&s->figures, ours, &theirs, &result, cost);
	if (recorded)
		report_trace_records(&s->figures, ours, &records);
	count_modules(&s->replay, ours);
	sample = (struct report_trace_sample){
		.rec = rec, .task = task, .ours = ours, .oracle = &theirs, .result = &result,
		.cost = cost, .records = recorded ? &records : NULL,
		.chain = compare_with_libgcc(s, rec, ours, &result, &chain) ? &chain : NULL,
	};
	check_run_names_sample(s->names, &sample, s->replay.maps, s->figures.samples);
	if (check_run_names_wanted(s->names, &sample)) {
		sample.name = check_run_names_json;
		sample.name_at = check_run_names_at;
		sample.name_arg = s->names;
	}
	if (s->opts->json)
		report_trace_json_sample(&sample, s->out);
	if (compare_failed(&result) && s->listed < CHECK_RUN_LIST) {
		s->listed++;
		report_trace_diff(&sample, s->figures.samples, &s->replay, oracle, s->list);
	}
	walk_with_caches(s, ours, rec);
	if (s->opts->fault_reads)
		inject(s, ours, rec);
	return 0;
}

/*
 * The next but one is mostly a sample of the same thread, with the same callers: what this walk
 * read of the stack that one will read, so it is fetched already. Nothing but time depends on it;
 * where that record is something else, other bytes of it are fetched.
 */
static void fetch_ahead(const struct check_run_samples *s, const struct perf_event_rec *rec,
			const struct ehu_trace *ours)
{
	const struct perf_rec_sample *sample = &rec->sample;
	const u8 *next;
	u32 size, at;
	u64 sp;

	next = s->order ? perf_order_ahead(s->order, 1, &size) : NULL;
	if (!next || size != rec->raw_size)
		return;
	/* There: the registers' values, the size of the stack area, the stack. */
	at = (u32)(sample->stack - (const u8 *)rec->raw);
	memcpy(&sp, next + at - 8 - 8 * (sample->nr_regs - s->replay.sp_index), sizeof(sp));
	for (u32 k = 1; k < ours->nr; k++) {
		u64 cfa = ours->entry[k].sp - sp;

		if (cfa - 64 >= sample->stack_size)
			continue;
		ehf_prefetch(next + at + cfa - 8);
		ehf_prefetch(next + at + cfa - 48);
	}
}

static int walk_sample(struct check_run_samples *s, const struct perf_event_rec *rec)
{
	static struct ehu_entry entry[REPLAY_ENTRIES];
	struct task *task = task_get(s->tasks, rec->pid);
	struct ehu_trace ours = { .entry = entry, .max = REPLAY_ENTRIES };
	/* Where traces are compared, the first walk is one without caches. */
	const struct replay_opts plain = {
		.cache = s->opts->names.print ? &s->cache : NULL,
		.memo = s->opts->names.print ? &s->memo : NULL,
	};
	struct replay_cost cost;

	if (!task)
		return -ENOMEM;
	if (check_run_samples_take(s, rec, task) != REPLAY_TESTABLE)
		return defer_merge_sample(s->merge, rec, NULL);
	replay_walk(&s->replay, &plain, &ours, &cost);
	fetch_ahead(s, rec, &ours);
	s->figures.copied_bytes += rec->sample.dyn_size;
	if (defer_merge_sample(s->merge, rec, &ours))
		return -ENOMEM;
	return check_run_samples_compare(s, rec, task, &ours, &cost);
}

/**
 * check_run_samples_pass() - pass over a sample that is walked elsewhere
 * @s: the run
 * @rec: the sample
 *
 * Which processes are known afterwards is as if it had been walked here.
 *
 * Return: 0, or -ENOMEM.
 */
int check_run_samples_pass(struct check_run_samples *s, const struct perf_event_rec *rec)
{
	return task_get(s->tasks, rec->pid) ? 0 : -ENOMEM;
}

/**
 * check_run_samples_record() - take the next record
 * @s: the run
 * @rec: the record, in order of time
 *
 * Return: 0, or -ENOMEM.
 */
int check_run_samples_record(struct check_run_samples *s, const struct perf_event_rec *rec)
{
	int rc;

	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		rc = walk_sample(s, rec);
		s->figures.kernel_regs = s->replay.stats.kernel_regs;
		return rc;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		s->figures.lost += rec->lost.nr;
		return 0;
	case PERF_ABI_CALLCHAIN_DEFERRED:
		return defer_merge_record(s->merge, rec);
	default:
		rc = task_record(s->tasks, rec);
		return rc == -ENOMEM ? rc : 0;
	}
}
