// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What running processes map, read again at each stop, and told as perf records where it changed.
 *
 * Only mappings that may hold code or CFI matter: those of files, and executable ones. So the
 * comparison of heaps and stacks, which change all the time, costs nothing but the reading.
 */
#include "harness/live_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_BUCKETS	256	/* a power of two */

/* Bytes of /proc/PID/maps that are read: 65,530 mappings with long paths. */
#define MAX_TEXT	(64u << 20)

/* A line that matters. The text is that of its process. */
struct mapping {
	u64 start;
	u64 end;
	u64 pgoff;
	u64 file;	/* device and inode; 0 for none */
	const char *line;
	u32 len;
};

struct process {
	struct process *next;
	pid_t pid;
	char *text;
	struct mapping *map;
	u32 nr;
};

struct live_maps {
	struct live_maps_out out;
	struct live_maps_stats stats;
	char *buf;
	size_t room;
	struct process *bucket[NR_BUCKETS];
};

/**
 * live_maps_new() - begin with no process
 * @out: who is told
 *
 * Return: the state, NULL without memory.
 */
struct live_maps *live_maps_new(const struct live_maps_out *out)
{
	struct live_maps *m = calloc(1, sizeof(*m));

	if (m)
		m->out = *out;
	return m;
}

static struct process **bucket_of(struct live_maps *m, pid_t pid)
{
	return &m->bucket[(u32)pid & (NR_BUCKETS - 1)];
}

static struct process *find(struct live_maps *m, pid_t pid)
{
	struct process *p = *bucket_of(m, pid);

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct process *get(struct live_maps *m, pid_t pid)
{
	struct process *p = find(m, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->next = *bucket_of(m, pid);
	*bucket_of(m, pid) = p;
	return p;
}

/**
 * live_maps_drop() - a process is gone, or another program
 * @m: the state
 * @pid: process
 */
void live_maps_drop(struct live_maps *m, pid_t pid)
{
	struct process **at = bucket_of(m, pid), *p;

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	p = *at;
	if (!p)
		return;
	*at = p->next;
	free(p->text);
	free(p->map);
	free(p);
}

/**
 * live_maps_free() - forget everything
 * @m: the state, or NULL
 */
void live_maps_free(struct live_maps *m)
{
	if (!m)
		return;
	for (u32 k = 0; k < NR_BUCKETS; k++) {
		while (m->bucket[k])
			live_maps_drop(m, m->bucket[k]->pid);
	}
	free(m->buf);
	free(m);
}

/* Reads all of it at once; returns its length, with a NUL behind it. */
static ssize_t read_text(struct live_maps *m, pid_t tid)
{
	char path[64];
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		if (m->room - len < 8192) {
			size_t room = m->room ? 2 * m->room : 1u << 16;
			char *buf = room > MAX_TEXT ? NULL : realloc(m->buf, room);

			if (!buf) {
				close(fd);
				return -ENOMEM;
			}
			m->buf = buf;
			m->room = room;
		}
		n = read(fd, m->buf + len, m->room - len - 1);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0);
	if (n < 0)
		n = -errno;
	close(fd);
	m->buf[len] = 0;
	return n < 0 ? n : (ssize_t)len;
}

/* Fills in one line; false for one that matters to nobody. */
static bool parse_line(const char *line, struct mapping *map)
{
	char perms[5];
	u32 maj, min;
	u64 ino;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n", &map->start,
		   &map->end, perms, &map->pgoff, &maj, &min, &ino, &at) < 7 || !at)
		return false;
	map->file = ino ? ino * 0x9e3779b97f4a7c15ull ^ ((u64)maj << 20 | min) : 0;
	return ino || perms[2] == 'x';
}

static int parse(const char *text, struct mapping **list, u32 *nr)
{
	u32 room = 0;

	*list = NULL;
	*nr = 0;
	while (*text) {
		const char *end = strchrnul(text, '\n');

		if (*nr == room) {
			struct mapping *more;

			room = room ? 2 * room : 64;
			more = realloc(*list, room * sizeof(*more));
			if (!more) {
				free(*list);
				*list = NULL;
				return -ENOMEM;
			}
			*list = more;
		}
		if (parse_line(text, &(*list)[*nr])) {
			(*list)[*nr].line = text;
			(*list)[*nr].len = (u32)(end - text);
			++*nr;
		}
		text = *end ? end + 1 : end;
	}
	return 0;
}

