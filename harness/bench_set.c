// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reads a perf.data file and keeps the stacks, and for each address space what it mapped at last.
 */
#include "harness/bench_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/perf_data.h"
#include "harness/perf_order.h"

static void drop(struct bench_sample *s)
{
	free((void *)(uintptr_t)s->stack);
}

/* Full: every second one goes, and of those that come only every second one is taken. */
static void thin_out(struct bench_set *set)
{
	u32 k, to = 0;

	for (k = 0; k < set->nr; k++) {
		if (k & 1)
			drop(&set->sample[k]);
		else
			set->sample[to++] = set->sample[k];
	}
	set->thinned += set->nr - to;
	set->nr = to;
	set->stride *= 2;
}

/* A set of modules only grows while its epoch lasts: its latest maps serve all its samples. */
static int space_of(struct bench_set *set, struct task_maps *maps)
{
	struct bench_space *more;
	u32 k;

	for (k = 0; k < set->nr_spaces; k++) {
		if (set->space[k].maps->epoch != maps->epoch)
			continue;
		if (set->space[k].maps != maps) {
			task_maps_put(set->space[k].maps);
			set->space[k].maps = task_maps_hold(maps);
		}
		return (int)k;
	}
	more = reallocarray(set->space, set->nr_spaces + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	set->space = more;
	more[set->nr_spaces] = (struct bench_space){
		.maps = task_maps_hold(maps), .arch = maps->arch,
	};
	return (int)set->nr_spaces++;
}

static int keep(struct bench_set *set, const struct perf_event_rec *rec)
{
	struct task *task = task_get(set->tasks, rec->pid);
	struct replay *r = &set->replay;
	struct bench_sample *s;
	int space;
	u8 *stack;

	if (!task || replay_sample(r, task, rec) != REPLAY_TESTABLE) {
		set->untestable++;
		return 0;
	}
	if (set->met++ % set->stride) {
		set->thinned++;
		return 0;
	}
	if (set->nr == set->max)
		thin_out(set);
	space = space_of(set, r->maps);
	stack = malloc(r->stack_size ? r->stack_size : 1);
	if (space < 0 || !stack) {
		free(stack);
		return -ENOMEM;
	}
	memcpy(stack, r->stack, r->stack_size);
	s = &set->sample[set->nr++];
	*s = (struct bench_sample){
		.regs = r->regs, .space = (u32)space, .sp = r->sp,
		.stack = stack, .size = r->stack_size,
	};
	return 0;
}

static const u8 *header_build_id(void *arg, const char *path, u32 *size)
{
	return perf_data_build_id(arg, path, size);
}

/**
 * bench_set_load() - keep the samples of a file
 * @set: filled in; to be freed whatever is returned
 * @path: a perf.data file
 * @max: samples to keep, 2 at least
 * @err: filled in on failure
 *
 * Return: 0, or -1.
 */
int bench_set_load(struct bench_set *set, const char *path, u32 max, struct perf_error *err)
{
	const struct pager_params paging = { 0 };
	struct module_params where = { .build_id = header_build_id };
	struct perf_data *pd = perf_data_open(path, err);
	struct perf_order *order;
	struct perf_event_rec rec;
	int rc = -ENOMEM;

	*set = (struct bench_set){ .max = max, .stride = 1 };
	if (!pd)
		return -1;
	order = perf_order_new(PERF_ORDER_BYTES);
	where.arg = pd;
	where.pager = set->pager = pager_new(&paging);
	set->modules = set->pager ? module_table_new(&where) : NULL;
	set->tasks = set->modules ? task_table_new(set->modules) : NULL;
	set->sample = calloc(max, sizeof(*set->sample));
	if (set->tasks && set->sample && order) {
		replay_init(&set->replay, set->pager);
		while ((rc = perf_order_next(order, pd, &rec)) > 0) {
			if (rec.type == PERF_RECORD_SAMPLE)
				rc = keep(set, &rec);
			else
				rc = task_record(set->tasks, &rec);
			if (rc == -ENOMEM)
				break;
		}
	}
	if (rc < 0)
		*err = *perf_data_error(pd);
	/* What was mapped after the last sample belongs to its epoch as well. */
	for (u32 k = 0; k < set->nr_spaces; k++)
		task_text(set->space[k].maps);
	perf_order_free(order);
	perf_data_close(pd);
	return rc < 0 ? -1 : 0;
}

/**
 * bench_set_free() - give a set back
 * @set: the set
 */
void bench_set_free(struct bench_set *set)
{
	u32 k;

	for (k = 0; k < set->nr; k++)
		drop(&set->sample[k]);
	free(set->sample);
	for (k = 0; k < set->nr_spaces; k++) {
		if (set->space[k].maps)
			task_maps_put(set->space[k].maps);
		free((void *)(uintptr_t)set->space[k].made);
	}
	free(set->space);
	if (set->tasks)
		task_table_free(set->tasks);
	if (set->modules)
		module_table_free(set->modules);
	if (set->pager)
		pager_free(set->pager);
}
