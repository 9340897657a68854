// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Adds samples up, and tells a person what came out: the verdict first, then why traces end, how
 * frames were found, and what they cost.
 */
#include "harness/report_trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/paint.h"

static u32 bucket(u32 depth)
{
	u32 k = 0;

	while (k + 1 < REPORT_TRACE_DEPTHS && depth > 1u << k)
		k++;
	return k;
}

/**
 * report_trace_untestable() - count a sample that cannot be walked
 * @f: figures
 * @why: the reason, not REPLAY_TESTABLE
 */
void report_trace_untestable(struct report_trace *f, enum replay_untestable why)
{
	f->samples++;
	f->untestable[why]++;
	f->outcome[COMPARE_UNTESTABLE]++;
}

/**
 * report_trace_no_oracle() - count a sample that the oracle cannot begin to walk
 * @f: figures
 * @why: its word
 */
void report_trace_no_oracle(struct report_trace *f, const char *why)
{
	f->samples++;
	if (!f->no_oracle++)
		snprintf(f->no_oracle_why, sizeof(f->no_oracle_why), "%s", why);
	f->outcome[COMPARE_UNTESTABLE]++;
}

static void add_cost(struct replay_cost *sum, const struct replay_cost *c)
{
	sum->reads += c->reads;
	sum->bytes += c->bytes;
	sum->insns += c->insns;
	sum->pages += c->pages;
	sum->page_ins += c->page_ins;
	sum->page_in_bytes += c->page_in_bytes;
	sum->live_bytes += c->live_bytes;
	for (u32 k = 0; k < REPLAY_NR_SOURCES; k++)
		sum->from[k] += c->from[k];
}

/**
 * report_trace_add() - count a sample that was compared
 * @f: figures
 * @ours: our trace
 * @oracle: libdw's
 * @result: of compare_traces(), not untestable
 * @cost: what our walk asked for
 */
void report_trace_add(struct report_trace *f, const struct ehu_trace *ours,
		      const struct compare_oracle *oracle, const struct compare_result *result,
		      const struct replay_cost *cost)
{
	f->samples++;
	f->outcome[result->outcome]++;
	if (result->outcome == COMPARE_OURS_SHORTER || result->outcome == COMPARE_OURS_LONGER) {
		if (result->explained)
			f->explained++;
		else
			f->unexplained++;
		if (result->outcome == COMPARE_OURS_LONGER && result->explained)
			f->fault[oracle->fault]++;
	}
	if (ehf_stop_class(ours->stop) == EHF_CLASS_COMPLETE)
		f->complete++;
	else
		f->partial++;
	f->stop[ours->stop]++;
	if (ours->stop == EHF_STOP_MEMORY)
		f->stop_memory[cost->missed ? cost->missed_from : REPLAY_FROM_UNMAPPED]++;
	f->window_cut += report_trace_cut(ours, cost);
	f->frames += ours->nr;
	f->frames_oracle += result->nr_oracle;
	if (result->cut && result->cut_via == COMPARE_VIA_DEBUG_FRAME)
		f->debug_frame += result->cut;
	else
		f->guessed += result->cut;
	for (u32 k = 0; k < ours->nr; k++)
		f->via[ours->entry[k].via]++;
	f->depth[bucket(ours->nr)]++;
	if (ours->nr > f->deepest)
		f->deepest = ours->nr;
	add_cost(&f->cost, cost);
}

/**
 * report_trace_chain() - count what a second reference says of a sample
 * @f: figures
 * @chain: its verdict
 * @result: that of libdw
 */
void report_trace_chain(struct report_trace *f, const struct compare_chain *chain,
			const struct compare_result *result)
{
	f->chains++;
	f->chain_equal += chain->equal;
	f->chain_bad += chain->failed;
	f->chain_spoke += chain->equal && result->outcome == COMPARE_OURS_LONGER;
}

/**
 * report_trace_records() - count what frame records say of a sample
 * @f: figures
 * @ours: our trace
 * @records: of frame_records_compare(), from libdw's last frame on
 */
