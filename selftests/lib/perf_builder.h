/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Builds perf.data files and pipes of either byte order in memory, record by record.
 *
 *	pb_init(&b, big_endian, pipe);
 *	pb_attr(&b, &attr);		once an event: adds its id too
 *	pb_begin_data(&b);
 *	pb_rec(&b, PERF_RECORD_COMM, misc); pb_u32(..); ... pb_end(&b);
 *	pb_end_data(&b);
 *	pb_feature(&b, PERF_ABI_FEAT_ARCH); pb_string(..); pb_feature_end(&b);	(files only)
 *	pb_finish(&b);
 */
#ifndef SELFTESTS_LIB_PERF_BUILDER_H
#define SELFTESTS_LIB_PERF_BUILDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/perf_abi.h"

#define PB_SIZE		(4u << 20)
#define PB_ATTR_SIZE	128
#define PB_MAX_RECORDS	8192
#define PB_MAX_FEATURES	16

/* Flags of an attr, by bit number. */
#define PB_SAMPLE_ID_ALL	(1ull << 18)

struct pb_attr {
	u64 sample_type;
	u64 read_format;
	u64 branch_type;
	u64 regs_user;
	u32 stack_user;
	u64 id;
	bool no_sample_id;	/* without attr.sample_id_all */
};

struct pb {
	bool be;
	bool pipe;
	size_t len;
	size_t rec;		/* where the open record begins */
	size_t data;		/* where the records begin */
	size_t data_end;
	u32 nr_attrs;
	struct pb_attr attrs[8];
	u32 nr_ends;
	size_t ends[PB_MAX_RECORDS];	/* where each record ends .. */
	size_t clean[PB_MAX_RECORDS];	/* .. and the bytes behind it that it announces */
	u32 nr_features;
	struct { u32 bit; size_t pos, size; } features[PB_MAX_FEATURES];
	u8 buf[PB_SIZE];
};

static inline void pb_bytes(struct pb *b, const void *p, size_t len)
{
	if (len > PB_SIZE - b->len)
		abort();
	memcpy(b->buf + b->len, p, len);
	b->len += len;
}

static inline void pb_int_at(struct pb *b, size_t at, u64 n, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		b->buf[at + (b->be ? len - 1 - i : i)] = (u8)(n >> (8 * i));
}

static inline void pb_int(struct pb *b, u64 n, unsigned int len)
{
	if (len > PB_SIZE - b->len)
		abort();
	pb_int_at(b, b->len, n, len);
	b->len += len;
}

static inline void pb_u8(struct pb *b, u8 n) { pb_int(b, n, 1); }
static inline void pb_u16(struct pb *b, u16 n) { pb_int(b, n, 2); }
static inline void pb_u32(struct pb *b, u32 n) { pb_int(b, n, 4); }
static inline void pb_u64(struct pb *b, u64 n) { pb_int(b, n, 8); }

static inline void pb_fill(struct pb *b, u8 byte, size_t len)
{
	while (len--)
		pb_u8(b, byte);
}

/* A name in a record: with its NUL, padded to 8 bytes. */
static inline void pb_name(struct pb *b, const char *s)
{
	pb_bytes(b, s, strlen(s) + 1);
	while ((b->len - b->rec) & 7)
		pb_u8(b, 0);
}

/* A string in a feature. */
static inline void pb_string(struct pb *b, const char *s)
{
	size_t len = (strlen(s) + 64) / 64 * 64;

	pb_u32(b, (u32)len);
	pb_bytes(b, s, strlen(s));
	pb_fill(b, 0, len - strlen(s));
}

static inline void pb_rec(struct pb *b, u32 type, u16 misc)
{
	b->rec = b->len;
	pb_u32(b, type);
	pb_u16(b, misc);
	pb_u16(b, 0);
}

/* Ends the record. */
static inline void pb_end(struct pb *b)
{
	if (b->len - b->rec > 65535 || b->nr_ends == PB_MAX_RECORDS)
		abort();
	pb_int_at(b, b->rec + 6, b->len - b->rec, 2);
	b->clean[b->nr_ends] = b->len;
	b->ends[b->nr_ends++] = b->len;
}

/* Bytes behind a record, which it has announced. */
static inline void pb_behind(struct pb *b, u8 byte, size_t len)
{
	pb_fill(b, byte, len);
	b->clean[b->nr_ends - 1] = b->len;
}

