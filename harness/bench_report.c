// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Prints what was measured: for a person, the quietest and the median run; as JSON, every run.
 */
#include "harness/bench_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/json.h"
#include "harness/order.h"

enum what { WARM, COLD };
enum of { LEAST, MEDIAN, MOST };

/* ns a frame, or 0 where there is none. */
static double ns(const struct bench_result *r, enum what what, enum of of)
{
	u64 v[BENCH_MAX_REPEATS];

	if (!r->done || !r->frames)
		return 0;
	memcpy(v, what == WARM ? r->warm : r->cold, r->done * sizeof(*v));
	qsort(v, r->done, sizeof(*v), order_u64);
	return (double)v[of == LEAST ? 0 : of == MEDIAN ? r->done / 2 : r->done - 1] /
	       (double)r->frames;
}

static double mean(const struct bench_report *rep, int e, enum what what, enum of of)
{
	double sum = 0;

	for (u32 k = 0; k < rep->nr; k++) {
		double v = ns(&rep->file[k].result[e], what, of);

		if (v <= 0)
			return 0;
		sum += log(v);
	}
	return rep->nr ? exp(sum / rep->nr) : 0;
}

/*
 * How many times an engine's time @other takes, of each repetition the mean over the captures: their
 * processes ran side by side. In order; the result is how many there are.
 */
static u32 ratios(const struct bench_report *rep, int e, int other, enum what what, double *ratio)
{
	u32 nr = 0;

	for (u32 r = 0; r < BENCH_MAX_REPEATS; r++) {
		double sum = 0;
		u32 k;

		for (k = 0; k < rep->nr; k++) {
			const struct bench_result *a = &rep->file[k].result[e];
			const struct bench_result *b = &rep->file[k].result[other];
			u64 x = what == WARM ? a->warm[r] : a->cold[r];
			u64 y = what == WARM ? b->warm[r] : b->cold[r];

			if (r >= a->done || r >= b->done || !x || !y || !a->frames || !b->frames)
				break;
			sum += log((double)y / (double)b->frames / ((double)x / (double)a->frames));
		}
		if (!k || k < rep->nr)
			break;
		ratio[nr++] = exp(sum / rep->nr);
	}
	qsort(ratio, nr, sizeof(*ratio), order_double);
	return nr;
}

static int index_of(const struct bench_engine *e)
{
	int k = 0;

	while (bench_engines[k] != e)
		k++;
	return k;
}

static void list(struct json *j, const char *key, const u64 *v, u32 nr)
{
	json_open_list(j, key);
	for (u32 k = 0; k < nr; k++)
		json_number(j, NULL, v[k]);
	json_close_list(j);
}

static void print_json(const struct bench_file *f)
{
	for (int e = 0; bench_engines[e]; e++) {
		const struct bench_result *r = &f->result[e];
		struct json j;

		json_begin(&j, stdout, "bench");
		json_text(&j, "capture", f->name);
		json_text(&j, "engine", bench_engines[e]->name);
		json_number(&j, "samples", f->samples);
		json_number(&j, "agree", r->agree);
		json_number(&j, "agree_before_guess", r->guessed);
		json_number(&j, "frames", r->frames);
		list(&j, "warm_ns", r->warm, r->done);
		list(&j, "cold_ns", r->cold, r->done);
		json_number(&j, "anon_bytes", r->anon);
		json_number(&j, "rss_bytes", r->rss);
		json_number(&j, "held_bytes", r->held);
		json_end(&j);
	}
}

static bool agrees(const struct bench_result *r, const struct bench_set *set)
{
	return r->done && r->agree + r->guessed == set->nr;
}

/**
 * bench_report_add() - take in a capture's results
 * @rep: the report
 * @path: of the capture
 * @set: its samples
 * @result: by engine
 *
 * Return: false where our frames differ from libdw's, or either could not be had.
 */
bool bench_report_add(struct bench_report *rep, const char *path, const struct bench_set *set,
		      const struct bench_result *result)
{
	const char *base = strrchr(path, '/');
	struct bench_file *f;

	if (rep->nr == BENCH_MAX_FILES)
		return false;
	f = &rep->file[rep->nr++];
	snprintf(f->name, sizeof(f->name), "%.31s", base ? base + 1 : path);
	f->name[strcspn(f->name, ".")] = '\0';
	f->samples = set->nr;
	memcpy(f->result, result, sizeof(f->result));
	if (set->untestable || set->thinned)
		fprintf(stderr, "%s: %u samples taken, %" PRIu64 " left out to thin, %" PRIu64
			" not testable\n", f->name, set->nr, set->thinned, set->untestable);
	if (rep->json)
		print_json(f);
	return agrees(&result[index_of(&bench_ours_cached)], set) &&
	       agrees(&result[index_of(&bench_ours_uncached)], set);
}