void report_trace_records(struct report_trace *f, const struct ehu_trace *ours,
			  const struct frame_records *records)
{
	f->records++;
	f->records_complete += ehf_stop_class(ours->stop) == EHF_CLASS_COMPLETE;
	f->records_whole += records->whole;
	f->records_differ += records->differs;
	f->records_astray += records->astray;
	f->records_beyond += records->beyond;
	f->records_named += records->named;
}

/**
 * report_trace_cut() - does a trace end because no more of the stack was copied
 * @t: trace
 * @cost: what it took
 *
 * Either by the read that failed, or for want of a register that could not be read.
 *
 * Return: whether it does.
 */
bool report_trace_cut(const struct ehu_trace *t, const struct replay_cost *cost)
{
	enum ehf_stop_class class = ehf_stop_class(t->stop);

	return cost->missed && cost->missed_from == REPLAY_FROM_PAST_STACK &&
	       (class == EHF_CLASS_FAULT || class == EHF_CLASS_UNKNOWN_REG);
}

/**
 * report_trace_testable() - samples that were compared
 * @f: figures
 *
 * Return: their number.
 */
u64 report_trace_testable(const struct report_trace *f)
{
	return f->samples - f->outcome[COMPARE_UNTESTABLE];
}

/**
 * report_trace_failed() - is there anything that must not be
 * @f: figures
 *
 * Return: true where a trace differs, where a length is unexplained, or where a fault or a cache
 * changed a trace.
 */
bool report_trace_failed(const struct report_trace *f)
{
	return f->outcome[COMPARE_DIFFERENT] || f->unexplained || f->fault_bad || f->chain_bad ||
	       f->cache_bad || f->window_bad;
}

static void say(char *buf, size_t n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void say(char *buf, size_t n, const char *format, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf + len, n - len, format, ap);
	va_end(ap);
}

/**
 * report_trace_verdict() - the first line
 * @f: figures
 * @buf: filled in
 * @n: room there
 */
void report_trace_verdict(const struct report_trace *f, char *buf, size_t n)
{
	u64 shorter = f->outcome[COMPARE_OURS_SHORTER], longer = f->outcome[COMPARE_OURS_LONGER];

	buf[0] = '\0';
	if (!report_trace_testable(f)) {
		say(buf, n, "nothing compared: %" PRIu64 " samples, none testable", f->samples);
		if (f->fault_bad)
			say(buf, n, ", %" PRIu64 " faulted traces are no prefix", f->fault_bad);
		return;
	}
	say(buf, n, "%" PRIu64 " samples, ", f->samples);
	if (report_trace_failed(f)) {
		say(buf, n, "%" PRIu64 " differ, %" PRIu64 " end elsewhere without a reason",
		    f->outcome[COMPARE_DIFFERENT], f->unexplained);
		if (f->fault_bad)
			say(buf, n, ", %" PRIu64 " faulted traces are no prefix", f->fault_bad);
		if (f->chain_bad)
			say(buf, n, ", %" PRIu64 " are not what libgcc found", f->chain_bad);
		if (f->cache_bad)
			say(buf, n, ", %" PRIu64 " traces differ with caches", f->cache_bad);
		if (f->window_bad)
			say(buf, n, ", %" PRIu64 " traces of copied stacks are no prefix",
			    f->window_bad);
	} else if (shorter || longer) {
		say(buf, n, "all common frames agree");
		if (shorter)
			say(buf, n, ", %" PRIu64 " of ours end earlier for a stated reason",
			    shorter);
		if (longer)
			say(buf, n, ", %" PRIu64 " go on where libdw fails", longer);
	} else {
		say(buf, n, "all frames agree");
	}
	if (f->outcome[COMPARE_UNTESTABLE])
		say(buf, n, " (%" PRIu64 " untestable)", f->outcome[COMPARE_UNTESTABLE]);
}

static double per(u64 a, u64 b)
{
	return b ? (double)a / (double)b : 0;
}

