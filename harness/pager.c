// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The page cache: reads pages of files on first touch, keeps them within a bound.
 *
 * Each file has address space of its size reserved, and a page goes to its natural place there:
 * pages that are here and adjacent are adjacent in memory too, so that one pointer serves a run
 * of them. Giving a page up is one madvise().
 */
#include "harness/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* No run is followed further: a walk looks at a record or a table entry, not at a section. */
#define PAGER_RUN	(4 * PAGER_PAGE)

/* Values of a page's stamp; all others are the number of the last walk that touched it. */
#define STAMP_ABSENT	0U
#define STAMP_BAD	1U	/* tried, and not here */
#define STAMP_READ	2U	/* here, touched by no walk yet */
#define STAMP_FIRST	3U

/**
 * struct pager_file - a file, or bytes in memory
 * @pager: whose
 * @base: where page 0 is or would be
 * @size: bytes
 * @nr_pages: pages, the last one maybe partial
 * @stamp: of each page
 * @resident: pages that are here
 * @path: to open it again; NULL for bytes in memory
 * @fd: -1 while it is closed
 * @id: what it was when it was first opened
 * @gone: it was another file when it was opened again
 * @older: open files by when they were last read
 * @newer: the other way
 */
struct pager_file {
	struct pager *pager;
	u8 *base;
	u64 size;
	u64 nr_pages;
	u32 *stamp;
	u64 resident;
	char *path;
	int fd;
	struct stat id;
	bool gone;
	struct pager_file *older;
	struct pager_file *newer;
};

/* A page that is here, in the order in which pages are looked at when some must go. */
struct resident {
	struct pager_file *file;
	u32 page;
	u32 stamp;	/* the walk that put it here: another one in the page means it was used */
};

struct pager {
	struct pager_stats stats;
	struct io_uring ring;
	bool has_ring;
	char why[160];
	u32 max_pages;
	u32 max_open;
	u32 nr_open;
	struct pager_file *oldest;
	struct pager_file *newest;
	struct resident *queue;		/* a ring of @queue_max entries, a power of two */
	u64 queue_head;
	u64 queue_tail;
	u64 queue_max;
	u32 walk;
	u64 walk_pages;
};

static void set_why(struct pager *p, const char *what, int err)
{
	FILE *f = fopen("/proc/sys/kernel/io_uring_disabled", "re");
	int disabled = 0;

	if (f) {
		if (fscanf(f, "%d", &disabled) != 1)
			disabled = 0;
		fclose(f);
	}
	if (disabled)
		snprintf(p->why, sizeof(p->why), "%s: %s (kernel.io_uring_disabled is %d)", what,
			 strerror(err), disabled);
	else
		snprintf(p->why, sizeof(p->why), "%s: %s", what, strerror(err));
}

/**
 * pager_new() - make a page cache
 * @params: NULL for the defaults
 *
 * Uses io_uring; where that is refused, plain reads, and pager_why() tells why.
 *
 * Return: the cache, NULL where memory is short.
 */
struct pager *pager_new(const struct pager_params *params)
{
	struct pager *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return NULL;
	p->max_pages = params && params->max_pages ? params->max_pages : 32768;
	p->max_open = params && params->max_open ? params->max_open : 256;
	p->walk = STAMP_FIRST;
	p->queue_max = 1024;
	p->queue = malloc(p->queue_max * sizeof(*p->queue));
	if (!p->queue) {
		free(p);
		return NULL;
	}
	if (params && params->force_pread) {
		snprintf(p->why, sizeof(p->why), "plain reads were asked for");
		return p;
	}
	err = io_uring_queue_init(4, &p->ring, 0);
	if (err)
		set_why(p, "io_uring_setup", -err);
	p->has_ring = !err;
	return p;
}

static void unlink_open(struct pager_file *f)
{
	struct pager *p = f->pager;

	if (f->older)
		f->older->newer = f->newer;
	else
		p->oldest = f->newer;
	if (f->newer)
		f->newer->older = f->older;
	else
		p->newest = f->older;
	f->older = NULL;
	f->newer = NULL;
}

static void link_open(struct pager_file *f)
{
	struct pager *p = f->pager;

	f->older = p->newest;
	f->newer = NULL;
	if (p->newest)
		p->newest->newer = f;
	else
		p->oldest = f;
	p->newest = f;
}

