// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A perf.data file or pipe, read record by record with memory that does not grow. */

#include "harness/perf_data.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/perf_buildid.h"
#include "harness/perf_source.h"
#include "harness/perf_unzip.h"

/* What may lie between header and records; perf writes a few kilobytes of events and ids. */
#define MAX_PREFIX	(16u << 20)

struct section {
	u64 pos;
	u64 size;
};

struct perf_data {
	struct perf_source *src;
	struct perf_decode *dec;
	struct perf_buildid *ids;
	struct perf_unzip *zip;
	struct perf_data_info info;
	struct perf_data_stats stats;
	struct perf_error error;
	bool swap;
	bool ended;		/* no more records: the end, or error.status */
	bool outline;		/* of samples that stay only the time is wanted */
	bool zipped;		/* inside the compressed record at the source's position */
	u64 limit;		/* records end here; U64_MAX: where the file ends */
	u64 take;		/* bytes of the record returned last, still to be taken */
	size_t take_plain;	/* the same for one that was compressed */
	u8 *prefix;		/* what precedes the records, where the source cannot seek */
	u64 prefix_size;
};

static u32 order32(const struct perf_data *pd, const void *p)
{
	u32 n;

	memcpy(&n, p, sizeof(n));
	return pd->swap ? __builtin_bswap32(n) : n;
}

static u64 order64(const struct perf_data *pd, const void *p)
{
	u64 n;

	memcpy(&n, p, sizeof(n));
	return pd->swap ? __builtin_bswap64(n) : n;
}

static u16 order16(const struct perf_data *pd, const void *p)
{
	u16 n;

	memcpy(&n, p, sizeof(n));
	return pd->swap ? __builtin_bswap16(n) : n;
}

static void set_error(const struct perf_data *pd, struct perf_error *err, int status, u64 pos,
		      const char *format, va_list ap)
{
	int len;

	err->status = status;
	err->pos = pos;
	len = snprintf(err->text, sizeof(err->text), "%.200s: at 0x%llx: ",
		       perf_source_name(pd->src), (unsigned long long)pos);
	vsnprintf(err->text + len, sizeof(err->text) - (size_t)len, format, ap);
}

