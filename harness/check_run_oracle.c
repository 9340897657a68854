// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Keeps libdw's sessions: each module is reported to it once for each bias, new ones are added,
 * and the session that was not used for longest makes room for another.
 */
#include "harness/check_run_oracle.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Sessions kept, and modules in all of them: libdw keeps each mapped and open, and a process has
 * 1,024 descriptors, of which the pager takes 256.
 */
#define MAX_SESSIONS	32
#define MAX_MODULES	600

struct added {
	const struct module *module;
	u64 bias;
	bool refused;
};

struct session {
	u64 epoch;		/* 0: not in use */
	u64 generation;		/* of the maps when modules were added last */
	u64 used;
	struct oracle_frames *oracle;
	struct added *added;
	u32 nr;
	u32 max;
};

struct check_run_oracle {
	struct session session[MAX_SESSIONS];
	struct debuginfo *di;	/* NULL: no separate files */
	u64 clock;
	u64 modules;		/* in all sessions now */
	struct check_run_oracle_stats stats;
};

static void drop(struct check_run_oracle *pool, struct session *s)
{
	pool->modules -= s->nr;
	oracle_frames_free(s->oracle);
	free(s->added);
	*s = (struct session){ 0 };
}

static struct session *oldest(struct check_run_oracle *pool, const struct session *keep)
{
	struct session *found = NULL;
	u32 k;

	for (k = 0; k < MAX_SESSIONS; k++) {
		struct session *s = &pool->session[k];

		if (s->epoch && s != keep && (!found || s->used < found->used))
			found = s;
	}
	return found;
}

static const struct added *find(const struct session *s, const struct module_place *place)
{
	u32 k;

	for (k = 0; k < s->nr; k++)
		if (s->added[k].module == place->module && s->added[k].bias == place->bias)
			return &s->added[k];
	return NULL;
}

/* The module's bytes as a file; those of an image in memory (the vDSO) are written to one. */
static int open_module(struct module *m)
{
	int fd;

	if (!m->memory)
		return module_dup_fd(m);
	fd = memfd_create(m->path, MFD_CLOEXEC);
	if (fd >= 0 && write(fd, m->memory, m->memory_size) != (ssize_t)m->memory_size) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool add_place(struct check_run_oracle *pool, struct session *s,
		      const struct module_place *place)
{
	const char *why = NULL;
	int fd;

	if (s->nr == s->max) {
		u32 max = s->max ? 2 * s->max : 16;
		struct added *more = reallocarray(s->added, max, sizeof(*more));

		if (!more)
			return false;
		s->added = more;
		s->max = max;
	}
	fd = open_module(place->module);
	if (fd < 0) {
		why = "it cannot be opened again";
	} else if (place->module->type == ET_EXEC && place->bias) {
		/* An ET_EXEC's base is ignored (__libdwfl_elf_address_range() in elfutils 0.188).
		 */
		why = "libdw cannot place an ET_EXEC file elsewhere than it says";
		close(fd);
	} else {
		if (oracle_frames_add(s->oracle, place->module->path, fd, place->bias))
			why = oracle_frames_error(s->oracle);
		close(fd);
	}
	if (why && !pool->stats.refused++)
		snprintf(pool->stats.refused_why, sizeof(pool->stats.refused_why), "%.180s: %s",
			 place->module->path, why);
	s->added[s->nr++] = (struct added){ place->module, place->bias, why != NULL };
	pool->modules++;
	pool->stats.modules++;
	return true;
}

static struct session *begin(struct check_run_oracle *pool, const struct task_maps *maps)
{
	struct session *s = NULL;
	u32 k;

	for (k = 0; k < MAX_SESSIONS && !s; k++)
		if (!pool->session[k].epoch)
			s = &pool->session[k];
	if (!s) {
		s = oldest(pool, NULL);
		drop(pool, s);
	}
	s->oracle = oracle_frames_new(maps->arch);
	if (!s->oracle)
		return NULL;
	oracle_frames_debuginfo(s->oracle, pool->di);
	s->epoch = maps->epoch;
	pool->stats.sessions++;
	return s;
}

/**
 * check_run_oracle_new() - no sessions yet
 * @di: lets libdw use .debug_frame of separate files; NULL for no such files
 *
 * Return: the pool, NULL where memory ran out.
 */
struct check_run_oracle *check_run_oracle_new(struct debuginfo *di)
{
	struct check_run_oracle *pool = calloc(1, sizeof(*pool));

	if (pool)
		pool->di = di;
	return pool;
}

/**
 * check_run_oracle_free() - end all sessions
 * @pool: the pool, or NULL
 */
void check_run_oracle_free(struct check_run_oracle *pool)
{
	u32 k;

	if (!pool)
		return;
	for (k = 0; k < MAX_SESSIONS; k++)
		if (pool->session[k].epoch)
			drop(pool, &pool->session[k]);
	free(pool);
}

/**
 * check_run_oracle_get() - the session for a process as it is now
 * @pool: the pool
 * @maps: its maps, after task_text()
 *
 * Only files with code that is mapped as such are told: a program that is mapped as data (by
 * readelf, say) has no pc in it, and libdw would put it where it runs, over what is there. Nor are
 * those of another machine than the process's: libdw would take one of them to find out which
 * machine it is.
 *
 * Return: the session, valid until the next call; NULL where memory ran out.
 */
struct oracle_frames *check_run_oracle_get(struct check_run_oracle *pool,
					   const struct task_maps *maps)
{
	struct session *s = NULL, *old;
	u32 k;

	for (k = 0; k < MAX_SESSIONS && !s; k++)
		if (pool->session[k].epoch == maps->epoch)
			s = &pool->session[k];
	if (!s)
		s = begin(pool, maps);
	if (!s)
		return NULL;
	s->used = ++pool->clock;
	if (s->generation == maps->generation)
		return s->oracle;
	for (k = 0; k < maps->nr; k++) {
		const struct module_place *place = maps->range[k].place;

		if (place && maps->range[k].flags & TASK_TEXT &&
		    place->module->arch == maps->arch && !find(s, place) &&
		    !add_place(pool, s, place))
			return NULL;
	}
	s->generation = maps->generation;
	while (pool->modules > MAX_MODULES && (old = oldest(pool, s)) != NULL)
		drop(pool, old);
	return s->oracle;
}

/**
 * check_run_oracle_refused() - did libdw refuse a module
 * @pool: the pool
 * @maps: the process's maps, as check_run_oracle_get() had them
 * @place: the module there
 *
 * Return: true where it was told of it and would not take it.
 */
bool check_run_oracle_refused(const struct check_run_oracle *pool, const struct task_maps *maps,
			      const struct module_place *place)
{
	u32 k;

	for (k = 0; k < MAX_SESSIONS; k++) {
		const struct session *s = &pool->session[k];
		const struct added *a = s->epoch == maps->epoch ? find(s, place) : NULL;

		if (a)
			return a->refused;
	}
	return false;
}

/**
 * check_run_oracle_stats() - what the sessions took so far
 * @pool: the pool
 *
 * Return: the counters.
 */
const struct check_run_oracle_stats *check_run_oracle_stats(const struct check_run_oracle *pool)
{
	return &pool->stats;
}
