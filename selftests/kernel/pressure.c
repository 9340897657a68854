// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Pages that are in swap or on a disk when a walk needs them, one by one and because memory is
 * short: the walk waits for them, and its trace is the one that it would have been.
 */
#include "selftests/kernel/copy.h"

#include <alloca.h>
#include <pthread.h>

#define DISK "/dev/zram1"	/* selftests/kernel/init made it, and swap */
#define DEPTH 8

/* Bits of /proc/self/pagemap. */
#define SWAPPED (1ULL << 62)
#define PRESENT (1ULL << 63)

FIXTURE(disk)
{
	int fd;
	struct copy c;
};

/* The library's bytes, on the disk and nowhere else. */
static bool write_disk(void)
{
	int from = open(PLUG, O_RDONLY), to = open(DISK, O_WRONLY);
	char buf[PAGE];
	ssize_t n;
	bool ok = from >= 0 && to >= 0;

	while (ok && (n = read(from, buf, sizeof(buf))) > 0)
		ok = write(to, buf, (size_t)n) == n;
	ok = ok && !fsync(to) && !posix_fadvise(to, 0, 0, POSIX_FADV_DONTNEED);
	close(from);
	close(to);
	return ok;
}

FIXTURE_SETUP(disk)
{
	self->fd = dev_fd = dev_open();
	ASSERT_LE(0, self->fd);
	add_all(self->fd);
	ASSERT_TRUE(write_disk());
	ASSERT_TRUE(load_copy(&self->c, DISK));
	ASSERT_EQ(0, start(self->fd, 0, 0));
}

FIXTURE_TEARDOWN(disk)
{
	close(self->fd);
}

/* Frames that are pages away from each other; @fn is called from the last one. */
static ALONE void far_away(int n, void (*fn)(struct copy *c), struct copy *c)
{
	char *p;

	ENTER();
	p = alloca(4 * PAGE);
	memset(p, n + 1, 4 * PAGE);
	__asm__ volatile("" :: "r"(p) : "memory");
	if (n)
		far_away(n - 1, fn, c);
	else
		fn(c);
	LEAVE();
}

/* Whole pages of the stack of far_away() and its like. */
struct range {
	uintptr_t low, high;
};

/* At the beginning of what the last one calls. */
#define FAR_STACK() \
	(struct range){ UP((uintptr_t)__builtin_dwarf_cfa()), DOWN(truth[nr_truth - DEPTH].cfa) }

/* How many of them have one of @bits. */
static int count_pages(struct range r, uint64_t bits)
{
	int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), n = 0;
	uint64_t page;

	for (uintptr_t p = r.low; p < r.high; p += PAGE)
		n += pread(file, &page, sizeof(page), (off_t)(p / PAGE * sizeof(page))) ==
		     sizeof(page) && page & bits;
	close(file);
	return n;
}

/* A page that another CPU has touched a moment ago may have to wait. */
static bool swap_out(struct range r)
{
	for (int k = 0; k < 500; k++) {
		if (madvise((void *)r.low, r.high - r.low, MADV_PAGEOUT))
			return false;
		if (!count_pages(r, PRESENT))
			return true;
		usleep(1000);
	}
	return false;
}

static ALONE void trace_from_swap(struct copy *c TH_UNUSED)
{
	struct range r = FAR_STACK();
	int pages = (int)((r.high - r.low) / PAGE);
	long long major;

	ENTER();
	TRACE_HERE(dev_fd, &last);
	EXPECT_WHOLE(&last);
	ASSERT_TRUE(swap_out(r));
	EXPECT_EQ(pages, count_pages(r, SWAPPED));
	major = count_of("major");
	TRACE_HERE(dev_fd, &last);
	EXPECT_WHOLE(&last);
	EXPECT_EQ(0, last.head.faults);
	EXPECT_LE(major + DEPTH - 1, count_of("major"));
	EXPECT_LE(DEPTH - 1, count_pages(r, PRESENT));
	EXPECT_LT(0, count_pages(r, SWAPPED)); /* only what it looked at */
	LEAVE();
}

TEST_F(disk, stack_comes_back_from_swap)
{
	ENTER();
	far_away(DEPTH - 1, trace_from_swap, NULL);
	LEAVE();
}

