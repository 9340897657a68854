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
/* CPU time in ms that a handler takes at least: as much as there is between two of them. */
#define TARGET_HANDLER_MS	2

/*
 * SIGALRM some milliseconds from now, if some CPU time went by since the last one. The handler says
 * so in target_handled when it ends. With a timer that goes on by itself a loaded machine would spend
 * all of the program's time in the handler. The time differs from one to the next: what samples
 * every 4 ms, and takes some of them itself, would else come between the handlers and never in one.
 */
static inline void target_alarm(long now)
{
	static unsigned int turn;
	const struct itimerval once = { { 0, 0 }, { 0, 500 + turn * 733 % 4000 } };

	if (target_handled < 0 || now <= target_handled)
		return;
	turn++;
	target_handled = -1;
	setitimer(ITIMER_REAL, &once, NULL);
}

#endif /* SELFTESTS_TARGETS_TARGET_H */
