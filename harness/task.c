// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The table of processes: what perf's side-band records do to them.
 */
#include "harness/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_BUCKETS	8192	/* a power of two */

/* Set by perf record in FORK records that it makes up: the child has mappings of its own. */
#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC	(1 << 13)
#endif

/**
 * task_table_new() - make a table
 * @mods: the files; must outlive it
 *
 * Return: the table, NULL where memory is short.
 */
struct task_table *task_table_new(struct modules *mods)
{
	struct task_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->mods = mods;
	t->bucket = calloc(NR_BUCKETS, sizeof(*t->bucket));
	if (!t->bucket) {
		free(t);
		return NULL;
	}
	return t;
}

static struct task **bucket_of(struct task_table *t, u32 pid)
{
	return &t->bucket[(pid ^ pid >> 13) & (NR_BUCKETS - 1)];
}

static void unlink_age(struct task_table *t, struct task *task)
{
	if (task->older)
		task->older->newer = task->newer;
	else
		t->oldest = task->newer;
	if (task->newer)
		task->newer->older = task->older;
	else
		t->newest = task->older;
	task->older = NULL;
	task->newer = NULL;
}

static void link_newest(struct task_table *t, struct task *task)
{
	task->older = t->newest;
	if (t->newest)
		t->newest->newer = task;
	else
		t->oldest = task;
	t->newest = task;
}

static void link_oldest(struct task_table *t, struct task *task)
{
	task->newer = t->oldest;
	if (t->oldest)
		t->oldest->older = task;
	else
		t->newest = task;
	t->oldest = task;
}

static void forget(struct task_table *t, struct task *task)
{
	struct task **at = bucket_of(t, task->pid);

	while (*at != task)
		at = &(*at)->hash_next;
	*at = task->hash_next;
	unlink_age(t, task);
	task_maps_put(task->maps);
	free(task);
	t->nr--;
}

/**
 * task_table_free() - end a table
 * @t: the table, or NULL; nobody holds maps of its processes any more
 */
void task_table_free(struct task_table *t)
{
	if (!t)
		return;
	while (t->oldest)
		forget(t, t->oldest);
	free(t->bucket);
	free(t);
}

/**
 * task_find() - a process that is known
 * @t: the table
 * @pid: its number
 *
 * Return: the process, which holds until the next record; NULL where nothing is known of it.
 */
struct task *task_find(struct task_table *t, u32 pid)
{
	struct task *task = *bucket_of(t, pid);

	while (task && task->pid != pid)
		task = task->hash_next;
	return task;
}

/* Stays within the bounds; the process at hand is the newest, and stays. */
static void make_room(struct task_table *t)
{
	while (t->oldest && t->oldest != t->newest &&
	       (t->nr > TASK_MAX || t->nr_ranges > TASK_MAX_TOTAL)) {
		forget(t, t->oldest);
		t->stats.dropped_tasks++;
	}
}

/**
 * task_get() - a process, known or not
 * @t: the table
 * @pid: its number
 *
 * Return: the process, which holds until the next record; NULL where memory is short.
 */
struct task *task_get(struct task_table *t, u32 pid)
{
	struct task *task = task_find(t, pid);

	if (task) {
		if (t->newest != task) {
			unlink_age(t, task);
			link_newest(t, task);
		}
		return task;
	}
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->maps = task_maps_new(t);
	if (!task->maps) {
		free(task);
		return NULL;
	}
	task->pid = pid;
	task->hash_next = *bucket_of(t, pid);
	*bucket_of(t, pid) = task;
	link_newest(t, task);
	t->nr++;
	make_room(t);
	return task;
}

static int replace_maps(struct task *task, struct task_maps *maps)
{
	if (!maps)
		return -ENOMEM;
	task_maps_put(task->maps);
	task->maps = maps;
	return 0;
}

static int on_mmap(struct task_table *t, const struct perf_event_rec *rec)
{
	const struct perf_rec_mmap *map = &rec->mmap;
	u32 mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct task *task;
	int err;

	if (rec->pid == ~0U || (mode != PERF_RECORD_MISC_USER &&
				mode != PERF_RECORD_MISC_CPUMODE_UNKNOWN)) {
		t->stats.kernel_mmaps++;
		return 0;
	}
	if (!map->len || map->len > ~map->addr) {
		t->stats.bad_mmaps++;
		return 0;
	}
	t->stats.mmaps++;
	task = task_get(t, rec->pid);
	if (!task)
		return -ENOMEM;
	err = task_maps_add(&task->maps, map);
	make_room(t);
	return err;
}

static int on_comm(struct task_table *t, const struct perf_event_rec *rec)
{
	struct task *task;

	/* A thread's name, but it is the whole process that executes another program. */
	if (rec->pid != rec->tid && !rec->comm.exec)
		return 0;
	task = task_get(t, rec->pid);
	if (!task)
		return -ENOMEM;
	strncpy(task->comm, rec->comm.name, sizeof(task->comm) - 1);
	task->comm[sizeof(task->comm) - 1] = '\0';
	if (!rec->comm.exec)
		return 0;
	t->stats.execs++;
	task->exited = false;
	return replace_maps(task, task_maps_new(t));
}

static int on_fork(struct task_table *t, const struct perf_event_rec *rec)
{
	struct task *parent, *task;
	struct task_maps *maps;

	if (rec->pid == rec->task.ppid) {
		t->stats.threads++;
		return 0;
	}
	t->stats.forks++;
	/* The number may have been another process's: nothing of that one is left. */
	parent = task_find(t, rec->task.ppid);
	maps = parent && !(rec->misc & PERF_RECORD_MISC_FORK_EXEC) ?
	       task_maps_hold(parent->maps) : task_maps_new(t);
	task = task_get(t, rec->pid);
	if (!task) {
		task_maps_put(maps);
		return -ENOMEM;
	}
	task->exited = false;
	parent = task_find(t, rec->task.ppid);
	memcpy(task->comm, parent ? parent->comm : "", parent ? sizeof(task->comm) : 1);
	return replace_maps(task, maps);
}

static void on_exit_record(struct task_table *t, const struct perf_event_rec *rec)
{
	struct task *task = task_find(t, rec->pid);

	if (!task || rec->pid != rec->tid)
		return;
	t->stats.exits++;
	/* Other threads may live on: it is only the first to be forgotten. */
	task->exited = true;
	unlink_age(t, task);
	link_oldest(t, task);
}

/**
 * task_record() - take in a record
 * @t: the table
 * @rec: a record of any type, in the order of time; those that do not change a process's
 *	mappings or name are ignored
 *
 * Return: 0, -ENOMEM.
 */
int task_record(struct task_table *t, const struct perf_event_rec *rec)
{
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return on_mmap(t, rec);
	case PERF_RECORD_COMM:
		return on_comm(t, rec);
	case PERF_RECORD_FORK:
		return on_fork(t, rec);
	case PERF_RECORD_EXIT:
		on_exit_record(t, rec);
		return 0;
	default:
		return 0;
	}
}
