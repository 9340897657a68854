// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How the cost of a frame grows: with the FDEs of a file, the files of a process, the depth of
 * stacks, and threads.
 */
#include "harness/bench_synth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/json.h"
#include "harness/order.h"
#include "harness/plain_rows.h"

#define STACKS		100
#define GROUPS		51		/* of passes; their median counts */
#define GROUP_NS	2000000u	/* at least: the clock is good for no less */
#define MAX_THREADS	8

/* What is made up; all but one stay the same in a sweep. */
struct shape {
	u64 fdes;	/* of all modules */
	u32 modules;
	u32 depth;
	int threads;
};

/* A walk with all that it needs, one for each thread. */
struct walker {
	struct bench_mem m;
	struct ehu_unwind u;
	struct ehu_row_cache cache;
	struct ehf_memo memo;
	struct ehu_entry entry[BENCH_MAX_FRAMES];
	_Alignas(64) struct ehu_slot slot[EHU_ROW_CACHE_SLOTS];
};

struct job {
	const struct bench_set *set;
	const struct shape *shape;
	bool caches;
	double median;	/* ns of CPU a frame; 0 where it could not be measured */
};

static bool open_memory(struct bench_mem *m, const struct bench_set *set, const struct shape *shape)
{
	return bench_mem_open(m, set->space, 1) &&
	       (shape->modules == 1 ||
		bench_synth_map(m, shape->modules, shape->fdes / shape->modules));
}

static struct walker *open_walker(const struct job *job)
{
	struct walker *w = aligned_alloc(64, (sizeof(*w) + 63) & ~63UL);

	if (!w)
		return NULL;
	w->memo = (struct ehf_memo){ 0 };
	w->u = (struct ehu_unwind){
		.arch = &ehu_arch_x86_64, .mem = &w->m.mem, .sections = &w->m.text.sections,
		.limits = &ehf_limits_walk,
	};
	if (job->caches) {
		w->u.cache = &w->cache;
		w->u.memo = &w->memo;
	}
	if (open_memory(&w->m, job->set, job->shape) &&
	    !ehu_row_cache_init(&w->cache, w->slot, EHU_ROW_CACHE_SLOTS))
		return w;
	bench_mem_close(&w->m);
	free(w);
	return NULL;
}

/* Frames of all stacks; 0 where one of them is not walked to its end. */
static u64 pass(struct walker *w, const struct bench_set *set, u32 depth)
{
	u64 frames = 0;

	for (u32 n = 0; n < set->nr; n++) {
		struct ehu_trace trace = { .entry = w->entry, .max = BENCH_MAX_FRAMES };

		bench_mem_stack(&w->m, &set->sample[n]);
		ehu_walk(&w->u, &set->sample[n].regs, &trace);
		if (trace.nr != depth)
			return 0;
		frames += trace.nr;
	}
	return frames;
}

/* Passes that take long enough to be timed; ns a frame, 0 where a walk went wrong. */
static double group(struct walker *w, const struct job *job)
{
	u64 start = bench_now(), now, frames = 0, more;

	do {
		more = pass(w, job->set, job->shape->depth);
		frames += more;
		now = bench_now();
	} while (more && now - start < GROUP_NS);
	return more ? (double)(now - start) / (double)frames : 0;
}

static void *run(void *arg)
{
	struct job *job = arg;
	struct walker *w = open_walker(job);
	double ns[GROUPS];
	u32 k = 0;

	/* The first one fills the caches. */
	if (w && group(w, job) > 0)
		while (k < GROUPS && (ns[k] = group(w, job)) > 0)
			k++;
	if (k == GROUPS) {
		qsort(ns, GROUPS, sizeof(*ns), order_double);
		job->median = ns[GROUPS / 2];
	}
	if (w)
		bench_mem_close(&w->m);
	free(w);
	return NULL;
}

/* The mean over the threads; 0 where any could not be measured. */
static double measure(const struct bench_set *set, const struct shape *shape, bool caches)
{
	pthread_t id[MAX_THREADS];
	struct job job[MAX_THREADS];
	bool good = true;
	double sum = 0;
	int nr;

	for (nr = 0; nr < shape->threads; nr++) {
		job[nr] = (struct job){ .set = set, .shape = shape, .caches = caches };
		if (pthread_create(&id[nr], NULL, run, &job[nr]))
			break;
	}
	good = nr == shape->threads;
	while (nr--) {
		pthread_join(id[nr], NULL);
		good &= job[nr].median > 0;
		sum += job[nr].median;
	}
	return good ? sum / shape->threads : 0;
}