static bool same_line(const struct mapping *a, const struct mapping *b)
{
	return a->len == b->len && !memcmp(a->line, b->line, a->len);
}

static bool same_bytes(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file && a->pgoff - a->start == b->pgoff - b->start;
}

/*
 * Is any address of a file's mapping no longer the same byte of the same file? A change of
 * protection, which splits mappings, is no loss. Both lists are in order.
 */
static bool any_lost(const struct process *p, const struct mapping *now, u32 nr)
{
	u32 at = 0;

	for (u32 k = 0; k < p->nr; k++) {
		const struct mapping *was = &p->map[k];
		u64 covered = was->start;

		if (!was->file)
			continue;
		while (at < nr && now[at].end <= was->start)
			at++;
		for (u32 n = at; n < nr && now[n].start <= covered && covered < was->end; n++) {
			if (now[n].end > covered && same_bytes(was, &now[n]))
				covered = now[n].end;
		}
		if (covered < was->end)
			return true;
	}
	return false;
}

static int tell(struct live_maps *m, pid_t pid, const struct mapping *map)
{
	const struct perf_proc_out out = {
		.fn = m->out.record, .arg = m->out.arg, .id_size = m->out.id_size,
		.build_ids = true,
	};
	char *line = strndup(map->line, map->len);
	int rc;

	if (!line)
		return -ENOMEM;
	rc = perf_proc_mapping(pid, line, &out);
	free(line);
	return rc;
}

static int tell_new(struct live_maps *m, const struct process *p, const struct mapping *now, u32 nr,
		    bool all)
{
	u32 k = 0;

	for (u32 n = 0; n < nr; n++) {
		int rc;

		while (!all && k < p->nr && p->map[k].start < now[n].start)
			k++;
		if (!all && k < p->nr && same_line(&p->map[k], &now[n]))
			continue;
		rc = tell(m, p->pid, &now[n]);
		if (rc)
			return rc;
	}
	return 0;
}

static bool unchanged(const struct process *p, const struct mapping *now, u32 nr)
{
	if (p->nr != nr)
		return false;
	for (u32 k = 0; k < nr; k++) {
		if (!same_line(&p->map[k], &now[k]))
			return false;
	}
	return true;
}

/**
 * live_maps_update() - bring what is known of a process up to date
 * @m: the state
 * @pid: process
 * @tid: a thread of it that is stopped: the first one may be gone
 *
 * Return: 0, what a function of @out returned, -ENOMEM; -ESRCH where the process is gone.
 */
int live_maps_update(struct live_maps *m, pid_t pid, pid_t tid)
{
	ssize_t len = read_text(m, tid);
	struct process *p = get(m, pid);
	struct mapping *now;
	char *text;
	bool lost;
	u32 nr;
	int rc = 0;

	if (!p)
		return -ENOMEM;
	if (len < 0)
		return len == -ENOENT ? -ESRCH : (int)len;
	m->stats.reads++;
	if (p->text && !strcmp(p->text, m->buf))
		return 0;
	text = strdup(m->buf);
	if (!text || parse(text, &now, &nr)) {
		free(text);
		return -ENOMEM;
	}
	if (!unchanged(p, now, nr)) {
		m->stats.changes++;
		lost = any_lost(p, now, nr);
		if (lost) {
			m->stats.resets++;
			rc = m->out.reset ? m->out.reset(m->out.arg, pid) : 0;
		}
		if (!rc)
			rc = tell_new(m, p, now, nr, lost);
	}
	free(p->text);
	free(p->map);
	p->text = text;
	p->map = now;
	p->nr = nr;
	return rc;
}

/**
 * live_maps_fork() - a new process has what its parent has
 * @m: the state
 * @parent: parent; nothing need be known of it
 * @pid: the child
 *
 * Return: 0, -ENOMEM.
 */
int live_maps_fork(struct live_maps *m, pid_t parent, pid_t pid)
{
	struct process *from, *to;

	live_maps_drop(m, pid);
	from = find(m, parent);
	if (!from || !from->text)
		return 0;
	to = get(m, pid);
	if (!to)
		return -ENOMEM;
	to->text = strdup(from->text);
	if (!to->text || parse(to->text, &to->map, &to->nr)) {
		live_maps_drop(m, pid);
		return -ENOMEM;
	}
	return 0;
}

/**
 * live_maps_stats() - what was done so far
 * @m: the state
 *
 * Return: the counters.
 */
const struct live_maps_stats *live_maps_stats(const struct live_maps *m)
{
	return &m->stats;
}
