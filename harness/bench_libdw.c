// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * libdw as a benchmark's engine: one Dwfl a process, kept over all samples.
 */
#include "harness/bench_engine.h"

#include <stdlib.h>
#include <string.h>

struct dw {
	struct check_run_oracle *sessions;
	const struct bench_set *set;
	struct bench_mem mem;	/* only its stack: the files are libdw's own affair */
	u64 pc[BENCH_MAX_FRAMES];
};

static bool read_stack(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	const struct bench_mem *m = (const struct bench_mem *)(const void *)mem;

	if (addr - m->sp > m->size || len > m->size - (addr - m->sp))
		return false;
	memcpy(dst, m->stack + (addr - m->sp), len);
	return true;
}

static void *open_dw(const struct bench_set *set)
{
	struct dw *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->set = set;
	d->mem.mem.read = read_stack;
	d->sessions = check_run_oracle_new(NULL);
	for (u32 k = 0; k < set->nr_spaces; k++)
		if (!set->space[k].maps)
			return NULL;
	return d->sessions ? d : NULL;
}

static u32 walk(void *engine, const struct bench_sample *s, u64 *pc)
{
	struct dw *d = engine;
	struct oracle_frames *o = check_run_oracle_get(d->sessions, d->set->space[s->space].maps);
	int nr;

	if (!o)
		return 0;
	bench_mem_stack(&d->mem, s);
	nr = oracle_frames_pcs(o, &s->regs, &d->mem.mem, pc ? pc : d->pc, BENCH_MAX_FRAMES);
	return nr > 0 ? (u32)nr : 0;
}

/* Where no CFI covers a pc, libdw goes on by the frame pointer: what follows is no reference. */
static u32 sure(void *engine, const struct bench_sample *s)
{
	static struct compare_frame frame[BENCH_MAX_FRAMES];
	struct compare_oracle out = { .frame = frame };
	struct dw *d = engine;
	struct oracle_frames *o = check_run_oracle_get(d->sessions, d->set->space[s->space].maps);
	u32 nr = 0;

	bench_mem_stack(&d->mem, s);
	if (!o || oracle_frames_walk(o, &s->regs, &d->mem.mem, BENCH_MAX_FRAMES, &out, NULL))
		return 0;
	while (nr < out.nr && frame[nr].via != COMPARE_VIA_GUESS)
		nr++;
	return nr;
}

const struct bench_engine bench_libdw = {
	.name = "libdw", .what = "libdw, one Dwfl kept a process", .open = open_dw, .walk = walk,
	.sure = sure,
};