static void shut(struct pager_file *f)
{
	if (f->fd < 0)
		return;
	unlink_open(f);
	close(f->fd);
	f->fd = -1;
	f->pager->nr_open--;
}

/* Takes over @fd; others are closed when that makes too many. */
static void keep_open(struct pager_file *f, int fd)
{
	struct pager *p = f->pager;

	while (p->nr_open >= p->max_open && p->oldest)
		shut(p->oldest);
	f->fd = fd;
	link_open(f);
	p->nr_open++;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Makes sure that the file is open; false where it can no longer be had. */
static bool need_open(struct pager_file *f)
{
	struct pager *p = f->pager;
	struct stat st;
	int fd;

	if (f->gone)
		return false;
	if (f->fd >= 0) {
		if (p->newest != f) {
			unlink_open(f);
			link_open(f);
		}
		return true;
	}
	if (stat(f->path, &st) || !same_file(&st, &f->id))
		goto gone;
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		goto gone;
	if (fstat(fd, &st) || !same_file(&st, &f->id)) {
		close(fd);
		goto gone;
	}
	keep_open(f, fd);
	p->stats.reopened++;
	return true;
gone:
	f->gone = true;
	p->stats.changed++;
	return false;
}

static struct pager_file *new_file(struct pager *p, u64 size)
{
	struct pager_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pager = p;
	f->fd = -1;
	f->size = size;
	f->nr_pages = size / PAGER_PAGE + !!(size % PAGER_PAGE);
	f->stamp = calloc(f->nr_pages, sizeof(*f->stamp));
	if (!f->stamp) {
		free(f);
		return NULL;
	}
	return f;
}

/**
 * pager_open_fd() - let a file's pages be read
 * @p: the cache
 * @fd: a regular file that is not empty; belongs to the pager afterwards, also on failure
 * @path: how to open it again
 * @file: filled in
 *
 * Return: 0, -EFBIG for a file larger than PAGER_MAX_FILE, -EINVAL for one that is not regular
 * or empty, -ENOMEM.
 */
int pager_open_fd(struct pager *p, int fd, const char *path, struct pager_file **file)
{
	struct pager_file *f;
	struct stat st;
	int err = -EINVAL;
	void *base;

	*file = NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		goto close;
	err = -EFBIG;
	if ((u64)st.st_size > PAGER_MAX_FILE)
		goto close;
	err = -ENOMEM;
	f = new_file(p, (u64)st.st_size);
	if (!f)
		goto close;
	f->path = strdup(path);
	base = mmap(NULL, f->nr_pages * PAGER_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED || !f->path) {
		if (base != MAP_FAILED)
			munmap(base, f->nr_pages * PAGER_PAGE);
		free(f->path);
		free(f->stamp);
		free(f);
		goto close;
	}
	/* A huge page would hold 511 pages that nobody asked for. */
	madvise(base, f->nr_pages * PAGER_PAGE, MADV_NOHUGEPAGE);
	f->base = base;
	f->id = st;
	keep_open(f, fd);
	*file = f;
	return 0;
close:
	close(fd);
	return err;
}

/**
 * pager_open_memory() - let bytes in memory be read the same way
 * @p: the cache
 * @bytes: they must outlive the file and not change
 * @size: how many, above 0
 * @file: filled in
 *
 * Its pages are always here and count neither as page-ins nor as resident.
 *
 * Return: 0, -EINVAL for no bytes, -ENOMEM.
 */
int pager_open_memory(struct pager *p, const void *bytes, u64 size, struct pager_file **file)
{
	struct pager_file *f;

	*file = NULL;
	if (!size || size > PAGER_MAX_FILE)
		return -EINVAL;
	f = new_file(p, size);
	if (!f)
		return -ENOMEM;
	/* Never written to: without a path there is no page to read in. */
	f->base = (u8 *)(uintptr_t)bytes;
	for (u64 i = 0; i < f->nr_pages; i++)
		f->stamp[i] = STAMP_READ;
	*file = f;
	return 0;
}

/**
 * pager_close() - give a file back
 * @f: the file, or NULL
 */
void pager_close(struct pager_file *f)
{
	struct pager *p;
	u64 to;

	if (!f)
		return;
	p = f->pager;
	shut(f);
	if (f->path) {
		to = p->queue_tail;
		for (u64 i = p->queue_tail; f->resident && i != p->queue_head; i++) {
			const struct resident *r = &p->queue[i & (p->queue_max - 1)];

			if (r->file != f)
				p->queue[to++ & (p->queue_max - 1)] = *r;
		}
		if (f->resident)
			p->queue_head = to;
		p->stats.resident -= f->resident;
		munmap(f->base, f->nr_pages * PAGER_PAGE);
	}
	free(f->path);
	free(f->stamp);
	free(f);
}

/**
 * pager_free() - end a page cache
 * @p: the cache, or NULL; all its files are closed already
 */
void pager_free(struct pager *p)
{
	if (!p)
		return;
	if (p->has_ring)
		io_uring_queue_exit(&p->ring);
	free(p->queue);
	free(p);
}

/**
 * pager_method() - how pages are read
 * @p: the cache
 *
 * Return: "io_uring" or "pread".
 */
const char *pager_method(const struct pager *p)
{
	return p->has_ring ? "io_uring" : "pread";
}

/**
 * pager_why() - why it is not io_uring
 * @p: the cache
 *
 * Return: one line, "" where it is io_uring.
 */
const char *pager_why(const struct pager *p)
{
	return p->why;
}

/**
 * pager_stats() - what was done so far
 * @p: the cache
 *
 * Return: counters that live as long as @p.
 */
const struct pager_stats *pager_stats(const struct pager *p)
{
	return &p->stats;
}

/**
 * pager_size() - the size of a file
 * @f: the file
 *
 * Return: bytes, as of when it was opened.
 */
u64 pager_size(const struct pager_file *f)
{
	return f->size;
}

/**
 * pager_dup_fd() - a file descriptor of one's own
 * @f: a file that was opened by pager_open_fd()
 *
 * Return: a descriptor that the caller closes, or -1: bytes in memory, a file that is another
 * one by now, or no descriptor is left.
 */
int pager_dup_fd(struct pager_file *f)
{
	if (!f->path || !need_open(f))
		return -1;
	return fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
}

/* Gives a page up, unless it was used since it was queued: then it has another turn. */
static void look_at(struct pager *p)
{
	struct resident r = p->queue[p->queue_tail++ & (p->queue_max - 1)];
	u32 stamp = r.file->stamp[r.page];

	if (stamp != r.stamp) {
		r.stamp = stamp;
		p->queue[p->queue_head++ & (p->queue_max - 1)] = r;
		return;
	}
	madvise(r.file->base + (u64)r.page * PAGER_PAGE, PAGER_PAGE, MADV_DONTNEED);
	r.file->stamp[r.page] = STAMP_ABSENT;
	r.file->resident--;
	p->stats.resident--;
	p->stats.evicted++;
}

/**
 * pager_walk_begin() - a walk begins: nobody holds a pointer of the last one
 * @p: the cache
 *
 * The only moment at which pages are given up. Two rounds suffice: the first one may find each
 * page used, the second finds none so.
 */
void pager_walk_begin(struct pager *p)
{
	while (p->stats.resident > p->max_pages)
		look_at(p);
	p->walk_pages = 0;
	if (++p->walk < STAMP_FIRST)
		p->walk = STAMP_FIRST;
}

/**
 * pager_walk_pages() - pages touched since pager_walk_begin()
 * @p: the cache
 *
 * Return: how many different ones.
 */
u64 pager_walk_pages(const struct pager *p)
{
	return p->walk_pages;
}

/* Submits one read and waits for it: returns what read() would, or a negative errno. */
static ssize_t ring_read(struct pager *p, int fd, void *dst, u32 len, u64 pos)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&p->ring);
	struct io_uring_cqe *cqe;
	ssize_t res;
	int err;

	if (!sqe)
		return -ENOSYS;
	io_uring_prep_read(sqe, fd, dst, len, pos);
	do
		err = io_uring_submit_and_wait(&p->ring, 1);
	while (err == -EINTR || err == -EAGAIN);
	if (err < 0)
		return -ENOSYS;
	/* A signal may end the wait, but not the read: its buffer is ours only afterwards. */
	do
		err = io_uring_wait_cqe(&p->ring, &cqe);
	while (err == -EINTR || err == -EAGAIN);
	if (err < 0)
		return -ENOSYS;
	res = cqe->res;
	io_uring_cqe_seen(&p->ring, cqe);
	return res;
}

