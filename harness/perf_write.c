// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A perf.data file, written as the records come.
 *
 * Records fill buffers, whole records only; full buffers are written by io_uring while others
 * fill. The header's data size covers what is on disk without a gap and ends with a whole
 * record, and is brought up to date while the capture runs: the file can be read whatever
 * happens to the writer.
 */

#define _GNU_SOURCE
#include "harness/perf_write.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define NR_BUFFERS	16u
#define BUFFER		(8u * PERF_ABI_MAX_RECORD)

/*
 * Records leave for the disk after this long at the latest; the header's size counts them
 * the next time.
 */
#define FLUSH_MS	250

/* Strings in features are padded to this (perf: NAME_ALIGN). */
#define STRING_ALIGN	64

struct buffer {
	u8 *bytes;
	size_t len;
	size_t written;
	u64 pos;
	bool busy;		/* with the kernel */
};

struct perf_write {
	int fd;
	char *name;
	struct io_uring ring;
	bool io_uring;
	int refused;		/* errno of io_uring_setup() */
	struct buffer buf[NR_BUFFERS];
	u32 fill;		/* the buffer that records go to */
	u32 oldest;		/* the first that is with the kernel, or fill */
	u64 pos;		/* where the buffer that fills will go */
	u64 done;		/* whole records are on disk up to here */
	u64 told;		/* the header says so up to here */
	u64 told_ms;
	struct perf_error error;	/* first failure, kept */
	struct perf_event_attr attr;
	u64 *ids;
	u32 nr_ids;
	u64 data;		/* where the records begin; 0: not begun */
	u64 first_time;
	u64 last_time;
};

static int fail(struct perf_write *w, int status, u64 pos)
{
	if (!w->error.status) {
		w->error.status = status;
		w->error.pos = pos;
		snprintf(w->error.text, sizeof(w->error.text), "%.200s: at 0x%llx: %s", w->name,
			 (unsigned long long)pos, strerror(status));
	}
	return -w->error.status;
}

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