static inline void pb_attr_bytes(struct pb *b, const struct pb_attr *a)
{
	size_t at = b->len;
	u64 flags = a->no_sample_id ? 0 : PB_SAMPLE_ID_ALL;
	u64 word = 0;

	/* Bitfields begin at the top of the word on a big-endian machine. */
	for (int i = 0; i < 64; i++)
		word |= (flags >> i & 1) << (b->be ? 63 - i : i);
	pb_fill(b, 0, PB_ATTR_SIZE);
	pb_int_at(b, at, 1, 4);
	pb_int_at(b, at + 4, PB_ATTR_SIZE, 4);
	pb_int_at(b, at + 16, 997, 8);
	pb_int_at(b, at + 24, a->sample_type, 8);
	pb_int_at(b, at + 32, a->read_format, 8);
	pb_int_at(b, at + 40, word, 8);
	pb_int_at(b, at + 72, a->branch_type, 8);
	pb_int_at(b, at + 80, a->regs_user, 8);
	pb_int_at(b, at + 88, a->stack_user, 4);
}

static inline void pb_init(struct pb *b, bool be, bool pipe)
{
	memset(b, 0, offsetof(struct pb, buf));
	b->be = be;
	b->pipe = pipe;
	pb_u64(b, PERF_ABI_MAGIC);
	pb_u64(b, pipe ? PERF_ABI_PIPE_SIZE : PERF_ABI_HEADER_SIZE);
	if (!pipe)
		pb_fill(b, 0, PERF_ABI_HEADER_SIZE - 16);
}

static inline void pb_attr(struct pb *b, const struct pb_attr *a)
{
	b->attrs[b->nr_attrs++] = *a;
	if (!b->pipe)
		return;
	pb_rec(b, PERF_ABI_HEADER_ATTR, 0);
	pb_attr_bytes(b, a);
	pb_u64(b, a->id);
	pb_end(b);
}

/* In a file: ids, attrs, then the records, as perf does it. */
static inline void pb_begin_data(struct pb *b)
{
	size_t ids = b->len;
	size_t attrs;

	if (b->pipe) {
		b->data = b->len;
		return;
	}
	for (u32 i = 0; i < b->nr_attrs; i++)
		pb_u64(b, b->attrs[i].id);
	attrs = b->len;
	for (u32 i = 0; i < b->nr_attrs; i++) {
		pb_attr_bytes(b, &b->attrs[i]);
		pb_u64(b, ids + i * 8);
		pb_u64(b, 8);
	}
	b->data = b->len;
	pb_int_at(b, 16, PB_ATTR_SIZE + 16, 8);
	pb_int_at(b, 24, attrs, 8);
	pb_int_at(b, 32, b->len - attrs, 8);
	pb_int_at(b, 40, b->data, 8);
}

static inline void pb_end_data(struct pb *b)
{
	b->data_end = b->len;
	if (!b->pipe)
		pb_int_at(b, 48, b->len - b->data, 8);
}

static inline void pb_feature(struct pb *b, u32 bit)
{
	b->features[b->nr_features].bit = bit;
	b->features[b->nr_features].pos = b->len;
}

static inline void pb_feature_end(struct pb *b)
{
	b->features[b->nr_features].size = b->len - b->features[b->nr_features].pos;
	b->nr_features++;
}

/* The features were built behind the records: move them to make room for their table. */
static inline void pb_finish(struct pb *b)
{
	size_t table = (size_t)b->nr_features * 16;
	u64 bits = 0;

	if (b->pipe || !table)
		return;
	memmove(b->buf + b->data_end + table, b->buf + b->data_end, b->len - b->data_end);
	b->len += table;
	for (u32 i = 0; i < b->nr_features; i++) {
		pb_int_at(b, b->data_end + i * 16, b->features[i].pos + table, 8);
		pb_int_at(b, b->data_end + i * 16 + 8, b->features[i].size, 8);
		bits |= 1ull << b->features[i].bit;
	}
	pb_int_at(b, 72, bits, 8);
}

/* A descriptor that reads the first @len bytes: of a file, or of a pipe that has them all. */
static inline int pb_fd(const struct pb *b, size_t len, bool pipe_fd)
{
	int fds[2];
	int fd;

	if (pipe_fd) {
		if (pipe(fds))
			abort();
		/* Any pipe holds a page; more needs a writer of its own. */
		if (len <= 4096) {
			if (len && write(fds[1], b->buf, len) != (ssize_t)len)
				abort();
		} else if (fork() == 0) {
			close(fds[0]);
			for (size_t at = 0; at < len; ) {
				ssize_t n = write(fds[1], b->buf + at, len - at);

				if (n <= 0)
					break;
				at += (size_t)n;
			}
			_exit(0);
		}
		close(fds[1]);
		return fds[0];
	}
	fd = memfd_create("perf.data", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, b->buf, len, 0) != (ssize_t)len)
		abort();
	return fd;
}

#endif /* SELFTESTS_LIB_PERF_BUILDER_H */
