// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Frames of every kind, traced in a kernel and compared with what the program knows of them.
 */
#include "selftests/kernel/guest.h"

#include <alloca.h>
#include <pthread.h>
#include <ucontext.h>

static int dev_fd;
static struct trace last;

static ALONE void here(void)
{
	ENTER();
	TRACE_HERE(dev_fd, &last);
	LEAVE();
}

TEST_F(dev, one_frame)
{
	dev_fd = self->fd;
	ASSERT_EQ(0, start(self->fd, 0, 0));
	ENTER();
	TRACE_HERE(self->fd, &last);
	EXPECT_WHOLE(&last);
	here();
	nr_truth++;	/* here()'s frame, as it left it */
	EXPECT_WHOLE(&last);
	nr_truth--;
	EXPECT_EQ(0, last.head.faults);
	EXPECT_LT(0, last.head.reads);
	LEAVE();
}

TEST_F(dev, each_request_has_a_cookie_of_its_own)
{
	uint64_t seen = 0;

	ASSERT_EQ(0, start(self->fd, 0, 0));
	for (int k = 0; k < 100; k++) {
		TRACE_HERE(self->fd, &last);
		EXPECT_NE(seen, last.head.cookie);
		EXPECT_EQ(1, last.head.cookie >> 32 & 1);
		seen = last.head.cookie;
	}
}

static ALONE int deep(int n)
{
	int ret;

	ENTER();
	if (n) {
		ret = deep(n - 1) + 1;
	} else {
		TRACE_HERE(dev_fd, &last);
		if (nr_truth < 500)
			EXPECT_WHOLE(&last);
		else
			EXPECT_TRUE(has_truth(&last, 1, 509));
		ret = 0;
	}
	LEAVE();
	return ret;
}

TEST_F(dev, deep_recursion)
{
	dev_fd = self->fd;
	ASSERT_EQ(0, start(self->fd, 0, 0));
	EXPECT_EQ(400, deep(400));
	EXPECT_EQ(600, deep(600));
	EXPECT_EQ(510, last.head.nr);
	EXPECT_EQ(EHF_STOP_TRACE_FULL, last.head.stop);
}

/* Frames of different sizes, with and without a frame pointer, and of unknown size. */
static ALONE __attribute__((optimize("omit-frame-pointer"))) void small_frame(void)
{
	ENTER();
	here();
	nr_truth++;
	EXPECT_WHOLE(&last);
	nr_truth--;
	LEAVE();
}

static ALONE __attribute__((optimize("omit-frame-pointer"))) void big_frame(void)
{
	char room[20000];

	ENTER();
	__asm__ volatile("" :: "r"(room) : "memory");
	small_frame();
	LEAVE();
}

static ALONE __attribute__((optimize("no-omit-frame-pointer"))) void fp_frame(void)
{
	ENTER();
	big_frame();
	LEAVE();
}

static ALONE void unknown_size(int n)
{
	char *p;

	ENTER();
	p = alloca((size_t)n);
	__asm__ volatile("" :: "r"(p) : "memory");
	fp_frame();
	LEAVE();
}

/* A stack that is aligned at run time: the CFA is saved, not computed (DRAP). */
static ALONE void aligned(int n)
{
	__attribute__((aligned(64))) char line[64];
	char *p;

	ENTER();
	truth[nr_truth - 1].cfa = 0;	/* gcc gives that of the stack as aligned */
	p = alloca((size_t)n);
	__asm__ volatile("" :: "r"(p), "r"(line) : "memory");
	unknown_size(n);
	LEAVE();
}

TEST_F(dev, with_and_without_frame_pointers_and_drap)
{
	dev_fd = self->fd;
	ASSERT_EQ(0, start(self->fd, 0, 0));
	ENTER();
	for (int n = 0; n < 100; n += 7)
		aligned(n);
	LEAVE();
}

#if defined(__x86_64__)
#define UC_IP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[REG_RIP])
#define UC_SP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[REG_RSP])
#elif defined(__i386__)
#define UC_IP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[REG_EIP])
#define UC_SP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[REG_ESP])
#else
#define UC_IP(uc) ((uintptr_t)(uc)->uc_mcontext.psw.addr)
#define UC_SP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[15])
#endif

static volatile int handled;

/* What interrupted the program is entry 2: the handler, its trampoline, that. */
static ALONE void on_signal(int sig TH_UNUSED, siginfo_t *info TH_UNUSED, void *context)
{
	ucontext_t *uc = context;

	TRACE_HERE(dev_fd, &last);
	ASSERT_LT(3, last.head.nr);
	EXPECT_EQ((uintptr_t)__builtin_return_address(0), last.entry[1].ip);
	EXPECT_EQ(UC_IP(uc), last.entry[2].ip);
	EXPECT_EQ(UC_SP(uc), last.entry[2].sp);
	EXPECT_TRUE(last.entry[2].flags & 2);	/* no return address */
	EXPECT_TRUE(is_complete(&last)) {
		print_trace(&last);
	}
	handled++;
}