static int write_at(struct perf_write *w, u64 pos, const void *from, size_t len)
{
	const u8 *p = from;

	while (len) {
		ssize_t n = pwrite(w->fd, p, len, (off_t)pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -(n ? errno : ENOSPC);
		p += n;
		pos += (u64)n;
		len -= (size_t)n;
	}
	return 0;
}

static void free_all(struct perf_write *w)
{
	if (w->io_uring)
		io_uring_queue_exit(&w->ring);
	for (u32 i = 0; i < NR_BUFFERS; i++)
		free(w->buf[i].bytes);
	if (w->fd >= 0)
		close(w->fd);
	free(w->ids);
	free(w->name);
	free(w);
}

/**
 * perf_write_open() - create the file
 * @path: its name; an existing file is emptied
 * @io_uring: try io_uring; else pwrite() at once
 * @err: why it failed
 *
 * Return: the writer, NULL on error.
 */
struct perf_write *perf_write_open(const char *path, bool io_uring, struct perf_error *err)
{
	struct perf_write *w = calloc(1, sizeof(*w));
	bool memory = w;

	*err = (struct perf_error){ .status = ENOMEM, .text = "out of memory" };
	if (!w)
		return NULL;
	w->fd = -1;
	w->name = strdup(path);
	memory = w->name;
	for (u32 i = 0; i < NR_BUFFERS; i++) {
		w->buf[i].bytes = malloc(BUFFER);
		memory = memory && w->buf[i].bytes;
	}
	if (!memory) {
		free_all(w);
		return NULL;
	}
	w->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (w->fd < 0) {
		err->status = errno;
		snprintf(err->text, sizeof(err->text), "%.250s: %s", path, strerror(errno));
		free_all(w);
		return NULL;
	}
	if (io_uring) {
		w->refused = -io_uring_queue_init(NR_BUFFERS, &w->ring, 0);
		w->io_uring = !w->refused;
	}
	*err = (struct perf_error){ 0 };
	return w;
}

/**
 * perf_write_refused() - why io_uring is not used though it was asked for
 * @w: writer
 *
 * Return: errno, 0 if it was not refused.
 */
int perf_write_refused(const struct perf_write *w)
{
	return w->refused;
}

/* Offsets: struct perf_file_header of tools/perf/util/header.h. */
static void fill_header(const struct perf_write *w, u64 header[13], u64 features)
{
	const u64 attr_size = sizeof(w->attr) + 16;

	memset(header, 0, PERF_ABI_HEADER_SIZE);
	header[0] = PERF_ABI_MAGIC;
	header[1] = PERF_ABI_HEADER_SIZE;
	header[2] = attr_size;
	header[3] = w->data - attr_size;	/* the only attr is just before the records */
	header[4] = attr_size;
	header[5] = w->data;
	header[6] = w->done - w->data;
	header[9] = features;
}

/**
 * perf_write_begin() - write what precedes the records
 * @w: writer
 * @attr: the event
 * @ids: ids of its instances
 * @nr_ids: their number
 *
 * Return: 0 or a negative errno.
 */
int perf_write_begin(struct perf_write *w, const struct perf_event_attr *attr, const u64 *ids,
		     u32 nr_ids)
{
	u64 header[13];
	u64 where[2] = { PERF_ABI_HEADER_SIZE, (u64)nr_ids * 8 };
	u64 pos = PERF_ABI_HEADER_SIZE + where[1];
	int rc;

	w->ids = malloc(nr_ids * sizeof(*ids));
	if (!w->ids)
		return fail(w, ENOMEM, 0);
	memcpy(w->ids, ids, nr_ids * sizeof(*ids));
	w->nr_ids = nr_ids;
	w->attr = *attr;
	w->data = pos + sizeof(*attr) + sizeof(where);
	w->pos = w->data;
	w->done = w->data;
	w->told = w->data;
	w->told_ms = now_ms();

	fill_header(w, header, 0);
	rc = write_at(w, 0, header, sizeof(header));
	if (!rc)
		rc = write_at(w, where[0], ids, where[1]);
	if (!rc)
		rc = write_at(w, pos, attr, sizeof(*attr));
	if (!rc)
		rc = write_at(w, pos + sizeof(*attr), where, sizeof(where));
	return rc ? fail(w, -rc, 0) : 0;
}

/* Bytes of whole records among the first @len of a buffer. */
static size_t whole_records(const struct buffer *b, size_t len)
{
	size_t at = 0;

	while (len - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		memcpy(&h, b->bytes + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > len - at)
			break;
		at += h.size;
	}
	return at;
}

/* The buffer is as much on disk as it will ever be; buffers end in the order they began. */
static void retire_oldest(struct perf_write *w)
{
	while (w->oldest != w->fill && !w->buf[w->oldest].busy) {
		struct buffer *b = &w->buf[w->oldest];

		/* Behind a gap nothing counts. */
		if (w->done == b->pos)
			w->done += whole_records(b, b->written);
		b->len = 0;
		b->written = 0;
		w->oldest = (w->oldest + 1) % NR_BUFFERS;
	}
}

static void submit_write(struct perf_write *w, u32 i)
{
	struct buffer *b = &w->buf[i];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&w->ring);
	int rc = -EBUSY;

	if (sqe) {
		io_uring_prep_write(sqe, w->fd, b->bytes + b->written,
				    (unsigned int)(b->len - b->written), b->pos + b->written);
		io_uring_sqe_set_data64(sqe, i);
		rc = io_uring_submit(&w->ring);
	}
	b->busy = rc >= 0;
	if (rc < 0)
		fail(w, -rc, b->pos);
}

/* Take one completion; a short write goes on where it stopped. */
static int complete(struct perf_write *w, bool wait)
{
	struct io_uring_cqe *cqe;
	struct buffer *b;
	u32 i;
	int res;
	int rc;

	if (wait) {
		do {
			rc = io_uring_wait_cqe(&w->ring, &cqe);
		} while (rc == -EINTR);
	} else {
		rc = io_uring_peek_cqe(&w->ring, &cqe);
	}
	if (rc)
		return rc;
	i = (u32)io_uring_cqe_get_data64(cqe);
	res = cqe->res;
	io_uring_cqe_seen(&w->ring, cqe);

	b = &w->buf[i];
	b->busy = false;
	if (res > 0)
		b->written += (size_t)res;
	if (res == 0)
		fail(w, ENOSPC, b->pos + b->written);
	else if (res < 0 && res != -EINTR && res != -EAGAIN)
		fail(w, -res, b->pos + b->written);
	else if (b->written < b->len)
		submit_write(w, i);
	return 0;
}

static void write_buffer(struct perf_write *w, u32 i)
{
	struct buffer *b = &w->buf[i];

	if (w->io_uring) {
		submit_write(w, i);
		return;
	}
	while (b->written < b->len) {
		ssize_t n = pwrite(w->fd, b->bytes + b->written, b->len - b->written,
				   (off_t)(b->pos + b->written));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail(w, n ? errno : ENOSPC, b->pos + b->written);
			return;
		}
		b->written += (size_t)n;
	}
}