static void line(FILE *out, u64 count, u64 all, const char *name, const char *text)
{
	if (count)
		fprintf(out, "  %10" PRIu64 "  %5.1f%%  %-26s %s\n", count, 100 * per(count, all),
			name, text ? text : "");
}

static void text_untestable(const struct report_trace *f, FILE *out)
{
	u32 k;

	if (!f->outcome[COMPARE_UNTESTABLE])
		return;
	paint_head(out, "Untestable samples");
	for (k = 1; k < REPLAY_NR_UNTESTABLES; k++)
		line(out, f->untestable[k], f->samples, replay_untestable_name(k),
		     replay_untestable_text(k));
	line(out, f->no_oracle, f->samples, "no-oracle", f->no_oracle_why);
}

static void text_outcomes(const struct report_trace *f, FILE *out)
{
	static const char *const texts[] = {
#define X(sym, name, text) text,
		COMPARE_OUTCOMES(X)
#undef X
	};
	u32 k;

	paint_head(out, "Samples by outcome");
	for (k = COMPARE_UNTESTABLE + 1; k < COMPARE_NR_OUTCOMES; k++)
		line(out, f->outcome[k], f->samples, compare_outcome_name(k), texts[k]);
	if (f->explained || f->unexplained)
		fprintf(out, "  of those with another length %" PRIu64 " explained, %" PRIu64
			" unexplained\n", f->explained, f->unexplained);
	for (k = COMPARE_FAULT_NONE + 1; k < COMPARE_NR_FAULTS; k++)
		if (f->fault[k])
			fprintf(out, "  %" PRIu64 " by libdw's fault: %s\n", f->fault[k],
				compare_fault_name(k));
	if (f->chains)
		fprintf(out, "  second reference, libgcc's backtrace in the program: %" PRIu64
			" traces, %" PRIu64 " equal, %" PRIu64 " different; in %" PRIu64
			" of the equal ones it spoke where libdw had stopped; %" PRIu64
			" end where it has no .eh_frame_hdr\n", f->chains, f->chain_equal,
			f->chain_bad, f->chain_spoke, f->chain_blind);
	if (f->records)
		fprintf(out, "  where libdw stops, frame records: %" PRIu64 " traces, %" PRIu64
			" complete, %" PRIu64 " of them confirmed to the end, %" PRIu64
			" different (and %" PRIu64 " that are not complete); %" PRIu64
			" frames behind libdw's, %" PRIu64 " of them named by a record\n",
			f->records, f->records_complete,
			f->records_whole, f->records_differ, f->records_astray, f->records_beyond,
			f->records_named);
}

static void text_stops(const struct report_trace *f, FILE *out)
{
	u64 testable = report_trace_testable(f);
	u32 k;

	paint_head(out, "Why traces end: %" PRIu64 " complete, %" PRIu64 " partial", f->complete,
		f->partial);
	for (k = 1; k < EHF_NR_STOPS; k++) {
		line(out, f->stop[k], testable, ehf_stop_name(k), ehf_stop_text(k));
		if (k != EHF_STOP_MEMORY || !f->stop[k])
			continue;
		for (u32 s = 0; s < REPLAY_NR_SOURCES; s++)
			if (f->stop_memory[s])
				fprintf(out, "  %10s  %6s  %" PRIu64 " %s\n", "", "",
					f->stop_memory[s], replay_source_name(s));
	}
}

static void text_frames(const struct report_trace *f, FILE *out)
{
	static const char *const via[EHU_NR_VIA] = {
		[EHU_VIA_REGS] = "registers", [EHU_VIA_EH_FRAME] = ".eh_frame",
		[EHU_VIA_SIGNAL_CODE] = "signal code", [EHU_VIA_FP] = "frame pointer",
	};
	u32 k;

	paint_head(out, "Frames: %" PRIu64 " ours, %" PRIu64 " libdw's (%.3f%%)", f->frames,
		f->frames_oracle, 100 * per(f->frames, f->frames_oracle));
	for (k = 0; k < EHU_NR_VIA; k++)
		line(out, f->via[k], f->frames, via[k], NULL);
	if (f->guessed)
		fprintf(out,
			"  not compared: %" PRIu64 " frames that libdw found behind a guess by "
			"frame pointer\n",
			f->guessed);
	if (f->debug_frame)
		fprintf(out, "  not compared: %" PRIu64 " frames that libdw found behind "
			".debug_frame\n", f->debug_frame);
}

