/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Processes as perf's records tell of them: what is mapped where, now.
 */
#ifndef HARNESS_TASK_H
#define HARNESS_TASK_H

#include "harness/module.h"
#include "unwind/map.h"

/* Flags of a range. */
#define TASK_TEXT	0x01	/* executable: a pc may be here */
#define TASK_IMPLIED	0x02	/* no record: a PT_LOAD of a module whose text was recorded */
#define TASK_WRITABLE	0x04	/* it is or was writable: the file's bytes say nothing of it */

/**
 * struct task_range - a range of addresses that is mapped
 * @start: first address
 * @end: one past the last
 * @pos: position in the file of the byte at @start
 * @module: what is mapped there; never NULL
 * @place: that, if usable, at its bias; else NULL
 * @flags: TASK_*
 */
struct task_range {
	u64 start;
	u64 end;
	u64 pos;
	struct module *module;
	struct module_place *place;
	u32 flags;
};

/**
 * struct task_maps - the mappings of a process; after a fork shared until one of both changes
 * @range: by address, without overlaps, @nr of them
 * @text: the text ranges that have a section, for struct ehu_unwind: &@text.sections; up to
 *	date after task_text()
 * @place: the places in @range, each once, @nr_places of them; up to date after task_text()
 * @epoch: which set of modules this is: while it stays the same, places are only added. A new
 *	number at exec, and when addresses of one module are taken by another. Never 0, unique
 *	among all processes, except that a fork shares it for as long as it shares the maps
 * @generation: changes whenever @text does; unique likewise. It is @text.sections.generation too
 * @arch: machine of the first usable module with a file since exec; NULL where there was none yet
 * @main: the first module with a file since exec: the program
 */
struct task_maps {
	struct task_range *range;
	u32 nr;
	struct ehu_map text;
	struct module_place **place;
	u32 nr_places;
	u64 epoch;
	u64 generation;
	const struct ehu_arch *arch;
	struct module *main;

	/* for task_maps.c only */
	struct task_table *table;
	u32 max;
	u32 max_places;
	u32 refs;
	bool text_old;
	bool shared_epoch;
};

/**
 * struct task - a process
 * @pid: its number
 * @comm: its name, cut to fit
 * @maps: never NULL
 * @exited: its main thread is gone
 */
struct task {
	u32 pid;
	char comm[32];
	struct task_maps *maps;
	bool exited;

	/* for task.c only */
	struct task *hash_next;
	struct task *older;
	struct task *newer;
};

/* Bounds; what does not fit is counted. */
#define TASK_MAX	16384		/* processes kept, exited ones included */
#define TASK_MAX_RANGES	65536		/* of one process: vm.max_map_count, about */
#define TASK_MAX_TOTAL	1000000		/* ranges of all processes, shared ones once */

/**
 * struct task_stats - what the records brought
 * @mmaps: mappings of user space
 * @kernel_mmaps: mappings of the kernel or of guests; ignored
 * @bad_mmaps: empty ones and those that wrap around; ignored
 * @forks: of processes
 * @threads: threads created
 * @execs: as COMM records say
 * @exits: of main threads
 * @epochs: begun, other than by exec
 * @dropped_tasks: processes forgotten to stay within TASK_MAX or TASK_MAX_TOTAL, oldest first,
 *	exited ones before others
 * @dropped_ranges: ranges not kept for TASK_MAX_RANGES or for lack of memory
 */
struct task_stats {
	u64 mmaps;
	u64 kernel_mmaps;
	u64 bad_mmaps;
	u64 forks;
	u64 threads;
	u64 execs;
	u64 exits;
	u64 epochs;
	u64 dropped_tasks;
	u64 dropped_ranges;
};

/**
 * struct task_table - all processes
 * @mods: their files
 * @stats: counters
 */
struct task_table {
	struct modules *mods;
	struct task_stats stats;

	/* for task.c and task_maps.c only */
	struct task **bucket;
	struct task *oldest;
	struct task *newest;
	u32 nr;
	u64 nr_ranges;
	u64 last_number;
};

struct task_table *task_table_new(struct modules *mods);
void task_table_free(struct task_table *t);
int task_record(struct task_table *t, const struct perf_event_rec *rec);
struct task *task_find(struct task_table *t, u32 pid);
struct task *task_get(struct task_table *t, u32 pid);

/* The mappings of one process: harness/task_maps.c. */
struct task_maps *task_maps_new(struct task_table *table);
int task_maps_add(struct task_maps **maps, const struct perf_rec_mmap *map);
const struct ehu_map *task_text(struct task_maps *maps);
const struct task_range *task_range_at(const struct task_maps *maps, u64 addr);
struct task_maps *task_maps_hold(struct task_maps *maps);
void task_maps_put(struct task_maps *maps);

#endif /* HARNESS_TASK_H */
