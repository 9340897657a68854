// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Unloading the module: refused while a file is open or a work is queued, clean afterwards, with
 * registries of living processes in it.
 */
#include "selftests/kernel/guest.h"

#include <linux/userfaultfd.h>
#include <pthread.h>

static int unload(void)
{
	return syscall(SYS_delete_module, "ehunwind", O_NONBLOCK) ? -errno : 0;
}

static int load(void)
{
	int fd = open("/ehunwind.ko", O_RDONLY | O_CLOEXEC);
	int ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;

	close(fd);
	return ret;
}

/* Refused as long as somebody is on the way out; gone in the end. */
static int unload_soon(void)
{
	int ret = 0;

	for (int k = 0; k < 300; k++) {
		ret = unload();
		if (ret != -EWOULDBLOCK)
			break;
		usleep(10000);
	}
	return ret;
}

TEST(open_file_keeps_it)
{
	int fd = dev_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EWOULDBLOCK, unload());
	close(fd);
	ASSERT_EQ(0, unload_soon());
	EXPECT_EQ(-1, open("/dev/ehunwind", O_RDWR));
	EXPECT_EQ(-ENOENT, unload());
	ASSERT_EQ(0, load());
	fd = dev_open();
	EXPECT_LE(0, fd);
}

/* This process has a registry, and lives on: what it was told of is gone. */
TEST(registry_of_a_living_process)
{
	int fd = dev_open();
	struct trace t;

	for (int k = 0; k < 3; k++) {
		add_all(fd);
		ASSERT_EQ(0, start(fd, 0, 0));
		TRACE_HERE(fd, &t);
		EXPECT_TRUE(is_complete(&t));
		EXPECT_LT(0, count_of("mms"));
		close(fd);
		ASSERT_EQ(0, unload_soon());
		ASSERT_NE(MAP_FAILED, mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
					   -1, 0));
		ASSERT_EQ(0, load());
		fd = dev_open();
		ASSERT_LE(0, fd);
		EXPECT_EQ(0, count_of("mms"));
		ASSERT_EQ(0, start(fd, 0, 0));
		TRACE_HERE(fd, &t);
		EXPECT_EQ(1, t.head.nr);
		EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, t.head.stop);
		ASSERT_EQ(0, ioctl(fd, EHUNWIND_STOP));
	}
	close(fd);
}

/*
 * A thread whose work waits: it is interrupted inside a read() that then waits for a page which only
 * this test can bring in.
 */
static int sampled_fd;
static char *buf;
static size_t size, page;

static void *reader(void *arg TH_UNUSED)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (zero < 0 || start(sampled_fd, EHUNWIND_MIN_PERIOD, 0))
		return (void *)1;
	return read(zero, buf, size) == (ssize_t)size ? NULL : (void *)1;
}

TEST_TIMEOUT(work_pending, 60)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage zero = { 0 };
	struct uffd_msg msg;
	pthread_t thread;
	void *ret;
	int uffd;

	page = (size_t)sysconf(_SC_PAGESIZE);
	size = (8 << 20) + page;
	buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, buf);
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	ASSERT_LE(0, uffd);
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_API, &api));
	reg.range.start = zero.range.start = (uintptr_t)buf + size - page;
	reg.range.len = zero.range.len = page;
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_REGISTER, &reg));

	sampled_fd = dev_open();
	ASSERT_LE(0, sampled_fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, reader, NULL));
	ASSERT_EQ((ssize_t)sizeof(msg), read(uffd, &msg, sizeof(msg)));
	EXPECT_EQ(1, count_of("queued"));
	/* The file is closed, the session gone; only the queued work is in the way. */
	close(sampled_fd);
	EXPECT_EQ(-EWOULDBLOCK, unload());
	EXPECT_EQ(1, count_of("queued"));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_NULL(ret);
	EXPECT_EQ(0, count_of("queued"));
	EXPECT_EQ(0, unload_soon());
	EXPECT_EQ(0, load());
}

TEST_HARNESS_MAIN