static void text_depth(const struct report_trace *f, FILE *out)
{
	u64 most = 1;
	u32 k;

	paint_head(out, "Depth: %.1f frames on average, %u at most",
		per(f->frames, report_trace_testable(f)), f->deepest);
	for (k = 0; k < REPORT_TRACE_DEPTHS; k++)
		if (f->depth[k] > most)
			most = f->depth[k];
	for (k = 0; k < REPORT_TRACE_DEPTHS; k++) {
		char range[32];

		if (!f->depth[k])
			continue;
		if (k < 2)
			snprintf(range, sizeof(range), "%u", 1u << k);
		else
			snprintf(range, sizeof(range), "%u-%u", (1u << (k - 1)) + 1, 1u << k);
		fprintf(out, "  %9s  %10" PRIu64 "  %.*s\n", range, f->depth[k],
			(int)(40 * f->depth[k] / most), "########################################");
	}
}

static void text_cost(const struct report_trace *f, const struct report_trace_context *c, FILE *out)
{
	const struct replay_cost *s = &f->cost;
	u64 testable = report_trace_testable(f);
	const struct pager_stats *p = pager_stats(c->pager);

	paint_head(out, "Cost: %.2f reads and %.1f bytes a frame, %.1f pages a trace, "
		"%.1f CFI instructions a frame",
		per(s->reads, f->frames), per(s->bytes, f->frames), per(s->pages, testable),
		per(s->insns, f->frames));
	if (!c->defer)
		fprintf(out,
			"  copied: %.0f bytes of stack a sample; %" PRIu64
			" traces (%.1f%%) are cut "
			"where they end\n",
			per(f->copied_bytes, testable), f->window_cut,
			100 * per(f->window_cut, testable));
	if (!f->cache_bad)
		fprintf(out,
			"  with a row cache the same traces, and %.1f%% of its lookups served\n",
			100 * per(f->cache_hits, f->cache_hits + f->cache_misses));
	fprintf(out, "  pages read in: %" PRIu64 " (%" PRIu64 " KiB) by %s", p->page_ins,
		p->bytes >> 10, pager_method(c->pager));
	if (pager_why(c->pager) && pager_why(c->pager)[0])
		fprintf(out, ": %s", pager_why(c->pager));
	fputc('\n', out);
	if (p->errors || p->short_reads || p->changed)
		fprintf(out, "  not read: %" PRIu64 " pages behind a file's end, %" PRIu64
			" by errors (%s), %" PRIu64 " files changed\n", p->short_reads, p->errors,
			p->errors ? strerror(p->first_error) : "none", p->changed);
}

static int more_frames(const void *a, const void *b)
{
	const struct module *x = *(const struct module *const *)a;
	const struct module *y = *(const struct module *const *)b;

	return x->frames < y->frames ? 1 : x->frames > y->frames ? -1 : strcmp(x->path, y->path);
}

