// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Unloading the module: refused while a file is open or a work is queued, clean afterwards, with
 * registries of living processes in it.
 */
#include "selftests/kernel/guest.h"

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

/* A thread that is interrupted inside a long system call: its work waits for the call's end. */
static int sampled_fd;
static volatile int reading, stop_reading;

static void *reader(void *arg TH_UNUSED)
{
	size_t size = 64 << 20;
	char *buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int zero = open("/dev/zero", O_RDONLY);

	if (start(sampled_fd, EHUNWIND_MIN_PERIOD, 0))
		return (void *)1;
	while (!stop_reading) {
		reading = 1;
		if (read(zero, buf, size) < 0)
			return (void *)1;
		reading = 0;
		madvise(buf, size, MADV_DONTNEED);
	}
	return NULL;
}

TEST_TIMEOUT(work_pending, 60)
{
	int refused = 0, gone = 0, rounds = 0;

	for (; rounds < 20 && (refused < 2 || rounds < 3); rounds++) {
		pthread_t thread;
		int ret;

		sampled_fd = dev_open();
		ASSERT_LE(0, sampled_fd);
		reading = stop_reading = 0;
		ASSERT_EQ(0, pthread_create(&thread, NULL, reader, NULL));
		for (int k = 0; k < 2000 && !(reading && count_of("queued") > 0); k++)
			;
		close(sampled_fd);
		/* The file is closed; only the queued work is in the way. */
		ret = unload();
		EXPECT_TRUE(ret == 0 || ret == -EWOULDBLOCK);
		refused += ret == -EWOULDBLOCK;
		gone += ret == 0;
		if (ret)
			EXPECT_EQ(0, unload_soon());
		stop_reading = 1;
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_EQ(0, load());
	}
	EXPECT_LT(0, refused);
	TH_LOG("%d rounds: refused with work pending %d times", rounds, refused);
}

TEST_HARNESS_MAIN