/* Ends the reading; always returns -1. */
static int fail(struct perf_data *pd, int status, u64 pos, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(struct perf_data *pd, int status, u64 pos, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_error(pd, &pd->error, status, pos, format, ap);
	va_end(ap);
	pd->ended = true;
	return -1;
}

/* A record that cannot be used: counted, the first is kept for the report. */
static void note_bad(struct perf_data *pd, u64 pos, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void note_bad(struct perf_data *pd, u64 pos, const char *format, ...)
{
	va_list ap;

	if (pd->stats.bad++)
		return;
	va_start(ap, format);
	set_error(pd, &pd->stats.first_bad, EBADMSG, pos, format, ap);
	va_end(ap);
}

static int read_at(struct perf_data *pd, u64 pos, void *to, size_t len)
{
	if (!pd->prefix)
		return perf_source_read_at(pd->src, pos, to, len);
	if (pos > pd->prefix_size || len > pd->prefix_size - pos)
		return -ESPIPE;
	memcpy(to, pd->prefix + pos, len);
	return 0;
}

static int add_attr(struct perf_data *pd, u64 pos, const void *attr, size_t size)
{
	int idx = perf_decode_add_attr(pd->dec, attr, size);

	if (idx == -ENOMEM)
		return fail(pd, ENOMEM, pos, "out of memory");
	if (idx < 0)
		return fail(pd, EBADMSG, pos, "event description: %s",
			    idx == -E2BIG ? "too many of them" : "too short");
	return idx;
}

static int add_ids(struct perf_data *pd, u32 idx, u64 pos, const void *ids, size_t nr)
{
	int rc = perf_decode_add_ids(pd->dec, idx, ids, nr);

	if (rc == -ENOMEM)
		return fail(pd, ENOMEM, pos, "out of memory");
	if (rc)
		return fail(pd, EBADMSG, pos, "too many event ids");
	return 0;
}

/* The ids of one event, in pieces: their number is the file's word. */
static int read_ids(struct perf_data *pd, u32 idx, struct section at)
{
	u64 words[256];

	while (at.size >= 8) {
		size_t len = at.size < sizeof(words) ? at.size / 8 * 8 : sizeof(words);

		if (read_at(pd, at.pos, words, len))
			return fail(pd, EBADMSG, at.pos, "event ids lie outside the file");
		if (add_ids(pd, idx, at.pos, words, len / 8))
			return -1;
		at.pos += len;
		at.size -= len;
	}
	return 0;
}

/* The header's table: each entry is an attr, and where its ids are. */
static int read_attrs(struct perf_data *pd, u64 entry, struct section at)
{
	u8 bytes[1024];
	struct section ids;

	if (entry < 64 + 16 || entry > sizeof(bytes))
		return fail(pd, EBADMSG, 16, "event description of %llu bytes",
			    (unsigned long long)entry);
	if (at.size < entry || at.size % entry)
		return fail(pd, EBADMSG, 24, "event table of %llu bytes",
			    (unsigned long long)at.size);
	for (; at.size; at.pos += entry, at.size -= entry) {
		int idx;

		if (read_at(pd, at.pos, bytes, entry))
			return fail(pd, EBADMSG, at.pos, "event table lies outside the file");
		idx = add_attr(pd, at.pos, bytes, entry - 16);
		if (idx < 0)
			return -1;
		ids.pos = order64(pd, bytes + entry - 16);
		ids.size = order64(pd, bytes + entry - 8);
		if (read_ids(pd, (u32)idx, ids))
			return -1;
	}
	return 0;
}

static void add_build_id(struct perf_data *pd, u64 pos, const u8 *record, size_t size)
{
	int rc = perf_buildid_add(pd->ids, record + 8, size - 8, order16(pd, record + 4));

	if (rc > 0)
		pd->stats.build_ids++;
	else if (rc == -EINVAL)
		note_bad(pd, pos, "damaged build-id entry");
	else if (rc < 0)
		pd->stats.build_ids_dropped++;
}

static bool read_build_ids(struct perf_data *pd, struct section at)
{
	u8 bytes[8 + 4 + 24 + 4096 + 8];	/* header, pid, id, path, padding */

	while (at.size >= 8) {
		u32 size;

		if (perf_source_read_at(pd->src, at.pos, bytes, 8))
			return false;
		size = order16(pd, bytes + 6);
		if (size < 8 || size > at.size || size > sizeof(bytes))
			return false;
		if (perf_source_read_at(pd->src, at.pos, bytes, size))
			return false;
		add_build_id(pd, at.pos, bytes, size);
		at.pos += size;
		at.size -= size;
	}
	return true;
}

/* u32 length, text with a NUL in it (header.c: do_write_string()). */
static bool take_string(struct perf_data *pd, char *to, size_t room, const u8 *p, size_t size)
{
	u32 len;

	if (size < 4)
		return false;
	len = order32(pd, p);
	if (len > size - 4)
		return false;
	snprintf(to, room, "%.*s", (int)len, (const char *)p + 4);
	return true;
}

/* One feature's bytes; returns false if it is damaged. Build-ids come as a table elsewhere. */
static bool take_feature(struct perf_data *pd, u64 feature, const u8 *p, size_t size)
{
	struct perf_data_info *info = &pd->info;
	bool ok;

	switch (feature) {
	case PERF_ABI_FEAT_ARCH:
		ok = take_string(pd, info->arch, sizeof(info->arch), p, size);
		break;
	case PERF_ABI_FEAT_HOSTNAME:
		ok = take_string(pd, info->hostname, sizeof(info->hostname), p, size);
		break;
	case PERF_ABI_FEAT_OSRELEASE:
		ok = take_string(pd, info->osrelease, sizeof(info->osrelease), p, size);
		break;
	case PERF_ABI_FEAT_VERSION:
		ok = take_string(pd, info->version, sizeof(info->version), p, size);
		break;
	default:
		pd->stats.features_skipped++;
		return true;
	}
	pd->stats.features += ok;
	return ok;
}

static void read_feature(struct perf_data *pd, u32 feature, struct section at)
{
	u8 bytes[512];
	size_t len = at.size < sizeof(bytes) ? at.size : sizeof(bytes);

	if (feature == PERF_ABI_FEAT_BUILD_ID) {
		if (read_build_ids(pd, at))
			pd->stats.features++;
		else
			pd->stats.features_unread++;
		return;
	}
	if (perf_source_read_at(pd->src, at.pos, bytes, len) ||
	    !take_feature(pd, feature, bytes, len))
		pd->stats.features_unread++;
}

/*
 * The features lie behind the records, in the order of their bits. A table that is cut off or
 * damaged costs names and build-ids, never records: counted, not an error.
 */
static void read_features(struct perf_data *pd, const u64 bitmap[4], u64 pos)
{
	for (u32 i = 0; i < PERF_ABI_NR_FEATURES; i++) {
		u8 bytes[16];

		if (!(bitmap[i / 64] >> (i % 64) & 1))
			continue;
		if (perf_source_read_at(pd->src, pos, bytes, sizeof(bytes))) {
			pd->stats.features_unread++;
			continue;
		}
		read_feature(pd, i, (struct section){ order64(pd, bytes),
						      order64(pd, bytes + 8) });
		pos += sizeof(bytes);
	}
}

/*
 * The bitmap is an array of the writer's unsigned long: on a 32-bit big-endian machine the
 * halves of each u64 are exchanged. perf always writes HOSTNAME: use it to tell.
 */
static void order_bitmap(const struct perf_data *pd, u64 to[4], const u8 *from)
{
	for (int i = 0; i < 4; i++)
		to[i] = order64(pd, from + i * 8);
	if (!pd->info.big_endian || to[0] >> PERF_ABI_FEAT_HOSTNAME & 1)
		return;
	if (!(to[0] >> (32 + PERF_ABI_FEAT_HOSTNAME) & 1))
		return;
	for (int i = 0; i < 4; i++)
		to[i] = to[i] << 32 | to[i] >> 32;
}

/* Keep what precedes the records: a pipe gives it once. */
static int keep_prefix(struct perf_data *pd, u64 size)
{
	u64 at = 0;

	if (size > MAX_PREFIX)
		return fail(pd, EBADMSG, 40, "records begin only at 0x%llx, behind a pipe",
			    (unsigned long long)size);
	pd->prefix = malloc(size);
	if (!pd->prefix)
		return fail(pd, ENOMEM, 0, "out of memory");
	pd->prefix_size = size;
	while (at < size) {
		size_t want = size - at < PERF_ABI_MAX_RECORD ? size - at : PERF_ABI_MAX_RECORD;
		size_t got;
		const u8 *p = perf_source_peek(pd->src, want, &got);

		if (!p)
			return fail(pd, errno ? errno : EBADMSG, at, "ends before its records");
		memcpy(pd->prefix + at, p, want);
		perf_source_skip(pd->src, want);
		at += want;
	}
	return 0;
}

static int open_file(struct perf_data *pd, const u8 *header)
{
	u64 entry = order64(pd, header + 16);
	struct section attrs = { order64(pd, header + 24), order64(pd, header + 32) };
	struct section data = { order64(pd, header + 40), order64(pd, header + 48) };
	u64 bitmap[4];
	int rc;

	order_bitmap(pd, bitmap, header + 72);
	if (data.pos < PERF_ABI_HEADER_SIZE || data.size > UINT64_MAX - data.pos)
		return fail(pd, EBADMSG, 40, "records at 0x%llx, %llu bytes",
			    (unsigned long long)data.pos, (unsigned long long)data.size);
	if (!perf_source_seekable(pd->src) && keep_prefix(pd, data.pos))
		return -1;
	rc = read_attrs(pd, entry, attrs);
	free(pd->prefix);
	pd->prefix = NULL;
	if (rc)
		return -1;

	/* perf record fills the size in when it ends. */
	pd->info.interrupted = !data.size;
	pd->limit = data.size ? data.pos + data.size : UINT64_MAX;
	if (perf_source_seekable(pd->src)) {
		if (!pd->info.interrupted)
			read_features(pd, bitmap, pd->limit);
		perf_source_seek(pd->src, data.pos);
	} else {
		for (int i = 0; i < 4; i++)
			pd->stats.features_unread += (u32)__builtin_popcountll(bitmap[i]);
	}
	return 0;
}

static int read_header(struct perf_data *pd)
{
	const u64 swapped = __builtin_bswap64(PERF_ABI_MAGIC);
	size_t got;
	const u8 *p = perf_source_peek(pd->src, PERF_ABI_PIPE_SIZE, &got);
	u64 magic;
	u64 size;

	if (!p && errno)
		return fail(pd, errno, 0, "%s", strerror(errno));
	if (!p)
		return fail(pd, EBADMSG, 0, got ? "too short for a perf.data file" : "empty file");
	memcpy(&magic, p, sizeof(magic));
	if (!memcmp(p, "PERFFILE", 8))
		return fail(pd, ENOTSUP, 0, "perf.data of the first version (before Linux 2.6.37)");
	if (magic != PERF_ABI_MAGIC && magic != swapped)
		return fail(pd, EBADMSG, 0, "not a perf.data file");
	/* "2ELIFREP" in the file is the magic number of a big-endian machine. */
	pd->info.big_endian = p[0] == '2';
	pd->swap = magic == swapped;
	pd->dec = perf_decode_new(pd->info.big_endian);
	if (!pd->dec)
		return fail(pd, ENOMEM, 0, "out of memory");

	size = order64(pd, p + 8);
	if (size == PERF_ABI_PIPE_SIZE) {
		pd->info.pipe = true;
		pd->limit = UINT64_MAX;
		perf_source_skip(pd->src, PERF_ABI_PIPE_SIZE);
		return 0;
	}
	if (size != PERF_ABI_HEADER_SIZE)
		return fail(pd, EBADMSG, 8, "header of %llu bytes", (unsigned long long)size);
	p = perf_source_peek(pd->src, PERF_ABI_HEADER_SIZE, &got);
	if (!p)
		return fail(pd, errno ? errno : EBADMSG, got, "ends inside its header");
	return open_file(pd, memcpy((u8[PERF_ABI_HEADER_SIZE]){ 0 }, p, PERF_ABI_HEADER_SIZE));
}

static struct perf_data *open_source(struct perf_source *src, struct perf_error *err)
{
	struct perf_data *pd = calloc(1, sizeof(*pd));

	if (pd)
		pd->ids = perf_buildid_new();
	if (!pd || !pd->ids) {
		*err = (struct perf_error){ .status = ENOMEM, .text = "out of memory" };
		perf_source_close(src);
		free(pd);
		return NULL;
	}
	pd->src = src;
	if (read_header(pd)) {
		*err = pd->error;
		perf_data_close(pd);
		return NULL;
	}
	return pd;
}

/**
 * perf_data_open() - open a perf.data file
 * @path: file name, "-" for standard input; may be a pipe, in file or pipe format
 * @err: why it failed, with the position
 *
 * Reads the header, the events and, where the file can seek, the features.
 *
 * Return: the reader, NULL on error: EBADMSG for damaged or other files, ENOTSUP, or errno.
 */
struct perf_data *perf_data_open(const char *path, struct perf_error *err)
{
	struct perf_source *src = perf_source_open(path, err);

	return src ? open_source(src, err) : NULL;
}

/**
 * perf_data_open_fd() - the same from an open descriptor
 * @fd: descriptor, stays the caller's; read from its present position
 * @name: for messages
 * @err: why it failed
 *
 * Return: as perf_data_open().
 */
struct perf_data *perf_data_open_fd(int fd, const char *name, struct perf_error *err)
{
	struct perf_source *src = perf_source_open_fd(fd, name, err);

	return src ? open_source(src, err) : NULL;
}

/**
 * perf_data_close() - end reading
 * @pd: reader or NULL
 */
void perf_data_close(struct perf_data *pd)
{
	if (!pd)
		return;
	perf_unzip_free(pd->zip);
	perf_buildid_free(pd->ids);
	perf_decode_free(pd->dec);
	perf_source_close(pd->src);
	free(pd->prefix);
	free(pd);
}

static void count(struct perf_data *pd, u32 type)
{
	pd->stats.records++;
	if (type < PERF_DATA_NR_TYPES)
		pd->stats.by_type[type]++;
	else
		pd->stats.unknown_types++;
}

/* HEADER_ATTR of a pipe: the attr, as long as it says itself, then ids to the end. */
static int take_attr(struct perf_data *pd, u64 pos, const u8 *p, size_t size)
{
	u32 len;
	int idx;

	if (size < 8 + 64)
		return fail(pd, EBADMSG, pos, "event description of %zu bytes", size);
	len = order32(pd, p + 8 + 4);
	if (!len)
		len = 64;
	if (len > size - 8)
		return fail(pd, EBADMSG, pos, "event description longer than its record");
	idx = add_attr(pd, pos, p + 8, len);
	if (idx < 0)
		return -1;
	return add_ids(pd, (u32)idx, pos, p + 8 + len, (size - 8 - len) / 8);
}

/* What perf itself puts between the kernel's records. Returns -1 on a fatal error. */
static int take_header_record(struct perf_data *pd, u32 type, u64 pos, const u8 *p, size_t size)
{
	switch (type) {
	case PERF_ABI_HEADER_ATTR:
		return take_attr(pd, pos, p, size);
	case PERF_ABI_HEADER_BUILD_ID:
		add_build_id(pd, pos, p, size);
		return 0;
	case PERF_ABI_HEADER_FEATURE:
		if (size < 16 || !take_feature(pd, order64(pd, p + 8), p + 16, size - 16))
			note_bad(pd, pos, "damaged feature");
		return 0;
	default:
		pd->stats.skipped++;
		return 0;
	}
}

/* 1: @out is filled; 0: go on with the next; -1: fatal. */
static int take_record(struct perf_data *pd, u64 pos, const u8 *p, size_t size,
		       struct perf_event_rec *out)
{
	u32 type = order32(pd, p);
	const char *why;
	int rc;

	bool stays = !pd->zipped && perf_source_stays(pd->src, size);

	count(pd, type);
	if (type >= PERF_ABI_HEADER_ATTR && type != PERF_ABI_FINISHED_ROUND)
		return take_header_record(pd, type, pos, p, size);
	if (pd->outline && stays && perf_decode_outline(pd->dec, p, size, pos, out)) {
		out->stays = true;
		/* Samples are far apart and mostly of one size: one of the next is fetched already. */
		ehf_prefetch(p + 4 * size);
		return 1;
	}
	rc = perf_decode_record(pd->dec, p, size, pos, out, &why);
	out->stays = stays;
	if (rc < 0)
		note_bad(pd, pos, "type %u, %zu bytes: %s", type, size, why);
	else if (!rc)
		pd->stats.skipped++;
	if (rc > 0 && type == PERF_RECORD_LOST)
		pd->stats.lost += out->lost.nr;
	if (rc > 0 && type == PERF_RECORD_LOST_SAMPLES)
		pd->stats.lost_samples += out->lost.nr;
	return rc > 0;
}

/* The next record of the compressed stream; 0: the compressed record is used up. */
static int next_plain(struct perf_data *pd, struct perf_event_rec *out)
{
	u64 pos = perf_source_pos(pd->src);

	for (;;) {
		size_t len;
		const u8 *p;
		const char *why;
		u16 size;
		int rc;

		perf_unzip_take(pd->zip, pd->take_plain);
		pd->take_plain = 0;
		p = perf_unzip_peek(pd->zip, &len);
		size = len >= 8 ? order16(pd, p + 6) : 8;
		if (size < 8)
			return fail(pd, EBADMSG, pos, "compressed record of %u bytes", size);
		if (size > len) {
			rc = perf_unzip_more(pd->zip, &why);
			if (rc < 0)
				return fail(pd, EBADMSG, pos, "zstd: %s", why);
			if (!rc)
				return 0;
			pd->stats.plain_bytes += (u64)rc;
			continue;
		}
		pd->take_plain = size;
		switch (order32(pd, p)) {
		case PERF_ABI_COMPRESSED:
		case PERF_ABI_COMPRESSED2:
		case PERF_ABI_AUXTRACE:
		case PERF_ABI_HEADER_TRACING_DATA:
			return fail(pd, EBADMSG, pos, "type %u inside a compressed record",
				    order32(pd, p));
		}
		rc = take_record(pd, pos, p, size, out);
		if (rc)
			return rc;
	}
}

static int begin_zipped(struct perf_data *pd, u64 pos, const u8 *p, size_t size)
{
	size_t skip = 8;
	u64 len = size - 8;

	if (order32(pd, p) == PERF_ABI_COMPRESSED2) {
		if (size < 16 || order64(pd, p + 8) > size - 16)
			return fail(pd, EBADMSG, pos, "compressed record of %zu bytes", size);
		skip = 16;
		len = order64(pd, p + 8);
	}
	if (!pd->zip)
		pd->zip = perf_unzip_new();
	if (!pd->zip)
		return fail(pd, ENOMEM, pos, "out of memory");
	pd->info.compressed = true;
	pd->stats.compressed_bytes += len;
	perf_unzip_feed(pd->zip, p + skip, len);
	pd->zipped = true;
	return 0;
}

/* Some record types announce bytes that follow them and are no records. */
static int bytes_behind(struct perf_data *pd, u64 pos, const u8 *p, size_t size, u64 *behind)
{
	u32 type = order32(pd, p);

	*behind = 0;
	if (type == PERF_ABI_AUXTRACE) {
		if (size < 16)
			return fail(pd, EBADMSG, pos, "AUX record of %zu bytes", size);
		*behind = order64(pd, p + 8);
	} else if (type == PERF_ABI_HEADER_TRACING_DATA) {
		if (size < 12)
			return fail(pd, EBADMSG, pos, "tracing record of %zu bytes", size);
		*behind = ((u64)order32(pd, p + 8) + 7) & ~7ull;
	}
	if (*behind > pd->limit - pos - size)
		return fail(pd, EBADMSG, pos, "%llu bytes behind type %u pass the end",
			    (unsigned long long)*behind, type);
	return 0;
}

/* The end of the file, where records or the rest of one should be. */
static int end_early(struct perf_data *pd, u64 pos, size_t got, const char *what)
{
	if (errno)
		return fail(pd, errno, pos, "%s", strerror(errno));
	if (pd->info.interrupted) {
		pd->stats.tail = got;
		pd->ended = true;
		return 0;
	}
	return fail(pd, EBADMSG, pos, "%s cut off by the end of the file", what);
}

static int end_of_data(struct perf_data *pd, u64 pos)
{
	size_t len = 0;

	pd->ended = true;
	if (pd->zip)
		perf_unzip_peek(pd->zip, &len);
	if (!len)
		return 0;
	errno = 0;
	return end_early(pd, pos, len, "a compressed record is");
}

static int shrank(struct perf_data *pd)
{
	return fail(pd, EBADMSG, perf_source_pos(pd->src),
		    "bytes were gone when they were to be read: the file shrank, or cannot be read");
}

/* The next record as the file has it; 1, 0 at the end, -1. */
static int next_record(struct perf_data *pd, struct perf_event_rec *out)
{
	while (!pd->ended) {
		u64 left;
		u64 pos;
		u64 behind;
		size_t got;
		const u8 *p;
		u16 size;
		int rc;

		if (pd->zipped) {
			rc = next_plain(pd, out);
			if (rc)
				return rc;
			pd->zipped = false;
		}
		if (perf_source_skip(pd->src, pd->take))
			return fail(pd, EBADMSG, perf_source_pos(pd->src), "cut off");
		pd->take = 0;
		pos = perf_source_pos(pd->src);
		if (perf_source_shrank(pd->src))
			return shrank(pd);
		left = pd->limit - pos;
		if (!left)
			return end_of_data(pd, pos);
		p = perf_source_peek(pd->src, left < 8 ? left : 8, &got);
		if (!p && !got && !errno && pd->limit == UINT64_MAX)
			return end_of_data(pd, pos);
		if (!p)
			return end_early(pd, pos, got, "the records are");
		if (left < 8)
			return fail(pd, EBADMSG, pos, "%llu bytes behind the last record",
				    (unsigned long long)left);
		size = order16(pd, p + 6);
		if (size < 8 || size > left)
			return fail(pd, EBADMSG, pos, "record of %u bytes, %llu are left", size,
				    (unsigned long long)left);
		p = perf_source_peek(pd->src, size, &got);
		if (!p)
			return end_early(pd, pos, got, "a record is");

		if (bytes_behind(pd, pos, p, size, &behind))
			return -1;
		pd->take = size + behind;
		switch (order32(pd, p)) {
		case PERF_ABI_COMPRESSED:
		case PERF_ABI_COMPRESSED2:
			count(pd, order32(pd, p));
			if (begin_zipped(pd, pos, p, size))
				return -1;
			continue;
		}
		rc = take_record(pd, pos, p, size, out);
		if (rc)
			return rc;
	}
	if (!pd->error.status && perf_source_shrank(pd->src))
		return shrank(pd);
	return pd->error.status ? -1 : 0;
}

/**
 * perf_data_next() - read the next record
 * @pd: reader
 * @out: the record; its pointers hold until the next call
 *
 * Records come in the order of the file, which is by time only within one CPU: see
 * perf_order. Types without a member in struct perf_event_rec are counted and passed over;
 * so are records whose fields contradict each other.
 *
 * Return: 1 with a record, 0 at the end, -1 on error (perf_data_error()), after which no
 *         more records come: all whole records before the damage have been returned.
 */
int perf_data_next(struct perf_data *pd, struct perf_event_rec *out)
{
	int rc = next_record(pd, out);

	pd->stats.unknown_ids = perf_decode_unknown_ids(pd->dec);
	return rc;
}

/**
 * perf_data_next_outline() - the same for who puts samples in order before he looks at them
 * @pd: reader
 * @out: the record; where it is a sample that stays, as perf_decode_outline() left it
 *
 * Who decodes it later tells perf_data_bad() where that fails.
 *
 * Return: as perf_data_next().
 */
int perf_data_next_outline(struct perf_data *pd, struct perf_event_rec *out)
{
	int rc;

	pd->outline = true;
	rc = perf_data_next(pd, out);
	pd->outline = false;
	return rc;
}

/**
 * perf_data_bad() - a sample turned out to contradict itself
 * @pd: reader
 * @size: of the record
 * @pos: where it is
 * @why: what is wrong with it
 */
void perf_data_bad(struct perf_data *pd, size_t size, u64 pos, const char *why)
{
	note_bad(pd, pos, "type %u, %zu bytes: %s", PERF_RECORD_SAMPLE, size, why);
}

/**
 * perf_data_error() - why reading ended
 * @pd: reader
 *
 * Return: the error; its status is 0 if there was none.
 */
const struct perf_error *perf_data_error(const struct perf_data *pd)
{
	return &pd->error;
}

/**
 * perf_data_info() - what the file says about itself
 * @pd: reader
 *
 * Return: the information; a pipe completes it with its first records.
 */
const struct perf_data_info *perf_data_info(const struct perf_data *pd)
{
	return &pd->info;
}

/**
 * perf_data_stats() - what was read so far
 * @pd: reader
 *
 * Return: the counters.
 */
const struct perf_data_stats *perf_data_stats(const struct perf_data *pd)
{
	return &pd->stats;
}

/**
 * perf_data_decoder() - the decoder with the file's events
 * @pd: reader
 *
 * Return: the decoder, which lives as long as the reader.
 */
struct perf_decode *perf_data_decoder(struct perf_data *pd)
{
	return pd->dec;
}

/**
 * perf_data_build_id() - build-id of a path, from the file's table
 * @pd: reader
 * @path: as a mapping record names it
 * @size: bytes of the id
 *
 * A mapping record's own build-id is better: it is the mapping's, not the path's.
 *
 * Return: the id, NULL if the file has none for @path (yet, with a pipe).
 */
const u8 *perf_data_build_id(const struct perf_data *pd, const char *path, u32 *size)
{
	return perf_buildid_find(pd->ids, path, size);
}
