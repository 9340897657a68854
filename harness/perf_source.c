// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A file or pipe read once from front to back: a file where it is mapped, anything else through a
 * window of fixed size.
 */

#define _GNU_SOURCE
#include "harness/perf_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/image.h"

/* Sixteen of the longest records: a read call moves much and memory stays small. */
#define WINDOW		(16 * PERF_ABI_MAX_RECORD)
/* The least: the longest record, wherever in the window it begins. */
#define SMALL_WINDOW	(2 * PERF_ABI_MAX_RECORD)
/* Mapped pages are given up in pieces of this size, when the reader is two of them further. */
#define BEHIND		(64ULL << 20)
/* Pages are mapped in pieces of this size, which spares a fault for every few of them. */
#define AHEAD		(2ULL << 20)

/* Linux 5.14; without it pages are mapped as they are touched. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#endif

struct perf_source {
	int fd;
	bool own_fd;
	bool seekable;
	bool eof;
	int error;		/* errno of a failed read, kept */
	u64 base;		/* the descriptor's position that is our 0 */
	u64 pos;		/* of buf[head] */
	size_t room;		/* bytes of buf */
	size_t head;
	size_t len;		/* bytes from head on */
	char *name;
	u8 *buf;		/* the window; NULL until it is needed */
	int guard;		/* of @map; -1: not mapped */
	const u8 *map;		/* our position 0 and what follows, as long as the file was */
	u64 mapped;		/* bytes of it */
	u64 behind;		/* up to here pages were given up */
	u64 ahead;		/* up to here pages were mapped */
};

static void fail(struct perf_error *err, int status, const char *name)
{
	err->status = status;
	err->pos = 0;
	snprintf(err->text, sizeof(err->text), "%s: %s", name, strerror(status));
}

/* What cannot be mapped is read. */
static void map_file(struct perf_source *s, u64 size)
{
	const u8 *bytes;

	if (size <= s->base)
		return;
	s->guard = image_map(s->fd, size, &bytes);
	if (s->guard < 0)
		return;
	madvise((void *)(uintptr_t)bytes, size, MADV_SEQUENTIAL);
	s->map = bytes + s->base;
	s->mapped = size - s->base;
}

/**
 * perf_source_open_fd() - read from an open descriptor
 * @fd: descriptor, stays the caller's
 * @name: for messages
 * @err: why it failed
 *
 * Return: the source, NULL on error.
 */
struct perf_source *perf_source_open_fd(int fd, const char *name, struct perf_error *err)
{
	struct perf_source *s = calloc(1, sizeof(*s));
	struct stat st;
	off_t at;

	if (fstat(fd, &st)) {
		fail(err, errno, name);
		free(s);
		return NULL;
	}
	if (s) {
		s->fd = fd;
		s->guard = -1;
		s->room = S_ISREG(st.st_mode) && st.st_size < SMALL_WINDOW ? SMALL_WINDOW : WINDOW;
		s->name = strdup(name);
	}
	if (!s || !s->name) {
		fail(err, ENOMEM, name);
		perf_source_close(s);
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		err->status = EISDIR;
		err->pos = 0;
		snprintf(err->text, sizeof(err->text),
			 "%s: is a directory (perf record --threads): not supported", name);
		perf_source_close(s);
		return NULL;
	}
	at = lseek(fd, 0, SEEK_CUR);
	if (S_ISREG(st.st_mode) && at >= 0) {
		s->seekable = true;
		s->base = (u64)at;
		map_file(s, (u64)st.st_size);
	}
	return s;
}

/**
 * perf_source_open() - open a file, or standard input
 * @path: file name, "-" for standard input
 * @err: why it failed
 *
 * Return: the source, NULL on error.
 */
struct perf_source *perf_source_open(const char *path, struct perf_error *err)
{
	struct perf_source *s;
	int fd;

	if (!strcmp(path, "-"))
		return perf_source_open_fd(STDIN_FILENO, "standard input", err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fail(err, errno, path);
		return NULL;
	}
	s = perf_source_open_fd(fd, path, err);
	if (s)
		s->own_fd = true;
	else
		close(fd);
	return s;
}

/**
 * perf_source_close() - end reading
 * @s: source or NULL
 */
void perf_source_close(struct perf_source *s)
{
	if (!s)
		return;
	image_unmap(s->guard);
	if (s->own_fd)
		close(s->fd);
	free(s->name);
	free(s->buf);
	free(s);
}

/**
 * perf_source_name() - what to call the source in messages
 * @s: source
 *
 * Return: its name.
 */
const char *perf_source_name(const struct perf_source *s)
{
	return s->name;
}

/**
 * perf_source_seekable() - whether perf_source_read_at() and perf_source_seek() work
 * @s: source
 *
 * Return: true for a regular file.
 */
bool perf_source_seekable(const struct perf_source *s)
{
	return s->seekable;
}

/**
 * perf_source_pos() - position of the next byte
 * @s: source
 *
 * Return: bytes from the start of the file or stream.
 */
u64 perf_source_pos(const struct perf_source *s)
{
	return s->pos;
}

static ssize_t read_some(struct perf_source *s, u64 pos, void *to, size_t len)
{
	ssize_t n;

	do {
		if (!s->seekable)
			n = read(s->fd, to, len);
		else if (pos > INT64_MAX - s->base)
			n = 0;		/* past any file's end */
		else
			n = pread(s->fd, to, len, (off_t)(s->base + pos));
	} while (n < 0 && errno == EINTR);
	return n;
}

