// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The page cache: same bytes by io_uring and by plain reads, its bound, and files that shrink,
 * change or are too many.
 */
#include "harness/pager.h"
#include "selftests/kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define PAGES	12
#define SIZE	(PAGES * PAGER_PAGE + 100)

static u8 byte_at(u64 pos)
{
	return (u8)(pos * 7 + pos / 251 + pos / PAGER_PAGE);
}

static int make_file(char *path)
{
	static u8 bytes[SIZE];
	int fd;

	strcpy(path, "/tmp/pager_pages.XXXXXX");
	fd = mkstemp(path);
	for (u64 k = 0; k < SIZE; k++)
		bytes[k] = byte_at(k);
	if (fd < 0 || write(fd, bytes, SIZE) != SIZE)
		return -1;
	return fd;
}

FIXTURE(pager)
{
	char path[64];
	int fd;
	struct pager *p;
	struct pager_file *f;
};

FIXTURE_VARIANT(pager)
{
	struct pager_params params;
};

FIXTURE_VARIANT_ADD(pager, io_uring) { .params = { .max_pages = 4 } };
FIXTURE_VARIANT_ADD(pager, pread) { .params = { .max_pages = 4, .force_pread = true } };

FIXTURE_SETUP(pager)
{
	self->fd = make_file(self->path);
	ASSERT_GE(self->fd, 0);
	self->p = pager_new(&variant->params);
	ASSERT_NE(NULL, self->p);
	if (!variant->params.force_pread && strcmp(pager_method(self->p), "io_uring"))
		SKIP(return, "%s", pager_why(self->p));
	ASSERT_EQ(0, pager_open_fd(self->p, dup(self->fd), self->path, &self->f));
}

FIXTURE_TEARDOWN(pager)
{
	pager_close(self->f);
	pager_free(self->p);
	close(self->fd);
	unlink(self->path);
}

TEST_F(pager, every_byte_is_the_files)
{
	u64 avail, got;
	u8 dst[200];

	EXPECT_EQ((u64)SIZE, pager_size(self->f));
	for (u64 pos = 0; pos < SIZE; pos += 97) {
		u64 len = SIZE - pos < sizeof(dst) ? SIZE - pos : sizeof(dst);
		const u8 *at;

		pager_walk_begin(self->p);
		ASSERT_TRUE(pager_read(self->f, pos, dst, len));
		for (u64 k = 0; k < len; k++)
			ASSERT_EQ(byte_at(pos + k), dst[k]);
		for (got = 0; got < len; got += avail) {
			avail = 0;
			at = pager_direct(self->f, pos + got, len - got, &avail);
			ASSERT_NE(NULL, at);
			ASSERT_GT(avail, 0);
			ASSERT_LE(avail, len - got);
			for (u64 k = 0; k < avail; k++)
				ASSERT_EQ(byte_at(pos + got + k), at[k]);
		}
	}
	EXPECT_STREQ(variant->params.force_pread ? "pread" : "io_uring", pager_method(self->p));
	EXPECT_EQ(0, pager_stats(self->p)->errors + pager_stats(self->p)->short_reads);
}

TEST_F(pager, nothing_beyond_the_end)
{
	u8 dst[16];
	u64 avail;

	EXPECT_FALSE(pager_read(self->f, SIZE, dst, 1));
	EXPECT_FALSE(pager_read(self->f, SIZE - 8, dst, 9));
	EXPECT_TRUE(pager_read(self->f, SIZE - 8, dst, 8));
	EXPECT_FALSE(pager_read(self->f, ~0ULL - 3, dst, 8));
	EXPECT_EQ(NULL, pager_direct(self->f, SIZE, 1, &avail));
	EXPECT_EQ(NULL, pager_direct(self->f, ~0ULL, 1, &avail));
	ASSERT_NE(NULL, pager_direct(self->f, SIZE - 3, 100, &avail));
	EXPECT_EQ(3, avail);
}

TEST_F(pager, counts_first_touches)
{
	const struct pager_stats *s = pager_stats(self->p);
	u64 avail;
	u8 dst[8];

	pager_walk_begin(self->p);
	EXPECT_TRUE(pager_read(self->f, 10, dst, 8));
	EXPECT_TRUE(pager_read(self->f, 20, dst, 8));
	EXPECT_NE(NULL, pager_direct(self->f, PAGER_PAGE, 8, &avail));
	EXPECT_TRUE(pager_read(self->f, PAGES * PAGER_PAGE, dst, 8));
	EXPECT_EQ(3, pager_walk_pages(self->p));
	EXPECT_EQ(3, s->page_ins);
	EXPECT_EQ(2 * PAGER_PAGE + 100, s->bytes);
	pager_walk_begin(self->p);
	EXPECT_EQ(0, pager_walk_pages(self->p));
	EXPECT_TRUE(pager_read(self->f, PAGER_PAGE - 4, dst, 8));
	EXPECT_EQ(2, pager_walk_pages(self->p));
	EXPECT_EQ(3, s->page_ins);
}