static ssize_t read_some(struct pager *p, int fd, void *dst, u32 len, u64 pos)
{
	ssize_t n;

	if (p->has_ring) {
		n = ring_read(p, fd, dst, len, pos);
		if (n != -ENOSYS && n != -EINVAL && n != -EOPNOTSUPP && n != -EPERM &&
		    n != -EACCES)
			return n;
		/* A ring that cannot read: old kernels, or a filter that lets it be set up. */
		set_why(p, "io_uring read", (int)-n);
		io_uring_queue_exit(&p->ring);
		p->has_ring = false;
	}
	n = pread(fd, dst, len, (off_t)pos);
	return n < 0 ? -errno : n;
}

static bool queue_room(struct pager *p)
{
	struct resident *q;

	if (p->queue_head - p->queue_tail < p->queue_max)
		return true;
	q = malloc(2 * p->queue_max * sizeof(*q));
	if (!q)
		return false;
	for (u64 i = p->queue_tail; i != p->queue_head; i++)
		q[i & (2 * p->queue_max - 1)] = p->queue[i & (p->queue_max - 1)];
	free(p->queue);
	p->queue = q;
	p->queue_max *= 2;
	return true;
}

static bool page_in(struct pager_file *f, u64 page)
{
	struct pager *p = f->pager;
	u64 pos = page * PAGER_PAGE;
	u32 want = f->size - pos < PAGER_PAGE ? (u32)(f->size - pos) : PAGER_PAGE;
	u32 got = 0;
	ssize_t n = 0;

	if (!f->path || !queue_room(p) || !need_open(f))
		return false;
	while (got < want) {
		n = read_some(p, f->fd, f->base + pos + got, want - got, pos + got);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			break;
		got += (u32)n;
	}
	if (got < want) {
		if (n < 0) {
			if (!p->stats.errors++)
				p->stats.first_error = (int)-n;
		} else {
			p->stats.short_reads++;
		}
		madvise(f->base + pos, PAGER_PAGE, MADV_DONTNEED);
		f->stamp[page] = STAMP_BAD;
		return false;
	}
	f->stamp[page] = STAMP_READ;
	f->resident++;
	p->queue[p->queue_head++ & (p->queue_max - 1)] =
		(struct resident){ f, (u32)page, p->walk };
	p->stats.page_ins++;
	p->stats.bytes += got;
	p->stats.resident++;
	if (p->stats.resident > p->stats.peak)
		p->stats.peak = p->stats.resident;
	return true;
}

