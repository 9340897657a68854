// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Measures an engine in a forked process: first pass, later passes, then what frames it found.
 */
#include "harness/bench_run.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "harness/bench_child.h"
#include "harness/order.h"

const struct bench_engine *const bench_engines[] = {
	&bench_ours_cached, &bench_ours_uncached, &bench_libdw, &bench_libunwind_none,
	&bench_libunwind_global, &bench_fp, &bench_memo, NULL,
};

/* What a child leaves for its parent: of each sample, all frames and those that are no guess. */
struct report {
	bool good;
	u64 cold;
	u64 warm;
	u64 frames;
	u64 anon;
	u64 rss;
	u64 held;
	struct {
		u64 all;
		u64 sure;
	} hash[];
};

struct job {
	const struct bench_engine *engine;
	const struct bench_set *set;
	const struct bench_params *params;
	struct report *out;
};

/**
 * bench_engine_named() - find an engine
 * @name: its name
 *
 * Return: the engine, or NULL.
 */
const struct bench_engine *bench_engine_named(const char *name)
{
	for (int k = 0; bench_engines[k]; k++)
		if (!strcmp(bench_engines[k]->name, name))
			return bench_engines[k];
	return NULL;
}

/**
 * bench_now() - CPU time of this thread
 *
 * Return: nanoseconds.
 */
u64 bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static void memory_now(u64 *anon, u64 *rss)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[128];
	unsigned long kib;

	*anon = *rss = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Anonymous: %lu", &kib) == 1)
			*anon = (u64)kib * 1024;
		if (sscanf(line, "Rss: %lu", &kib) == 1)
			*rss = (u64)kib * 1024;
	}
	if (f)
		fclose(f);
}

static u64 pass(const struct bench_engine *e, void *engine, const struct bench_set *set)
{
	u64 frames = 0;

	for (u32 k = 0; k < set->nr; k++)
		frames += e->walk(engine, &set->sample[k], NULL);
	return frames;
}

/* FNV-1a over a trace's pcs. */
static u64 hash_of(const u64 *pc, u32 nr)
{
	u64 h = 0xcbf29ce484222325ULL ^ nr;

	for (u32 k = 0; k < nr; k++)
		h = (h ^ pc[k]) * 0x100000001b3ULL;
	return h;
}

/* One repetition, for a process of its own. */
static bool measure(void *arg)
{
	static u64 warm[BENCH_MAX_PASSES], pc[BENCH_MAX_FRAMES];
	const struct job *job = arg;
	const struct bench_engine *e = job->engine;
	const struct bench_set *set = job->set;
	const struct bench_params *params = job->params;
	struct report *out = job->out;
	u64 start, anon, rss, k;
	cpu_set_t cpus;
	void *engine;

	if (params->cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET((unsigned int)params->cpu, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
	}
	/* What the parent has freed would hide what is allocated. */
	malloc_trim(0);
	memory_now(&anon, &rss);
	start = bench_now();
	engine = e->open(set);
	if (!engine)
		return false;
	out->frames = pass(e, engine, set);
	out->cold = bench_now() - start;
	for (k = 0; k < params->passes; k++) {
		start = bench_now();
		pass(e, engine, set);
		warm[k] = bench_now() - start;
	}
	qsort(warm, params->passes, sizeof(*warm), order_u64);
	out->warm = warm[params->passes / 2];
	memory_now(&out->anon, &out->rss);
	out->anon = out->anon > anon ? out->anon - anon : 0;
	out->held = e->memory ? e->memory(engine) : 0;
	for (u32 n = 0; n < set->nr; n++) {
		u32 nr = e->walk(engine, &set->sample[n], pc);
		u32 some = e->sure ? e->sure(engine, &set->sample[n]) : nr;

		out->hash[n].all = hash_of(pc, nr);
		out->hash[n].sure = hash_of(pc, some < nr ? some : nr);
	}
	out->good = true;
	return true;
}

static void add(struct bench_result *r, const struct report *one)
{
	r->cold[r->done] = one->cold;
	r->warm[r->done] = one->warm;
	r->done++;
	r->frames = one->frames;
	r->held = one->held;
	r->anon = one->anon > r->anon ? one->anon : r->anon;
	r->rss = one->rss > r->rss ? one->rss : r->rss;
}

/* The worst repetition counts. */
static void compare(const struct bench_set *set, const struct report *ours,
		    const struct report *dw, struct bench_result *result)
{
	u64 agree = 0, guessed = 0;

	for (u32 n = 0; n < set->nr && ours->good && dw->good; n++) {
		if (ours->hash[n].all == dw->hash[n].all)
			agree++;
		else if (ours->hash[n].all == dw->hash[n].sure)
			guessed++;
	}
	if (agree + guessed < result->agree + result->guessed ||
	    (agree + guessed == result->agree + result->guessed && agree < result->agree)) {
		result->agree = agree;
		result->guessed = guessed;
	}
}

/**
 * bench_run() - measure all engines
 * @set: the samples
 * @params: how; bounds as above
 * @result: filled in: one for each of bench_engines
 *
 * Every repetition compares every engine's frames with libdw's of the same repetition; the one with
 * the fewest that agree counts.
 *
 * Return: 0, or a negative errno value.
 */
int bench_run(const struct bench_set *set, const struct bench_params *params,
	      struct bench_result *result)
{
	struct report *report[BENCH_MAX_ENGINES];
	size_t size = sizeof(struct report) + set->nr * sizeof(report[0]->hash[0]);
	int nr = 0, e, dw = 0, rc = 0;

	while (bench_engines[nr]) {
		report[nr] = bench_child_room(size);
		if (!report[nr]) {
			rc = -ENOMEM;
			goto out;
		}
		if (bench_engines[nr] == &bench_libdw)
			dw = nr;
		result[nr++] = (struct bench_result){ .agree = set->nr };
	}
	for (u64 k = 0; k < params->repeats; k++) {
		for (e = 0; e < nr; e++) {
			struct job job = { bench_engines[e], set, params, report[e] };

			memset(report[e], 0, size);
			if (bench_child(measure, &job, NULL))
				add(&result[e], report[e]);
		}
		for (e = 0; e < nr; e++)
			compare(set, report[e], report[dw], &result[e]);
	}
out:
	while (nr--)
		munmap(report[nr], size);
	return rc;
}