/* Pages that are far behind: who comes back to them finds them again. */
static void give_up(struct perf_source *s)
{
	u64 to = (s->pos - BEHIND) & ~(BEHIND - 1);

	/* The mapping begins at a page; our position 0 perhaps does not, and is then further on. */
	if (to > s->behind)
		madvise((void *)(uintptr_t)(s->map - s->base + s->behind), to - s->behind, MADV_DONTNEED);
	s->behind = to;
}

/* The pages of what comes next, once for many records. */
static void map_ahead(struct perf_source *s, u64 end)
{
	u64 from = s->base + s->ahead < s->pos ? s->pos : s->ahead;
	u64 to = (end + AHEAD) & ~(AHEAD - 1);

	from &= ~(AHEAD - 1);
	if (to > s->base + s->mapped)
		to = s->base + s->mapped;
	/* What fails here fails again, and is noticed, when the page is touched. */
	madvise((void *)(uintptr_t)(s->map - s->base + from), to - from, MADV_POPULATE_READ);
	s->ahead = to;
}

/**
 * perf_source_stays() - do the next bytes hold until the source is closed, once they are looked at
 * @s: source
 * @len: how many
 *
 * Return: true for those of a mapped file; else they hold until the next call for @s.
 */
bool perf_source_stays(const struct perf_source *s, size_t len)
{
	return s->pos < s->mapped && len <= s->mapped - s->pos;
}

/**
 * perf_source_shrank() - were there zeros in place of a mapped file's bytes
 * @s: source
 *
 * Return: true where a page could no longer be had.
 */
bool perf_source_shrank(const struct perf_source *s)
{
	return image_map_shrank(s->guard);
}

/**
 * perf_source_peek() - look at the next bytes without taking them
 * @s: source
 * @len: how many, at most PERF_ABI_MAX_RECORD
 * @got: how many are there: fewer than @len only at the end
 *
 * Return: the bytes, which hold until the next call for @s, or longer: perf_source_stays(); NULL
 *         if fewer than @len are there or reading failed (then errno is set, else it is 0).
 */
const u8 *perf_source_peek(struct perf_source *s, size_t len, size_t *got)
{
	if (perf_source_stays(s, len)) {
		if (s->pos > s->behind + 3 * BEHIND)
			give_up(s);
		if (s->pos + len > s->ahead)
			map_ahead(s, s->pos + len);
		*got = len;
		return s->map + s->pos;
	}
	if (!s->buf) {
		s->buf = malloc(s->room);
		s->error = s->buf ? 0 : ENOMEM;
		s->eof = !s->buf;
	}
	if (s->len < len && s->head > s->room - len) {
		memmove(s->buf, s->buf + s->head, s->len);
		s->head = 0;
	}
	while (s->len < len && !s->eof) {
		size_t at = s->head + s->len;
		ssize_t n = read_some(s, s->pos + s->len, s->buf + at, s->room - at);

		if (n < 0)
			s->error = errno;
		if (n <= 0)
			s->eof = true;
		else
			s->len += (size_t)n;
	}
	*got = s->len < len ? s->len : len;
	errno = s->len < len ? s->error : 0;
	return s->len < len ? NULL : s->buf + s->head;
}

/* Bytes of a regular file behind our position 0. */
static u64 size_now(const struct perf_source *s)
{
	struct stat st;

	if (fstat(s->fd, &st) || (u64)st.st_size < s->base)
		return 0;
	return (u64)st.st_size - s->base;
}

/**
 * perf_source_skip() - take bytes
 * @s: source
 * @len: how many; may be more than were looked at
 *
 * Return: 0, -ENODATA if there are fewer.
 */
int perf_source_skip(struct perf_source *s, u64 len)
{
	if (perf_source_stays(s, len)) {
		perf_source_seek(s, s->pos + len);
		return 0;
	}
	while (len > s->len) {
		size_t got;

		len -= s->len;
		s->pos += s->len;
		s->head = 0;
		s->len = 0;
		if (s->seekable) {
			if (len > UINT64_MAX - s->pos)
				return -ENODATA;
			s->pos += len;
			return s->pos > size_now(s) ? -ENODATA : 0;
		}
		perf_source_peek(s, len < PERF_ABI_MAX_RECORD ? len : PERF_ABI_MAX_RECORD, &got);
		if (!got)
			return -ENODATA;
	}
	s->head += len;
	s->pos += len;
	s->len -= len;
	return 0;
}

/**
 * perf_source_read_at() - read anywhere in a regular file
 * @s: source that is seekable
 * @pos: position
 * @to: where to
 * @len: bytes
 *
 * Return: 0, -ENODATA past the end, -ESPIPE on a pipe, or a read error.
 */
int perf_source_read_at(struct perf_source *s, u64 pos, void *to, size_t len)
{
	u8 *p = to;

	if (!s->seekable)
		return -ESPIPE;
	while (len) {
		ssize_t n = read_some(s, pos, p, len);

		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		p += n;
		pos += (u64)n;
		len -= (size_t)n;
	}
	return 0;
}

/**
 * perf_source_seek() - go on reading elsewhere
 * @s: source that is seekable
 * @pos: position of the next byte
 */
void perf_source_seek(struct perf_source *s, u64 pos)
{
	s->pos = pos;
	s->head = 0;
	s->len = 0;
	s->eof = false;
	s->error = 0;
}