static void text_modules(const struct report_trace *f, const struct report_trace_context *c,
			 FILE *out)
{
	const struct module **list;
	struct module *m;
	size_t nr = 0, k, quiet = 0;
	u64 rest = 0;

	for (m = module_first(c->modules); m; m = m->next)
		nr++;
	list = calloc(nr ? nr : 1, sizeof(*list));
	if (!list)
		return;
	nr = 0;
	for (m = module_first(c->modules); m; m = m->next)
		list[nr++] = m;
	qsort(list, nr, sizeof(*list), more_frames);
	paint_head(out, "Modules by frames");
	for (k = 0; k < nr; k++) {
		bool odd = !module_usable(list[k]) && list[k]->status != MODULE_ANON &&
			   list[k]->status != MODULE_SPECIAL && list[k]->status != MODULE_NOT_ELF;

		/* A program file that could not be used is always named, with the reason. */
		if (!odd && (k >= 15 || !list[k]->frames)) {
			rest += list[k]->frames;
			quiet++;
			continue;
		}
		fprintf(out, "  %10" PRIu64 "  %5.1f%%  %s", list[k]->frames,
			100 * per(list[k]->frames, f->frames), list[k]->path);
		if (list[k]->status != MODULE_OK)
			fprintf(out, " [%s%s%s]", module_status_name(list[k]->status),
				list[k]->why[0] ? ": " : "", list[k]->why);
		else if (list[k]->identity != MODULE_ID_BUILD_ID)
			fprintf(out, " [%s]", module_identity_name(list[k]->identity));
		if (list[k]->has_debug_frame)
			fprintf(out, " [.debug_frame present, not used]");
		if (list[k]->corrupt)
			fprintf(out, " [%" PRIu64 " walks found it corrupt: %s]", list[k]->corrupt,
				ehf_stop_name(list[k]->corrupt_stop));
		fputc('\n', out);
	}
	if (quiet)
		fprintf(out, "  %10" PRIu64 "  %5.1f%%  in %zu more\n", rest,
			100 * per(rest, f->frames), quiet);
	free(list);
}

static void text_rest(const struct report_trace *f, const struct report_trace_context *c, FILE *out)
{
	const struct task_stats *t = c->tasks;

	paint_head(out, "Input: %" PRIu64 " samples, %" PRIu64 " lost by the kernel; %" PRIu64
		" mappings, %" PRIu64 " execs, %" PRIu64 " forks, %" PRIu64 " threads",
		f->samples, f->lost, t->mmaps, t->execs, t->forks, t->threads);
	if (f->kernel_regs)
		fprintf(out,
			"  %" PRIu64 " samples lack registers, as they hit the kernel in an NMI\n",
			f->kernel_regs);
	if (f->records_bad || f->records_unknown || f->records_late || t->bad_mmaps)
		fprintf(out,
			"  records: %" PRIu64 " that contradict themselves, %" PRIu64
			" of unknown types, %" PRIu64 " out of order, %" PRIu64
			" impossible mappings\n",
			f->records_bad, f->records_unknown, f->records_late, t->bad_mmaps);
	if (t->dropped_tasks || t->dropped_ranges)
		fprintf(out, "  dropped for lack of room: %" PRIu64 " processes, %" PRIu64
			" mappings\n", t->dropped_tasks, t->dropped_ranges);
	if (c->fault_reads)
		fprintf(out,
			"  fault injection: %" PRIu64 " reads of %" PRIu64 " samples made to "
			"fail, %" PRIu64 " stack windows of %" PRIu64 " samples shortened: %" PRIu64
			" traces are no prefix\n",
			f->faults, f->fault_samples, f->cuts, f->cut_samples, f->fault_bad);
}

/**
 * report_trace_text() - the report for a person
 * @f: figures
 * @c: what else is known of the run
 * @out: where to
 */
void report_trace_text(const struct report_trace *f, const struct report_trace_context *c,
		       FILE *out)
{
	char verdict[256];

	report_trace_verdict(f, verdict, sizeof(verdict));
	paint_verdict(out, report_trace_failed(f) || !report_trace_testable(f), verdict);
	text_untestable(f, out);
	if (report_trace_testable(f)) {
		text_outcomes(f, out);
		text_stops(f, out);
		text_frames(f, out);
		text_depth(f, out);
		text_cost(f, c, out);
	}
	if (c->defer)
		defer_report_text(c->defer, out);
	if (c->merge)
		defer_merge_text(c->merge, out);
	text_modules(f, c, out);
	text_rest(f, c, out);
}