/* Two pages side by side are one run, whichever was read first. */
TEST_F(pager, runs_are_in_one_piece)
{
	const u8 *a, *b;
	u64 avail;

	pager_walk_begin(self->p);
	b = pager_direct(self->f, 2 * PAGER_PAGE, 8, &avail);
	a = pager_direct(self->f, PAGER_PAGE + 6, 3 * PAGER_PAGE, &avail);
	ASSERT_NE(NULL, a);
	EXPECT_EQ(b, a + PAGER_PAGE - 6);
	EXPECT_EQ(2 * PAGER_PAGE - 6, avail);
}

TEST_F(pager, bound_holds_between_walks_only)
{
	const struct pager_stats *s = pager_stats(self->p);
	const u8 *at[PAGES];
	u64 avail;

	pager_walk_begin(self->p);
	for (u64 k = 0; k < PAGES; k++)
		at[k] = pager_direct(self->f, k * PAGER_PAGE + 1, 1, &avail);
	EXPECT_EQ((u64)PAGES, s->resident);
	for (u64 k = 0; k < PAGES; k++) {
		ASSERT_NE(NULL, at[k]);
		EXPECT_EQ(byte_at(k * PAGER_PAGE + 1), *at[k]);
	}
	pager_walk_begin(self->p);
	EXPECT_EQ(4, s->resident);
	EXPECT_EQ(PAGES - 4, s->evicted);
	EXPECT_EQ((u64)PAGES, s->peak);
	for (u64 k = 0; k < PAGES; k++) {
		u8 byte = 0;

		EXPECT_TRUE(pager_read(self->f, k * PAGER_PAGE + 1, &byte, 1));
		EXPECT_EQ(byte_at(k * PAGER_PAGE + 1), byte);
	}
	EXPECT_EQ(PAGES + PAGES - 4, s->page_ins);
}

/* What each walk needs stays, what one needed once goes. */
TEST_F(pager, used_pages_outlive_others)
{
	const struct pager_stats *s = pager_stats(self->p);
	u64 before;
	u8 byte;

	for (u64 k = 1; k < PAGES; k++) {
		pager_walk_begin(self->p);
		EXPECT_TRUE(pager_read(self->f, 0, &byte, 1));
		EXPECT_TRUE(pager_read(self->f, k * PAGER_PAGE, &byte, 1));
	}
	before = s->page_ins;
	EXPECT_TRUE(pager_read(self->f, 0, &byte, 1));
	EXPECT_EQ(before, s->page_ins);
	EXPECT_EQ((u64)PAGES, s->page_ins);
}

TEST_F(pager, truncated_while_used)
{
	const struct pager_stats *s = pager_stats(self->p);
	u64 avail;
	u8 dst[16];

	pager_walk_begin(self->p);
	ASSERT_TRUE(pager_read(self->f, 5 * PAGER_PAGE, dst, 8));
	ASSERT_EQ(0, ftruncate(self->fd, PAGER_PAGE + 50));
	EXPECT_TRUE(pager_read(self->f, 0, dst, 8));
	/* Half of page 1 is there, but not all that it once had. */
	EXPECT_FALSE(pager_read(self->f, PAGER_PAGE, dst, 8));
	EXPECT_FALSE(pager_read(self->f, 3 * PAGER_PAGE - 4, dst, 8));
	EXPECT_EQ(NULL, pager_direct(self->f, 4 * PAGER_PAGE, 8, &avail));
	EXPECT_EQ(3, s->short_reads);
	/* Not asked for a second time. */
	EXPECT_EQ(NULL, pager_direct(self->f, 4 * PAGER_PAGE, 8, &avail));
	EXPECT_EQ(3, s->short_reads);
	/* What was read before the file shrank is what the task had mapped. */
	ASSERT_TRUE(pager_read(self->f, 5 * PAGER_PAGE, dst, 1));
	EXPECT_EQ(byte_at(5 * PAGER_PAGE), dst[0]);
}

TEST_F(pager, memory_counts_touches_only)
{
	static const u8 bytes[2 * PAGER_PAGE] = { [PAGER_PAGE] = 42 };
	struct pager_file *m;
	u64 avail;
	u8 byte = 0;

	EXPECT_EQ(-EINVAL, pager_open_memory(self->p, bytes, 0, &m));
	ASSERT_EQ(0, pager_open_memory(self->p, bytes, sizeof(bytes), &m));
	pager_walk_begin(self->p);
	EXPECT_TRUE(pager_read(m, PAGER_PAGE, &byte, 1));
	EXPECT_EQ(42, byte);
	EXPECT_EQ(bytes, pager_direct(m, 0, sizeof(bytes), &avail));
	EXPECT_EQ(sizeof(bytes), avail);
	EXPECT_EQ(2, pager_walk_pages(self->p));
	EXPECT_EQ(0, pager_stats(self->p)->page_ins);
	EXPECT_EQ(-1, pager_dup_fd(m));
	pager_close(m);
}