/* A walk that may not fault ends there, and leaves the pages where they are. */
static ALONE void trace_without_swap(struct copy *c TH_UNUSED)
{
	struct range r = FAR_STACK();
	int pages = (int)((r.high - r.low) / PAGE);
	long long major;

	ENTER();
	TRACE_HERE(dev_fd, &last);	/* brings in what the next one must not */
	ASSERT_EQ(0, ioctl(dev_fd, EHUNWIND_STOP));
	ASSERT_EQ(0, start(dev_fd, 0, EHUNWIND_NOFAULT));
	TRACE_HERE(dev_fd, &last);
	EXPECT_WHOLE(&last);
	ASSERT_TRUE(swap_out(r));
	major = count_of("major");
	TRACE_HERE(dev_fd, &last);
	EXPECT_EQ(EHF_STOP_MEMORY, last.head.stop);
	EXPECT_EQ(2, last.head.nr) {
		print_trace(&last);
	}
	EXPECT_TRUE(has_truth(&last, 1, 1));
	EXPECT_EQ(1, last.head.faults);
	EXPECT_EQ(major, count_of("major"));
	EXPECT_EQ(pages, count_pages(r, SWAPPED));
	LEAVE();
}

TEST_F(disk, stack_stays_in_swap)
{
	ENTER();
	far_away(DEPTH - 1, trace_without_swap, NULL);
	LEAVE();
}

static int resident(const struct copy *c)
{
	unsigned char there[16] = { 0 };
	int n = 0;

	if (mincore(c->base + c->from, c->to - c->from, there))
		return -1;
	for (int k = 0; k < 16; k++)
		n += there[k] & 1;
	return n;
}

/* The pages with the section leave this mm, and then memory. */
static bool leave_memory(const struct copy *c, bool all)
{
	int file;

	for (int k = 0; k < 500; k++) {
		if (madvise(c->base + c->from, c->to - c->from, MADV_DONTNEED))
			return false;
		if (all) {
			file = open("/proc/sys/vm/drop_caches", O_WRONLY);
			if (write(file, "3", 1) != 1)
				return false;
			close(file);
		} else if (posix_fadvise(c->file, (off_t)c->file_off, (off_t)(c->to - c->from),
					 POSIX_FADV_DONTNEED)) {
			return false;
		}
		if (!resident(c))
			return true;
		usleep(1000);
	}
	return false;
}

TEST_F(disk, section_comes_back_from_the_disk)
{
	struct copy *c = &self->c;

	ENTER();
	for (int all = 0; all < 2; all++) {
		long long major, unmapped = count_of("unmapped");

		/* Registered anew: nothing of it is cached. */
		ASSERT_EQ(0, add_copy(self->fd, c));
		ASSERT_TRUE(leave_memory(c, all));
		major = count_of("major");
		EXPECT_THROUGH(c);
		EXPECT_EQ(0, last.head.faults);
		EXPECT_LT(major, count_of("major"));
		EXPECT_LT(0, resident(c));
		EXPECT_EQ(unmapped, count_of("unmapped"));
		ASSERT_EQ(0, ioctl(self->fd, EHUNWIND_REMOVE, &c->handle));
	}
	LEAVE();
}

TEST_F(disk, section_stays_on_the_disk)
{
	struct copy *c = &self->c;

	ASSERT_EQ(0, ioctl(self->fd, EHUNWIND_STOP));
	ASSERT_EQ(0, start(self->fd, 0, EHUNWIND_NOFAULT));
	ENTER();
	ASSERT_EQ(0, add_copy(self->fd, c));
	ASSERT_TRUE(leave_memory(c, false));
	EXPECT_CUT(c, EHF_STOP_SECTION_MEMORY);
	EXPECT_EQ(1, last.head.faults);
	EXPECT_EQ(0, resident(c));
	LEAVE();
}

