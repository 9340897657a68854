// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * fork, exec and exit, at rest and with work pending.
 */
#include "selftests/kernel/guest.h"

#include <pthread.h>

static struct trace last;

/* Status of a child. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Grace periods pass before what is gone is gone. */
static long long settles(const char *name, long long want)
{
	for (int k = 0; k < 300 && count_of(name) != want; k++)
		usleep(10000);
	return count_of(name);
}

TEST_F(dev, forked_child_has_its_parents_sections)
{
	long long copied = count_of("copied");
	pid_t pid;

	ASSERT_EQ(0, start(self->fd, 0, 0));
	ENTER();
	pid = fork();
	if (!pid) {
		int fd = dev_open();

		ASSERT_EQ(0, start(fd, 0, 0));
		TRACE_HERE(fd, &last);
		EXPECT_WHOLE(&last);
		_exit(_metadata->failed);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(copied + 1, count_of("copied"));
	/* A thread of the parent is no thread of the child: the file knows it not. */
	pid = fork();
	if (!pid) {
		uint64_t cookie;
		uintptr_t ip;

		_exit(ask(self->fd, &cookie, &ip) != -ENOENT);
	}
	EXPECT_EQ(0, wait_for(pid));
	TRACE_HERE(self->fd, &last);
	EXPECT_WHOLE(&last);
	LEAVE();
}

/* The child removes and unmaps what it likes: it has a registry of its own. */
TEST_F(dev, childs_registry_is_its_own)
{
	pid_t pid;

	ASSERT_EQ(0, start(self->fd, 0, 0));
	ENTER();
	pid = fork();
	if (!pid) {
		for (uint64_t handle = 0; handle < 100000; handle++)
			ioctl(self->fd, EHUNWIND_REMOVE, &handle);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	TRACE_HERE(self->fd, &last);
	EXPECT_WHOLE(&last);
	LEAVE();
}

/* What exec starts knows nothing of what was before. */
TEST_F(dev, exec_starts_empty)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "after_exec", "--after-exec", NULL);
		_exit(99);
	}
	EXPECT_EQ(0, wait_for(pid));
}

static int after_exec(void)
{
	uint64_t cookie;
	uintptr_t ip;
	int fd = dev_open();

	if (fd < 0 || start(fd, 0, 0) || ask(fd, &cookie, &ip) || !next_trace(fd, &last))
		return 1;
	if (last.head.nr != 1 || last.head.stop != EHF_STOP_PC_NOT_IN_MODULE ||
	    last.entry[0].ip != ip)
		return 2;
	add_all(fd);
	if (ask(fd, &cookie, &ip) || !next_trace(fd, &last))
		return 3;
	return is_complete(&last) && last.entry[0].ip == ip ? 0 : 4;
}

/* Interrupts until the very end of the child. */
static void spin_in_child(int fd, uint64_t period_ns, unsigned int turns)
{
	volatile unsigned int x = 0;

	start(fd, period_ns, 0);
	while (x < turns)
		x++;
}

TEST_F_TIMEOUT(dev, exit_with_work_pending, 60)
{
	long long interrupts = count_of("interrupts");

	for (unsigned int k = 0; k < 30; k++) {
		pid_t pid = fork();

		if (!pid) {
			int fd = dev_open();

			spin_in_child(fd, EHUNWIND_MIN_PERIOD, 1000 * (k % 7));
			if (k & 1)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		wait_for(pid);
	}
	EXPECT_LT(interrupts + 15, count_of("interrupts"));
	EXPECT_EQ(0, settles("queued", 0));
	EXPECT_EQ(0, settles("threads", 0));
}

/*
 * One counter in the old program, and the same one in the new: not so fast that an emulated
 * machine does nothing but walk.
 */
TEST_F_TIMEOUT(dev, exec_with_work_pending, 60)
{
	long long interrupts = count_of("interrupts");

	for (unsigned int k = 0; k < 16; k++) {
		int fd = open("/dev/ehunwind", O_RDWR);	/* not closed by exec */
		pid_t pid = fork();

		ASSERT_LE(0, fd);
		if (!pid) {
			add_all(fd);
			spin_in_child(fd, 300000, 1000 * (k % 7));
			execl("/proc/self/exe", "spin", "--spin", NULL);
			_exit(99);
		}
		EXPECT_EQ(0, wait_for(pid));
		while (next_trace(fd, &last))
			EXPECT_EQ(pid, last.head.pid);
		close(fd);
	}
	EXPECT_LT(interrupts + 16, count_of("interrupts"));
	EXPECT_EQ(0, settles("queued", 0));
	EXPECT_EQ(0, settles("threads", 0));
}

/* Threads that exit while others of the process go on, and the file stays open. */
static void *short_life(void *arg)
{
	spin_in_child(*(int *)arg, EHUNWIND_MIN_PERIOD, 3000);
	return NULL;
}

TEST_F_TIMEOUT(dev, threads_that_exit_make_room, 60)
{
	for (int k = 0; k < EHUNWIND_MAX_THREADS + 20; k++) {
		pthread_t t;

		ASSERT_EQ(0, pthread_create(&t, NULL, short_life, &self->fd));
		ASSERT_EQ(0, pthread_join(t, NULL));
	}
	ASSERT_EQ(0, start(self->fd, 0, 0));
	EXPECT_LE(count_of("threads"), EHUNWIND_MAX_THREADS);
}

/* Requesters are limited, and the limit goes with them. */
TEST_F(dev, sixty_two_requesters)
{
	int fds[62], nr = 0;

	while (nr < 61 && (fds[nr] = dev_open()) >= 0)
		nr++;
	EXPECT_EQ(61, nr);	/* and the fixture's */
	EXPECT_EQ(-1, open("/dev/ehunwind", O_RDWR));
	EXPECT_EQ(EBUSY, errno);
	while (nr--)
		close(fds[nr]);
	fds[0] = dev_open();
	EXPECT_LE(0, fds[0]);
}

/* A reader that does not read: records are counted, not kept. */
TEST_F_TIMEOUT(dev, records_that_nobody_reads, 60)
{
	uint64_t cookie, lost = 0;
	uintptr_t ip;
	int nr = 0;

	ASSERT_EQ(0, start(self->fd, 0, 0));
	for (int k = 0; k < 20000; k++)
		ASSERT_EQ(0, ask(self->fd, &cookie, &ip));
	while (next_trace(self->fd, &last)) {
		nr++;
		lost += last.head.lost;
	}
	ASSERT_EQ(0, ask(self->fd, &cookie, &ip));
	ASSERT_TRUE(next_trace(self->fd, &last));
	lost += last.head.lost;
	EXPECT_EQ(20000, nr + (int)lost);
	EXPECT_LT(0, lost);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--after-exec"))
		return after_exec();
	if (argc == 2 && !strcmp(argv[1], "--spin")) {
		volatile unsigned int x = 0;

		while (x < 3000)
			x++;
		return 0;
	}
	return th_main(argc, argv);
}
