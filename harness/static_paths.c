// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Walks directories for ELF files and leaves out what was met before by another name.
 */
#include "harness/static_paths.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct static_inode {
	dev_t dev;
	ino_t ino;
	bool used;
};

static size_t slot(const struct static_paths *p, dev_t dev, ino_t ino)
{
	uint64_t h = ((uint64_t)ino * 0x9e3779b97f4a7c15ULL) ^ ((uint64_t)dev << 32);
	size_t i = (size_t)(h ^ h >> 29) & (p->seen_room - 1);

	while (p->seen[i].used && (p->seen[i].dev != dev || p->seen[i].ino != ino))
		i = (i + 1) & (p->seen_room - 1);
	return i;
}

static bool grow_seen(struct static_paths *p)
{
	struct static_paths bigger = *p;

	bigger.seen_room = p->seen_room ? 2 * p->seen_room : 1024;
	bigger.seen = calloc(bigger.seen_room, sizeof(*bigger.seen));
	if (!bigger.seen)
		return false;
	for (size_t i = 0; i < p->seen_room; i++) {
		if (p->seen[i].used)
			bigger.seen[slot(&bigger, p->seen[i].dev, p->seen[i].ino)] = p->seen[i];
	}
	free(p->seen);
	*p = bigger;
	return true;
}

/* 1 for a file that is met for the first time, 0 for a known one, -1 without memory. */
static int meet(struct static_paths *p, const struct stat *st)
{
	size_t i;

	if (2 * (p->nr_seen + 1) > p->seen_room && !grow_seen(p))
		return -1;
	i = slot(p, st->st_dev, st->st_ino);
	if (p->seen[i].used)
		return 0;
	p->seen[i] = (struct static_inode){ st->st_dev, st->st_ino, true };
	p->nr_seen++;
	return 1;
}

static bool append(struct static_paths *p, const char *path, bool named, int error)
{
	if (p->nr == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct static_path *grown = reallocarray(p->file, room, sizeof(*grown));

		if (!grown)
			return false;
		p->file = grown;
		p->room = room;
	}
	p->file[p->nr] = (struct static_path){ strdup(path), named, error };
	return p->file[p->nr++].path != NULL;
}

/* A file met in a directory: appended if it begins like an ELF file, or cannot be read. */
static bool consider(struct static_paths *p, const char *path, const struct stat *st)
{
	char magic[SELFMAG];
	ssize_t n;
	int fd, error, first = meet(p, st);

	if (first <= 0)
		return first == 0;
	if (!S_ISREG(st->st_mode)) {
		p->not_elf++;
		return true;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return append(p, path, false, errno);
	n = pread(fd, magic, sizeof(magic), 0);
	error = errno;
	close(fd);
	if (n < 0)
		return append(p, path, false, error);
	if (n == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG))
		return append(p, path, false, 0);
	p->not_elf++;
	return true;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Symbolic links come after all real names, so that reports have those. */
static bool add_links(struct static_paths *p, const struct static_paths *links)
{
	struct stat st;

	for (size_t i = 0; i < links->nr; i++) {
		/* Links to directories are not followed; dangling ones lead to no file. */
		if (!stat(links->file[i].path, &st) && S_ISREG(st.st_mode) &&
		    !consider(p, links->file[i].path, &st))
			return false;
	}
	return true;
}

static bool walk(struct static_paths *p, const char *dir)
{
	char *argv[] = { (char *)(uintptr_t)dir, NULL };	/* fts does not write to it */
	FTS *fts = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
	struct static_paths links = { 0 };
	bool good = true;
	FTSENT *e;

	if (!fts)
		return append(p, dir, true, errno);
	while (good && (e = fts_read(fts)) != NULL) {
		switch (e->fts_info) {
		case FTS_F:
		case FTS_DEFAULT:
			good = consider(p, e->fts_path, e->fts_statp);
			break;
		case FTS_SL:
		case FTS_SLNONE:
			good = append(&links, e->fts_path, false, 0);
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			good = append(p, e->fts_path, false, e->fts_errno);
			break;
		default:
			break;
		}
	}
	fts_close(fts);
	good = good && add_links(p, &links);
	static_paths_free(&links);
	return good;
}

/**
 * static_paths_add() - add a named file, or the files below a named directory
 * @p: the list
 * @path: the file or directory; a symbolic link is followed, one met in a directory only when
 *	it leads to a file
 *
 * What cannot be read is in the list as well, for the check to say so.
 *
 * Return: false when memory runs out.
 */
bool static_paths_add(struct static_paths *p, const char *path)
{
	struct stat st;
	int first;

	if (stat(path, &st))
		return append(p, path, true, errno);
	if (S_ISDIR(st.st_mode))
		return walk(p, path);
	first = meet(p, &st);
	if (first < 0)
		return false;
	return !first || append(p, path, true, 0);
}

/**
 * static_paths_free() - give the list back
 * @p: the list
 */
void static_paths_free(struct static_paths *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->file[i].path);
	free(p->file);
	free(p->seen);
	*p = (struct static_paths){ 0 };
}
