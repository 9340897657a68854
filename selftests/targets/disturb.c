// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a traced program may do with signals, traps and mappings, each checked by itself: the status
 * is 0 where all came as without a tracer. SIGUSR2 ends it before its time.
 *
 * disturb MS WHAT
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

static volatile int got, user, other, wrong;
static volatile uint64_t data;
static volatile long until;

static __attribute__((noinline)) void work(void)
{
	while (target_ms() < until)
		target_spin(2000);
}

/* ---- traps of its own ---- */

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	got++;
	if (info->si_code == SI_USER || info->si_code == SI_TKILL)
		user++;
	else
		other++;
}

static int handle(int sig, void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = fn, .sa_flags = SA_SIGINFO };

	return sigaction(sig, &sa, NULL);
}

static int raises(void)
{
	if (handle(SIGTRAP, on_trap))
		return 2;
	for (int k = 0; target_ms() < until || k < 20; k++) {
		target_spin(20000);
		if (k < 20) {
			raise(SIGTRAP);
#if defined(__x86_64__) || defined(__i386__)
			__asm__ volatile("int3");
#else
			other++;
			got++;
#endif
		}
	}
	return !(user == 20 && other == 20 && got == 40);
}

/* The trap flag: a trap behind each instruction until it is cleared. */
static int steps(void)
{
	if (handle(SIGTRAP, on_trap))
		return 2;
	for (int k = 0; target_ms() < until || k < 20; k++) {
		target_spin(20000);
#if defined(__x86_64__)
		if (k < 20)
			__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
					 "pushf; orl $0x100, (%%rsp); popf\n\t"
					 "nop; nop\n\t"
					 "pushf; andl $~0x100, (%%rsp); popf\n\t"
					 "lea 128(%%rsp), %%rsp" ::: "memory", "cc");
#else
		other += 5;
#endif
	}
	return !(other >= 20 * 4 && !user);
}

static int blocks(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return 2;
	work();
	return 0;
}

/*
 * Blocked for a while only: the trap waits, and must not reach the program when it comes. Long
 * enough for a trap, and too short for a tool to say that nothing ever comes.
 */
static int unblocks(void)
{
	sigset_t set;

	if (handle(SIGTRAP, on_trap))
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	while (target_ms() < until) {
		sigprocmask(SIG_BLOCK, &set, NULL);
		target_spin(250000);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		target_spin(250000);
	}
	return got;
}

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

static void on_own_event(int sig, siginfo_t *info, void *context)
{
	uint64_t d;

	(void)sig;
	(void)context;
	memcpy(&d, (const char *)info + 24, sizeof(d));
	if (info->si_code == TRAP_PERF && d == 4711)
		got++;
	else
		wrong++;
}

/* An event with sigtrap of its own: its traps are its own. */
static int own_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 3000000, .exclude_kernel = 1, .sigtrap = 1, .remove_on_exec = 1,
		.sig_data = 4711,
	};

	if (handle(SIGTRAP, on_own_event) || syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
		return 77;
	work();
	return !(got > 3 && !wrong);
}

/* ---- other signals ---- */

static void on_value(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	got++;
	if (info->si_code != SI_QUEUE || info->si_pid != getpid() ||
	    info->si_value.sival_int != got)
		wrong++;
}

static int values(void)
{
	if (handle(SIGRTMIN + 3, on_value))
		return 2;
	for (int k = 1; k <= 50 || target_ms() < until; k++) {
		union sigval v = { .sival_int = k };

		sigqueue(getpid(), SIGRTMIN + 3, v);
		target_spin(2000);
		if (got != k)
			return 1;
	}
	return wrong;
}

/* A child stops itself; its parent sees that, and has it go on. */
static int stops(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int k = 0; k < 3; k++) {
			target_spin(3000000);
			raise(k == 1 ? SIGTSTP : SIGSTOP);
		}
		_exit(42);
	}
	for (int k = 0; k < 3; k++) {
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
		    WSTOPSIG(status) != (k == 1 ? SIGTSTP : SIGSTOP))
			return 1;
		usleep(20000);
		if (waitpid(pid, &status, WUNTRACED | WNOHANG))
			return 3;	/* it did not stay stopped */
		kill(pid, SIGCONT);
	}
	work();
	return !(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void *spin_thread(void *arg)
{
	work();
	return arg;
}

/* System calls that sleep are not cut short by the stops of the other thread, nor by our own. */
static int sleeps(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, spin_thread, NULL))
		return 2;
	while (target_ms() < until) {
		struct timespec t = { .tv_nsec = 3000000 };

		target_spin(1000000);
		if (nanosleep(&t, NULL))
			wrong++;
	}
	pthread_join(thread, NULL);
	return wrong;
}

/* ---- mappings, programs, ends ---- */

static void *map_thread(void *arg)
{
	while (target_ms() < until) {
		void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			continue;
		memset(p, 1, 8192);
		mprotect(p, 4096, PROT_READ | PROT_EXEC);
		munmap(p, 1 << 20);
	}
	return arg;
}

static int maps(void)
{
	pthread_t thread[2];

	for (int k = 0; k < 2; k++)
		if (pthread_create(&thread[k], NULL, map_thread, NULL))
			return 2;
	work();
	for (int k = 0; k < 2; k++)
		pthread_join(thread[k], NULL);
	return 0;
}

static char *self;

static void *exec_thread(void *arg)
{
	char ms[32];

	snprintf(ms, sizeof(ms), "%ld", (long)(intptr_t)arg);
	target_spin(3000000);
	execl(self, self, ms, "work", (char *)NULL);
	_exit(127);
}

/* Another thread than the first executes a program while others run. */
static int execs(long ms)
{
	pthread_t thread[3];

	for (int k = 0; k < 2; k++)
		pthread_create(&thread[k], NULL, spin_thread, NULL);
	pthread_create(&thread[2], NULL, exec_thread, (void *)(intptr_t)ms);
	work();
	pause();
	return 1;
}

/* The first thread ends, the others go on. */
static int leader_ends(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, spin_thread, NULL))
		return 2;
	pthread_detach(thread);
	target_spin(3000000);
	pthread_exit(NULL);
}

static void on_enough(int sig)
{
	(void)sig;
	until = 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	self = argv[0];
	until = target_until(argc, argv);
	signal(SIGUSR2, on_enough);
	if (!strcmp(what, "raises"))
		return raises();
	if (!strcmp(what, "steps"))
		return steps();
	if (!strcmp(what, "blocks"))
		return blocks();
	if (!strcmp(what, "unblocks"))
		return unblocks();
	if (!strcmp(what, "own-event"))
		return own_event();
	if (!strcmp(what, "values"))
		return values();
	if (!strcmp(what, "stops"))
		return stops();
	if (!strcmp(what, "sleeps"))
		return sleeps();
	if (!strcmp(what, "maps"))
		return maps();
	if (!strcmp(what, "execs"))
		return execs(atol(argv[1]));
	if (!strcmp(what, "leader-ends"))
		return leader_ends();
	work();
	if (!strcmp(what, "killed"))
		kill(getpid(), SIGKILL);
	return !strcmp(what, "status-7") ? 7 : 0;
}