static ALONE void interrupted(void)
{
	pid_t pid = getpid();

	ENTER();
	kill(pid, SIGUSR1);
	/* Between it and us: kill(), and in a 32-bit program the vDSO that it enters the kernel by. */
	EXPECT_TRUE(has_truth(&last, 4, nr_truth) || has_truth(&last, 5, nr_truth)) {
		print_trace(&last);
	}
	LEAVE();
}

TEST_F(dev, signal_handler)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	dev_fd = self->fd;
	ASSERT_EQ(0, start(self->fd, 0, 0));
	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	interrupted();
	EXPECT_EQ(1, handled);
}

TEST_F(dev, signal_handler_on_a_stack_of_its_own)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t ss = { .ss_size = 256 * 1024 };

	/* Above the stack that was interrupted, and below it. */
	ss.ss_sp = mmap(NULL, ss.ss_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, ss.ss_sp);
	dev_fd = self->fd;
	ASSERT_EQ(0, start(self->fd, 0, 0));
	ASSERT_EQ(0, sigaltstack(&ss, NULL));
	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	interrupted();
	EXPECT_EQ(1, handled);
}

/* Work with prologues, epilogues and leaves for interrupts to hit. */
static ALONE unsigned int leaf(unsigned int x)
{
	return x * 2654435761U ^ x >> 7;
}

static ALONE unsigned int middle(unsigned int x)
{
	unsigned int a = leaf(x), b = leaf(a + 1);

	__asm__ volatile("" : "+r"(a), "+r"(b));
	return leaf(a ^ b) + a + b;
}

/* Not through the PLT, which has no CFI on s390x. */
static long (*volatile sys)(long nr, ...) = syscall;

/* Interrupted from its START to its STOP: every sample is from inside. */
static ALONE int sampled(int fd, int ms)
{
	struct timespec a, b;
	unsigned int x = 1;

	ENTER();
	if (start(fd, 200000, 0))
		return -1;
	/* Not by the vDSO: the 32-bit one has no CFI for this. */
	sys(SYS_clock_gettime, CLOCK_MONOTONIC, &a);
	do {
		for (int k = 0; k < 2000; k++)
			x = middle(x);
		sys(SYS_clock_gettime, CLOCK_MONOTONIC, &b);
	} while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < ms);
	__asm__ volatile("" :: "r"(x));
	if (sys(SYS_ioctl, fd, EHUNWIND_STOP))
		return -1;
	LEAVE();
	return 0;
}

static ALONE int outer(int fd, int ms)
{
	int ret;

	ENTER();
	ret = sampled(fd, ms);
	LEAVE();
	return ret;
}

/* The frames around sampled(), wherever in it the sample was taken. Counts the frames. */
static int check_samples(int fd, int *nr)
{
	struct trace t;
	int bad = 0;

	nr_truth += 2;
	while (next_trace(fd, &t)) {
		uint32_t k = 0;

		(*nr)++;
		while (k < t.head.nr && t.entry[k].ip != truth[nr_truth - 1].ra)
			k++;
		if (k == t.head.nr || k > 4 || !has_truth(&t, k, nr_truth) || !is_complete(&t)) {
			if (!bad++)
				print_trace(&t);
		}
	}
	nr_truth -= 2;
	return bad;
}

TEST_F(dev, samples)
{
	int nr = 0;

	ENTER();
	ASSERT_EQ(0, outer(self->fd, 500));
	EXPECT_EQ(0, check_samples(self->fd, &nr));
	EXPECT_LT(30, nr);
	TH_LOG("%d samples", nr);
	LEAVE();
}

struct worker {
	pthread_t thread;
	int fd;
	int ret, bad, nr;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	ENTER();
	w->fd = dev_open();
	w->ret = outer(w->fd, 400);
	w->bad = check_samples(w->fd, &w->nr);
	close(w->fd);
	LEAVE();
	return NULL;
}

TEST_F_TIMEOUT(dev, threads, 60)
{
	struct worker w[4] = { { 0 } };

	for (int k = 0; k < 4; k++)
		ASSERT_EQ(0, pthread_create(&w[k].thread, NULL, work, &w[k]));
	for (int k = 0; k < 4; k++) {
		ASSERT_EQ(0, pthread_join(w[k].thread, NULL));
		EXPECT_EQ(0, w[k].ret);
		EXPECT_EQ(0, w[k].bad);
		EXPECT_LT(5, w[k].nr);
	}
}

/* Two who ask for the same thread: one walk, one cookie, two records. */
TEST_F(dev, two_requesters_share_a_walk)
{
	int other = dev_open();
	struct trace a, b;
	int shared = 0, nr = 0;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, start(other, 100000, 0));
	ASSERT_EQ(0, outer(self->fd, 300));
	ASSERT_EQ(0, ioctl(other, EHUNWIND_STOP));
	while (next_trace(self->fd, &a))
		nr++;
	ASSERT_LT(3, nr);
	close(self->fd);
	self->fd = dev_open();
	ASSERT_EQ(0, start(self->fd, 0, 0));
	TRACE_HERE(self->fd, &a);
	while (next_trace(other, &b))
		shared++;
	EXPECT_LT(3, shared);
	close(other);
}

TEST_HARNESS_MAIN