/* Hand the filling buffer to the kernel and find an empty one. */
static int flush(struct perf_write *w)
{
	struct buffer *b = &w->buf[w->fill];

	if (!b->len || w->error.status)
		return -w->error.status;
	b->pos = w->pos;
	w->pos += b->len;
	write_buffer(w, w->fill);
	w->fill = (w->fill + 1) % NR_BUFFERS;

	while (w->io_uring && !complete(w, false))
		;
	retire_oldest(w);
	/* One buffer stays free, or full and empty would look alike. */
	while ((w->fill + 1) % NR_BUFFERS == w->oldest) {
		int rc = complete(w, true);

		if (rc)
			return fail(w, -rc, w->pos);
		retire_oldest(w);
	}
	return -w->error.status;
}

/* The size in the header follows what is on disk. */
static void tell(struct perf_write *w)
{
	u64 size = w->done - w->data;

	if (w->told != w->done && !write_at(w, 6 * sizeof(u64), &size, sizeof(size)))
		w->told = w->done;
}

static void note_time(struct perf_write *w, const u8 *record, size_t size)
{
	u64 t = w->attr.sample_type;
	size_t at = 8 + 8 * (size_t)(!!(t & PERF_SAMPLE_IDENTIFIER) + !!(t & PERF_SAMPLE_IP) +
				     !!(t & PERF_SAMPLE_TID));
	u64 time;

	if (!(t & PERF_SAMPLE_TIME) || size < at + 8)
		return;
	memcpy(&time, record + at, sizeof(time));
	if (!w->first_time || time < w->first_time)
		w->first_time = time;
	if (time > w->last_time)
		w->last_time = time;
}

/**
 * perf_write_record() - add a record
 * @w: writer, begun
 * @record: the record
 * @size: its bytes, as its header says; at most PERF_ABI_MAX_RECORD
 *
 * Return: 0, or the negative errno of the first write that failed (maybe an earlier record's).
 */
int perf_write_record(struct perf_write *w, const void *record, size_t size)
{
	struct perf_event_header h;

	if (w->error.status)
		return -w->error.status;
	if (size > BUFFER - w->buf[w->fill].len && flush(w))
		return -w->error.status;
	memcpy(&h, record, sizeof(h));
	if (h.type == PERF_RECORD_SAMPLE)
		note_time(w, record, size);
	memcpy(w->buf[w->fill].bytes + w->buf[w->fill].len, record, size);
	w->buf[w->fill].len += size;
	return 0;
}

/**
 * perf_write_round() - all rings have been read once more
 * @w: writer, begun
 *
 * Tells readers how far they can put the records in order, and sees to it that what was
 * captured reaches the disk soon.
 *
 * Return: as perf_write_record().
 */
int perf_write_round(struct perf_write *w)
{
	const struct perf_event_header round = {
		.type = PERF_ABI_FINISHED_ROUND,
		.size = sizeof(round),
	};
	int rc = perf_write_record(w, &round, sizeof(round));

	if (rc || now_ms() - w->told_ms < FLUSH_MS)
		return rc;
	rc = flush(w);
	tell(w);
	w->told_ms = now_ms();
	return rc;
}

/* Features: a growing piece of memory. */
struct text {
	u8 *bytes;
	size_t len;
	bool failed;
};

static void add(struct text *t, const void *from, size_t len)
{
	u8 *more = realloc(t->bytes, t->len + len + 1);

	if (!more) {
		t->failed = true;
		return;
	}
	t->bytes = more;
	memcpy(t->bytes + t->len, from, len);
	t->len += len;
}

static void add32(struct text *t, u32 n)
{
	add(t, &n, sizeof(n));
}

static void add_string(struct text *t, const char *s)
{
	static const u8 zeros[STRING_ALIGN];
	size_t len = strlen(s) + 1;
	size_t padded = (len + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

	add32(t, (u32)padded);
	add(t, s, len);
	add(t, zeros, padded - len);
}

static void add_event(const struct perf_write *w, struct text *t)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s",
		 w->attr.type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock",
		 w->attr.exclude_kernel ? ":u" : "");
	add32(t, 1);
	add32(t, sizeof(w->attr));
	add(t, &w->attr, sizeof(w->attr));
	add32(t, w->nr_ids);
	add_string(t, name);
	add(t, w->ids, w->nr_ids * sizeof(*w->ids));
}