/* Makes sure that a page is here, and that the walk has it on its account. */
static bool touch(struct pager_file *f, u64 page)
{
	struct pager *p = f->pager;
	u32 stamp = f->stamp[page];

	if (ehf_likely(stamp == p->walk))
		return true;
	if (stamp == STAMP_BAD || (stamp == STAMP_ABSENT && !page_in(f, page)))
		return false;
	f->stamp[page] = p->walk;
	p->walk_pages++;
	return true;
}

/**
 * pager_direct() - bytes of a file where they are
 * @f: the file
 * @pos: position of the first byte
 * @len: bytes wanted, above 0
 * @avail: filled in with the bytes that follow, 1 to @len: to the end of a run of pages that are
 *	here
 *
 * Reads one page if it is not here. Pages of the run behind it do not count as touched: what
 * will be read of it is not known.
 *
 * Return: a pointer that holds until the next pager_walk_begin(), NULL where the byte cannot be
 * had.
 */
const u8 *pager_direct(struct pager_file *f, u64 pos, u64 len, u64 *avail)
{
	u64 page = pos / PAGER_PAGE;
	u64 end;

	if (pos >= f->size || !touch(f, page))
		return NULL;
	if (len > f->size - pos)
		len = f->size - pos;
	end = (page + 1) * PAGER_PAGE;
	if (len > PAGER_RUN)
		len = PAGER_RUN;
	while (end - pos < len && f->stamp[end / PAGER_PAGE] >= STAMP_READ)
		end += PAGER_PAGE;
	*avail = end - pos < len ? end - pos : len;
	return f->base + pos;
}

/**
 * pager_read() - copy bytes of a file
 * @f: the file
 * @pos: position of the first byte
 * @dst: where they go
 * @len: how many, above 0
 *
 * Return: false where not all of them can be had.
 */
bool pager_read(struct pager_file *f, u64 pos, void *dst, size_t len)
{
	if (pos >= f->size || len > f->size - pos)
		return false;
	for (u64 page = pos / PAGER_PAGE; page <= (pos + len - 1) / PAGER_PAGE; page++) {
		if (!touch(f, page))
			return false;
	}
	memcpy(dst, f->base + pos, len);
	return true;
}
