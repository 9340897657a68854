/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What every sampled program needs: how long to run, and work that the compiler cannot drop.
 */
#ifndef SELFTESTS_TARGETS_TARGET_H
#define SELFTESTS_TARGETS_TARGET_H

#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned long target_sum;

/* Milliseconds of CPU time that this process has used. */
static inline long target_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The first argument is how many milliseconds of CPU time to run; 300 without one. */
static inline long target_until(int argc, char **argv)
{
	return target_ms() + (argc > 1 ? atol(argv[1]) : 300);
}

static inline void target_spin(int n)
{
	for (int k = 0; k < n; k++)
		target_sum += (unsigned long)k * target_sum + 1;
}

/* CPU time at which the last handler ended; below 0 while one is to come. */
static volatile long target_handled;

/*
 * SIGALRM a millisecond from now, if some CPU time went by since the last one. The handler says so
 * in target_handled when it ends. With a timer that goes on by itself a loaded machine would spend
 * all of the program's time in the handler.
 */
static inline void target_alarm(long now)
{
	const struct itimerval once = { { 0, 0 }, { 0, 1000 } };

	if (target_handled < 0 || now <= target_handled)
		return;
	target_handled = -1;
	setitimer(ITIMER_REAL, &once, NULL);
}

#endif /* SELFTESTS_TARGETS_TARGET_H */
