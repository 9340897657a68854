// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How the cost of a frame grows: with the FDEs of a file, the depth of stacks, and threads.
 */
#include "harness/bench_synth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "harness/json.h"

#define STACKS	100
#define PASSES	9

/* What one thread does: passes of its own, with caches of its own. */
struct job {
	const struct bench_engine *e;
	const struct bench_set *set;
	double best;	/* ns of CPU a frame */
};

static void *run(void *arg)
{
	struct job *job = arg;
	void *engine = job->e->open(job->set);

	job->best = 0;
	for (int k = 0; engine && k <= PASSES; k++) {
		u64 frames = 0, start = bench_now();
		double ns;

		for (u32 n = 0; n < job->set->nr; n++)
			frames += job->e->walk(engine, &job->set->sample[n], NULL);
		ns = (double)(bench_now() - start) / (double)frames;
		if (k && (job->best <= 0 || ns < job->best))
			job->best = ns;
	}
	return NULL;
}

/* The mean over the threads of each one's best pass. */
static double measure(const struct bench_engine *e, const struct bench_set *set, int threads)
{
	pthread_t id[8];
	struct job job[8];
	double sum = 0;
	int nr = 0;

	while (nr < threads) {
		job[nr] = (struct job){ .e = e, .set = set };
		if (pthread_create(&id[nr], NULL, run, &job[nr]))
			break;
		nr++;
	}
	for (int k = 0; k < nr; k++) {
		pthread_join(id[k], NULL);
		sum += job[k].best;
	}
	return nr ? sum / nr : 0;
}

static bool one(u64 fdes, u32 depth, int threads, bool json)
{
	struct bench_set set;
	double cached, uncached, rows = 0;
	u64 start, nr;
	bool good = bench_synth(&set, fdes, depth, STACKS);

	if (good) {
		cached = measure(&bench_ours_cached, &set, threads);
		uncached = measure(&bench_ours_uncached, &set, threads);
		start = bench_now();
		nr = bench_synth_rows(&set);
		rows = nr ? (double)(bench_now() - start) / (double)nr : 0;
	}
	bench_set_free(&set);
	if (!good)
		return false;
	if (json) {
		struct json j;

		json_begin(&j, stdout, "bench-growth");
		json_number(&j, "fdes", fdes);
		json_number(&j, "depth", depth);
		json_number(&j, "threads", (u64)threads);
		json_number(&j, "cached_ps", (u64)(cached * 1000));
		json_number(&j, "uncached_ps", (u64)(uncached * 1000));
		json_number(&j, "row_ps", (u64)(rows * 1000));
		json_end(&j);
	} else {
		printf("%9" PRIu64 " %6u %8d %10.1f %10.1f %10.1f\n", fdes, depth, threads, cached,
		       uncached, rows);
	}
	return true;
}

/**
 * bench_growth() - measure and print it
 * @json: one object a line instead of a table
 *
 * Return: false where memory ran out.
 */
bool bench_growth(bool json)
{
	static const u64 fdes[] = { 1000, 10000, 100000, 1000000, 10000000 };
	static const u32 depth[] = { 10, 30, 100, 300, 500 };

	if (!json)
		printf("ns of CPU a frame, a row: made-up sections\n"
		       "     FDEs  depth  threads     cached   uncached static row\n");
	for (size_t k = 0; k < EHF_ARRAY_SIZE(fdes); k++)
		if (!one(fdes[k], 30, 1, json))
			return false;
	for (size_t k = 0; k < EHF_ARRAY_SIZE(depth); k++)
		if (!one(100000, depth[k], 1, json))
			return false;
	for (int threads = 1; threads <= 8; threads *= 2)
		if (!one(100000, 30, threads, json))
			return false;
	return true;
}