TEST(refuses_what_is_no_file)
{
	struct pager *p = pager_new(NULL);
	struct pager_file *f;
	char path[] = "/tmp/pager_empty.XXXXXX";

	ASSERT_NE(NULL, p);
	EXPECT_EQ(-EINVAL, pager_open_fd(p, open("/dev/null", O_RDONLY), "/dev/null", &f));
	EXPECT_EQ(NULL, f);
	EXPECT_EQ(-EINVAL, pager_open_fd(p, open("/tmp", O_RDONLY), "/tmp", &f));
	EXPECT_EQ(-EINVAL, pager_open_fd(p, mkstemp(path), path, &f));
	EXPECT_EQ(0, truncate(path, (off_t)PAGER_MAX_FILE + 1));
	EXPECT_EQ(-EFBIG, pager_open_fd(p, open(path, O_RDONLY), path, &f));
	/* Address space, not memory: a sparse file of the greatest size is fine. */
	EXPECT_EQ(0, truncate(path, (off_t)PAGER_MAX_FILE));
	if (!pager_open_fd(p, open(path, O_RDONLY), path, &f)) {
		u64 word = 1;

		EXPECT_TRUE(pager_read(f, PAGER_MAX_FILE - 8, &word, 8));
		EXPECT_EQ(0, word);
	}
	pager_close(f);
	unlink(path);
	pager_free(p);
}

TEST(more_files_than_descriptors)
{
	struct pager_params params = { .max_open = 2 };
	struct pager *p = pager_new(&params);
	struct pager_file *f[4];
	char path[4][64];
	int fd, old;
	u8 byte;

	ASSERT_NE(NULL, p);
	for (int k = 0; k < 4; k++) {
		fd = make_file(path[k]);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, pager_open_fd(p, fd, path[k], &f[k]));
	}
	for (u64 page = 0; page < 3; page++) {
		for (int k = 0; k < 4; k++) {
			EXPECT_TRUE(pager_read(f[k], page * PAGER_PAGE, &byte, 1));
			EXPECT_EQ(byte_at(page * PAGER_PAGE), byte);
		}
	}
	EXPECT_EQ(12, pager_stats(p)->reopened);
	/* Another file under the old name is noticed, and not read. Open, the old one keeps its number. */
	old = open(path[0], O_RDONLY);
	unlink(path[0]);
	fd = make_file(path[1]);
	rename(path[1], path[0]);
	close(fd);
	EXPECT_TRUE(pager_read(f[0], 0, &byte, 1));
	EXPECT_FALSE(pager_read(f[0], 5 * PAGER_PAGE, &byte, 1));
	EXPECT_EQ(-1, pager_dup_fd(f[0]));
	EXPECT_EQ(1, pager_stats(p)->changed);
	close(old);
	for (int k = 0; k < 4; k++) {
		pager_close(f[k]);
		unlink(path[k]);
	}
	EXPECT_EQ(0, pager_stats(p)->resident);
	pager_free(p);
}

/* From here on this process gets @error from the system call. */
static bool refuse(long call, u32 error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { EHF_ARRAY_SIZE(code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

TEST(io_uring_refused)
{
	struct pager_file *f;
	char path[64];
	struct pager *p;
	u8 byte;
	int fd;

	if (!refuse(SYS_io_uring_setup, EPERM))
		SKIP(return, "no seccomp filter: %s", strerror(errno));
	p = pager_new(NULL);
	ASSERT_NE(NULL, p);
	EXPECT_STREQ("pread", pager_method(p));
	EXPECT_NE(NULL, strstr(pager_why(p), "io_uring_setup: Operation not permitted"));
	fd = make_file(path);
	ASSERT_EQ(0, pager_open_fd(p, fd, path, &f));
	EXPECT_TRUE(pager_read(f, PAGER_PAGE, &byte, 1));
	EXPECT_EQ(byte_at(PAGER_PAGE), byte);
	pager_close(f);
	unlink(path);
	pager_free(p);
}

/* A ring that can be made but not used: the pages come by plain reads all the same. */
TEST(io_uring_fails_later)
{
	struct pager *p = pager_new(NULL);
	struct pager_file *f;
	char path[64];
	u8 byte;
	int fd;

	ASSERT_NE(NULL, p);
	if (strcmp(pager_method(p), "io_uring"))
		SKIP(return, "%s", pager_why(p));
	fd = make_file(path);
	ASSERT_EQ(0, pager_open_fd(p, fd, path, &f));
	if (!refuse(SYS_io_uring_enter, ENOSYS))
		SKIP(return, "no seccomp filter: %s", strerror(errno));
	EXPECT_TRUE(pager_read(f, PAGER_PAGE, &byte, 1));
	EXPECT_EQ(byte_at(PAGER_PAGE), byte);
	EXPECT_STREQ("pread", pager_method(p));
	EXPECT_NE(NULL, strstr(pager_why(p), "io_uring read"));
	pager_close(f);
	unlink(path);
	pager_free(p);
}

TEST_HARNESS_MAIN