/* A file that has become shorter: its pages do not come back, and the section stays. */
TEST_F(disk, section_of_a_file_that_was_cut)
{
	struct copy c;
	char buf[PAGE];
	int from = open(PLUG, O_RDONLY), to = open("/tmp/cut", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ssize_t n;

	ENTER();
	while ((n = read(from, buf, sizeof(buf))) > 0)
		ASSERT_EQ(n, write(to, buf, (size_t)n));
	ASSERT_TRUE(load_copy(&c, "/tmp/cut"));
	ASSERT_EQ(0, add_copy(self->fd, &c));
	ASSERT_EQ(0, ftruncate(to, (off_t)c.file_off));
	EXPECT_CUT(&c, EHF_STOP_SECTION_MEMORY);
	EXPECT_LT(0, last.head.faults);
	EXPECT_EQ(0, ioctl(self->fd, EHUNWIND_REMOVE, &c.handle));
	LEAVE();
}

/* Another thread sends both away all the time. */
struct thief {
	struct copy *c;
	struct range r;
	volatile int stop, rounds;
	bool failed;
};

static void *steal(void *arg)
{
	struct thief *t = arg;

	for (; !t->stop; t->rounds++) {
		t->failed |= madvise((void *)t->r.low, t->r.high - t->r.low, MADV_PAGEOUT) ||
			     madvise(t->c->base + t->c->from, t->c->to - t->c->from,
				     MADV_DONTNEED) ||
			     posix_fadvise(t->c->file, 0, 0, POSIX_FADV_DONTNEED);
		usleep(200);
	}
	return NULL;
}

static ALONE void traces_during_theft(struct copy *c)
{
	struct thief t = { .c = c, .r = FAR_STACK() };
	long long before = count_of("major"), major = 0;
	pthread_t thread;
	int k;

	ENTER();
	ASSERT_EQ(0, pthread_create(&thread, NULL, steal, &t));
	for (k = 0; (k < 1000 || (k < 50000 && major < 100)) && !_metadata->failed; k++) {
		if (k % 10 == 0) {
			ioctl(dev_fd, EHUNWIND_REMOVE, &c->handle);
			ASSERT_EQ(0, add_copy(dev_fd, c));
			major = count_of("major") - before;
		}
		EXPECT_THROUGH(c);
		EXPECT_EQ(0, last.head.faults);
	}
	t.stop = 1;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_FALSE(t.failed);
	EXPECT_LE(100, major);
	TH_LOG("%lld major faults in %d walks, %d rounds of the other thread", major, k,
	       t.rounds);
	LEAVE();
}

TEST_F_TIMEOUT(disk, pages_leave_during_walks, 60)
{
	ENTER();
	far_away(DEPTH - 1, traces_during_theft, &self->c);
	LEAVE();
}

/*
 * All memory but 32 MiB is locked; then more than is left is written again and again. Whoever is
 * killed because nothing can be had any more is this one.
 */
static void use_memory(int ready)
{
	const size_t leave = 32UL << 20, use = 64UL << 20;
	long long free_kb = number_in("/proc/meminfo", "MemAvailable");
	size_t balloon = free_kb > 0 ? (size_t)free_kb << 10 : 0;
	int file = open("/proc/self/oom_score_adj", O_WRONLY);
	volatile char *p;

	if (write(file, "1000", 4) != 4 || balloon <= leave)
		_exit(1);
	balloon -= leave;
	if (mmap(NULL, balloon, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0) == MAP_FAILED)
		_exit(1);
	p = mmap(NULL, use, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || write(ready, "", 1) != 1)
		_exit(1);
	for (char turn = 1;; turn++)
		for (size_t at = 0; at < use; at += PAGE)
			p[at + at / PAGE % PAGE] = turn;
}

/* A program that is traced until it is gone; not so often that it does nothing else. */
static bool short_life(unsigned int turns)
{
	volatile unsigned int x = 0;
	pid_t pid = fork();
	int status, fd;

	if (!pid) {
		fd = dev_open();
		alarm(20);
		if (fd < 0 || start(fd, 1000000, 0))
			_exit(1);
		while (x < turns)
			x++;
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* In memory, but the first that will go. */
static bool cool(struct range r)
{
	for (uintptr_t p = r.low; p < r.high; p += PAGE)
		(void)*(volatile char *)p;
	return !madvise((void *)r.low, r.high - r.low, MADV_COLD);
}

#define ROUNDS 6

static ALONE void traces_under_pressure(struct copy *c)
{
	struct range r = FAR_STACK();
	int pages = (int)((r.high - r.low) / PAGE), ready[2], status, with = 0, waits = 0;
	long long out = number_in("/proc/vmstat", "pswpout"), major, all = 0;
	pid_t pid;
	char byte;

	ENTER();
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		use_memory(ready[1]);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	for (unsigned int k = 0; k < ROUNDS && !_metadata->failed; k++) {
		ASSERT_TRUE(cool(r));
		for (; waits < 4000 && count_pages(r, SWAPPED) < pages / 2; waits++)
			usleep(5000);
		ASSERT_EQ(0, add_copy(dev_fd, c));
		major = count_of("major");
		EXPECT_THROUGH(c);
		EXPECT_EQ(0, last.head.faults);
		major = count_of("major") - major;
		all += major;
		with += major > 0;
		ASSERT_EQ(0, ioctl(dev_fd, EHUNWIND_REMOVE, &c->handle));
		ASSERT_TRUE(short_life(500 * k));
	}
	ASSERT_EQ(0, kill(pid, SIGTERM));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGTERM, status);	/* it was not killed before */
	EXPECT_LE(ROUNDS / 2, with);
	out = number_in("/proc/vmstat", "pswpout") - out;
	EXPECT_LT(0, out);
	TH_LOG("%lld major faults in %d of %d walks, %lld pages swapped out, %d ms of waiting",
	       all, with, ROUNDS, out, waits * 5);
	LEAVE();
}

TEST_F_TIMEOUT(disk, memory_is_short, 120)
{
	ENTER();
	far_away(DEPTH - 1, traces_under_pressure, &self->c);
	LEAVE();
}

TEST_HARNESS_MAIN