static void number(double v)
{
	if (v <= 0)
		printf(" %9s", "-");
	else
		printf(" %9.*f", v < 100 ? 1 : 0, v);
}

static void heading(const struct bench_report *rep, const char *text, const char *last)
{
	printf("\n%s\n%-17s", text, "");
	for (u32 k = 0; k < rep->nr; k++)
		printf(" %9.9s", rep->file[k].name);
	printf("%s\n", last);
}

static void times(const struct bench_report *rep, enum what what)
{
	int dw = index_of(&bench_libdw);

	heading(rep, what == WARM ?
		"warm: ns of CPU a frame, the least of the repetitions' medians; means of the least"
		", median and most" :
		"cold: the same, first pass of a fresh process, opening and mapping included",
		"  geo-mean    median      most  libdw is: median (least-most)");
	for (int e = 0; bench_engines[e]; e++) {
		double v = mean(rep, e, what, LEAST), ratio[BENCH_MAX_REPEATS];
		u32 nr = ratios(rep, e, dw, what, ratio);

		if (what == COLD && bench_engines[e]->floor)
			continue;
		printf("%-17s", bench_engines[e]->name);
		for (u32 k = 0; k < rep->nr; k++)
			number(ns(&rep->file[k].result[e], what, LEAST));
		number(v);
		number(mean(rep, e, what, MEDIAN));
		number(mean(rep, e, what, MOST));
		if (nr)
			printf(" %8.2fx (%.2f-%.2f)", ratio[nr / 2], ratio[0], ratio[nr - 1]);
		printf("\n");
	}
}

static void counts(const struct bench_report *rep, const char *text, u64 scale,
		   u64 (*get)(const struct bench_result *r))
{
	heading(rep, text, "       all");
	for (int e = 0; bench_engines[e]; e++) {
		u64 all = 0;

		printf("%-17s", bench_engines[e]->name);
		for (u32 k = 0; k < rep->nr; k++) {
			const struct bench_result *r = &rep->file[k].result[e];
			u64 v = r->done ? get(r) / scale : 0;

			all += v;
			printf(" %9" PRIu64, v);
		}
		printf(" %9" PRIu64 "\n", all);
	}
}

static u64 get_agree(const struct bench_result *r)
{
	return r->agree;
}

static u64 get_guessed(const struct bench_result *r)
{
	return r->guessed;
}

static u64 get_frames(const struct bench_result *r)
{
	return r->frames;
}

static u64 get_anon(const struct bench_result *r)
{
	return r->anon;
}

static u64 get_held(const struct bench_result *r)
{
	return r->held;
}

static u64 get_rss(const struct bench_result *r)
{
	return r->rss;
}

/**
 * bench_report_print() - the tables, unless JSON was asked for
 * @rep: the report
 */
void bench_report_print(const struct bench_report *rep)
{
	u64 samples = 0;

	if (rep->json || !rep->nr)
		return;
	for (u32 k = 0; k < rep->nr; k++)
		samples += rep->file[k].samples;
	printf("%u captures, %" PRIu64 " samples\n", rep->nr, samples);
	for (int e = 0; bench_engines[e]; e++)
		printf("  %-17s %s\n", bench_engines[e]->name, bench_engines[e]->what);
	heading(rep, "samples", "       all");
	printf("%-17s", "");
	for (u32 k = 0; k < rep->nr; k++)
		printf(" %9u", rep->file[k].samples);
	printf(" %9" PRIu64 "\n", samples);
	counts(rep, "samples with libdw's pcs", 1, get_agree);
	counts(rep, "more samples, with libdw's pcs as far as it does not guess by the frame pointer",
	       1, get_guessed);
	counts(rep, "frames", 1, get_frames);
	times(rep, WARM);
	times(rep, COLD);
	counts(rep, "memory held by the walk itself, bytes", 1, get_held);
	counts(rep, "growth of anonymous memory, KiB", 1024, get_anon);
	counts(rep, "resident at the end, KiB (the samples included)", 1024, get_rss);
}
