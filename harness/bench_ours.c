// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Our walk as a benchmark's engine, with its caches and without any.
 */
#include "harness/bench_engine.h"

#include <stdlib.h>
#include <sys/mman.h>

struct ours {
	struct bench_mem *space;
	struct ehu_unwind *unwind;	/* of each space */
	u32 nr_spaces;
	bool caches;
	struct ehu_row_cache cache;
	struct ehf_memo memo;
	struct ehu_entry entry[BENCH_MAX_FRAMES];
	struct ehu_slot slot[EHU_ROW_CACHE_SLOTS];
};

static struct ours *open_ours(const struct bench_set *set, bool caches)
{
	/* All its pages at once: a fault for each would take longer than to fill them. */
	struct ours *o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (o == MAP_FAILED)
		return NULL;
	o->caches = caches;
	o->space = calloc(set->nr_spaces, sizeof(*o->space));
	o->unwind = calloc(set->nr_spaces, sizeof(*o->unwind));
	if (!o->space || !o->unwind ||
	    (caches && ehu_row_cache_init(&o->cache, o->slot, EHU_ROW_CACHE_SLOTS)))
		return NULL;
	for (; o->nr_spaces < set->nr_spaces; o->nr_spaces++) {
		struct bench_mem *m = &o->space[o->nr_spaces];

		if (!bench_mem_open(m, &set->space[o->nr_spaces], o->nr_spaces + 1))
			return NULL;
		o->unwind[o->nr_spaces] = (struct ehu_unwind){
			.arch = &ehu_arch_x86_64,
			.mem = &m->mem,
			.sections = &m->text.sections,
			.limits = &ehf_limits_walk,
			.cache = caches ? &o->cache : NULL,
			.memo = caches ? &o->memo : NULL,
		};
	}
	return o;
}

static void *open_cached(const struct bench_set *set)
{
	return open_ours(set, true);
}

static void *open_uncached(const struct bench_set *set)
{
	return open_ours(set, false);
}

static u32 walk(void *engine, const struct bench_sample *s, u64 *pc)
{
	struct ours *o = engine;
	struct bench_mem *m = &o->space[s->space];
	struct ehu_trace trace = { .entry = o->entry, .max = BENCH_MAX_FRAMES };

	bench_mem_stack(m, s);
	ehu_walk(&o->unwind[s->space], &s->regs, &trace);
	for (u32 k = 0; pc && k < trace.nr; k++)
		pc[k] = trace.entry[k].ip;
	return trace.nr;
}

/* What the walk itself holds: its caches, and a section for each module. */
static u64 memory(const void *engine)
{
	const struct ours *o = engine;
	u64 bytes = o->caches ? sizeof(o->cache) + sizeof(o->memo) + sizeof(o->slot) : 0;

	for (u32 k = 0; k < o->nr_spaces; k++)
		bytes += o->space[k].nr_files * sizeof(struct ehf_section) +
			 o->space[k].text.nr * sizeof(struct ehu_range);
	return bytes;
}

const struct bench_engine bench_ours_cached = {
	.name = "cached", .what = "ehunwind, row cache and CIE memo",
	.open = open_cached, .walk = walk, .memory = memory,
};

const struct bench_engine bench_ours_uncached = {
	.name = "uncached", .what = "ehunwind, every frame searched and interpreted",
	.open = open_uncached, .walk = walk, .memory = memory,
};