static void add_command(struct text *t, char *const argv[])
{
	u32 nr = 0;

	while (argv[nr])
		nr++;
	add32(t, nr);
	for (u32 i = 0; i < nr; i++)
		add_string(t, argv[i]);
}

static void add_feature(const struct perf_write *w, u32 feature, struct text *t,
			const struct utsname *un, const char *version, char *const argv[])
{
	u64 times[2] = { w->first_time, w->last_time };

	switch (feature) {
	case PERF_ABI_FEAT_HOSTNAME:
		add_string(t, un->nodename);
		break;
	case PERF_ABI_FEAT_OSRELEASE:
		add_string(t, un->release);
		break;
	case PERF_ABI_FEAT_VERSION:
		add_string(t, version);
		break;
	case PERF_ABI_FEAT_ARCH:
		add_string(t, un->machine);
		break;
	case PERF_ABI_FEAT_NRCPUS:
		add32(t, (u32)sysconf(_SC_NPROCESSORS_CONF));
		add32(t, (u32)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case PERF_ABI_FEAT_CMDLINE:
		add_command(t, argv);
		break;
	case PERF_ABI_FEAT_EVENT_DESC:
		add_event(w, t);
		break;
	case PERF_ABI_FEAT_SAMPLE_TIME:
		add(t, times, sizeof(times));
		break;
	}
}

/* Behind the records: a table of position and size in the order of the bits, then the bytes. */
static int write_features(struct perf_write *w, const char *version, char *const argv[])
{
	static const u8 features[] = {	/* ascending */
		PERF_ABI_FEAT_HOSTNAME, PERF_ABI_FEAT_OSRELEASE, PERF_ABI_FEAT_VERSION,
		PERF_ABI_FEAT_ARCH, PERF_ABI_FEAT_NRCPUS, PERF_ABI_FEAT_CMDLINE,
		PERF_ABI_FEAT_EVENT_DESC, PERF_ABI_FEAT_SAMPLE_TIME,
	};
	u64 table[EHF_ARRAY_SIZE(features)][2];
	u64 pos = w->done + sizeof(table);
	u64 header[13];
	struct text t = { 0 };
	struct utsname un;
	u64 bits = 0;
	int rc;

	if (uname(&un))
		return -errno;
	for (u32 i = 0; i < EHF_ARRAY_SIZE(features); i++) {
		size_t begin = t.len;

		add_feature(w, features[i], &t, &un, version, argv);
		table[i][0] = pos + begin;
		table[i][1] = t.len - begin;
		bits |= 1ull << features[i];
	}
	rc = t.failed ? -ENOMEM : write_at(w, w->done, table, sizeof(table));
	if (!rc)
		rc = write_at(w, pos, t.bytes, t.len);
	free(t.bytes);
	if (!rc) {
		fill_header(w, header, bits);
		rc = write_at(w, 0, header, sizeof(header));
	}
	return rc;
}

/**
 * perf_write_close() - complete the file
 * @w: writer, begun or not; gone afterwards
 * @version: of this program, for the file
 * @argv: its command line, for the file
 * @bytes: size of the records in the file; may be NULL
 * @err: why something could not be written
 *
 * After an error (a full disk) the file holds whole records up to where writing failed, and
 * can be read.
 *
 * Return: 0 or a negative errno.
 */
int perf_write_close(struct perf_write *w, const char *version, char *const argv[], u64 *bytes,
		     struct perf_error *err)
{
	int rc = 0;

	if (w->data) {
		/* No records at all would look like a recording that was killed. */
		perf_write_round(w);
		flush(w);
		while (w->oldest != w->fill) {
			if (w->buf[w->oldest].busy && complete(w, true))
				break;
			retire_oldest(w);
		}
		/* What was written behind a gap would be in the features' way. */
		if (w->error.status && ftruncate(w->fd, (off_t)w->done))
			rc = 0;		/* not a regular file: then it does not matter */
		rc = write_features(w, version, argv);
		if (rc) {
			if (ftruncate(w->fd, (off_t)w->done) == 0)
				tell(w);
			fail(w, -rc, w->done);
		}
	}
	if (bytes)
		*bytes = w->data ? w->done - w->data : 0;
	if (close(w->fd))
		fail(w, errno, w->done);
	w->fd = -1;
	*err = w->error;
	rc = -w->error.status;
	free_all(w);
	return rc;
}