/* ns a row of one pass over all modules, front to back; each row is read. */
static double measure_rows(const struct bench_set *set, const struct shape *shape)
{
	static volatile u64 rows_read;
	struct ehf_cost cost = { 0 };
	struct bench_mem m;
	struct ehf_ctx ctx = {
		.mem = &m.mem, .abi = &ehu_arch_x86_64.abi, .limits = &ehf_limits_file,
		.cost = &cost,
	};
	u64 rows = 0, sum = 0, start;
	double ns = 0;

	if (open_memory(&m, set, shape)) {
		start = bench_now();
		for (u32 k = 0; k < m.text.nr; k++) {
			const struct ehf_section *s = &m.section[k];

			ctx.hand = (struct ehf_hand){
				m.span->p + (s->eh_frame - m.span->start), s->eh_frame,
				s->eh_frame_end - s->eh_frame,
			};
			rows += plain_rows_read(&ctx, s, &sum);
		}
		ns = rows ? (double)(bench_now() - start) / (double)rows : 0;
		rows_read = sum;
	}
	(void)rows_read;
	bench_mem_close(&m);
	return ns;
}

static bool one(const char *sweep, struct shape shape, bool json)
{
	struct bench_set set;
	double cached = 0, uncached = 0, row = 0;
	struct json j;

	if (bench_synth_modules(&set, shape.modules, shape.fdes / shape.modules, shape.depth, STACKS)) {
		cached = measure(&set, &shape, true);
		uncached = measure(&set, &shape, false);
		row = measure_rows(&set, &shape);
	}
	bench_set_free(&set);
	if (cached <= 0 || uncached <= 0 || row <= 0)
		return false;
	if (!json) {
		printf("%-8s %9" PRIu64 " %8u %6u %8d %10.1f %10.1f %10.1f\n", sweep, shape.fdes,
		       shape.modules, shape.depth, shape.threads, cached, uncached, row);
		fflush(stdout);
		return true;
	}
	json_begin(&j, stdout, "bench-growth");
	json_text(&j, "sweep", sweep);
	json_number(&j, "fdes", shape.fdes);
	json_number(&j, "modules", shape.modules);
	json_number(&j, "depth", shape.depth);
	json_number(&j, "threads", (u64)shape.threads);
	json_number(&j, "cached_ps", (u64)(cached * 1000));
	json_number(&j, "uncached_ps", (u64)(uncached * 1000));
	json_number(&j, "row_ps", (u64)(row * 1000));
	json_end(&j);
	return true;
}

/**
 * bench_growth() - measure and print it
 * @json: one object a line instead of a table
 *
 * Return: false where something could not be measured.
 */
bool bench_growth(bool json)
{
	static const u64 fdes[] = { 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000,
				    BENCH_SYNTH_MAX_FDES };
	static const u32 modules[] = { 1, 3, 10, 30, 100, 300, 1000, 3000, BENCH_SYNTH_MAX_MODULES };
	static const u32 depth[] = { 10, 20, 50, 100, 200, BENCH_SYNTH_MAX_DEPTH };
	bool good = true;

	if (!json)
		printf("ns of CPU a frame, a row: made-up modules\n"
		       "sweep         FDEs  modules  depth  threads     cached   uncached static row\n");
	for (size_t k = 0; k < EHF_ARRAY_SIZE(fdes); k++)
		good &= one("fdes", (struct shape){ fdes[k], 1, 30, 1 }, json);
	/* 100 FDEs each */
	for (size_t k = 0; k < EHF_ARRAY_SIZE(modules); k++)
		good &= one("modules", (struct shape){ 100 * modules[k], modules[k], 30, 1 }, json);
	for (size_t k = 0; k < EHF_ARRAY_SIZE(depth); k++)
		good &= one("depth", (struct shape){ 100000, 1, depth[k], 1 }, json);
	for (int threads = 1; threads <= MAX_THREADS; threads++)
		good &= one("threads", (struct shape){ 100000, 1, 30, threads }, json);
	return good;
}
