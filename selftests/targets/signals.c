// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A signal handler that works hard, interrupting leaves, libc and the vDSO; with a second
 * argument on an alternate stack that lies in .bss.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "target.h"

static char stack[64 << 10];

static __attribute__((noinline)) void in_handler(int depth)
{
	volatile int d = depth;

	if (d)
		in_handler(d - 1);
	else
		target_spin(120000);
	target_sum += (unsigned long)d;
}

static void on_alarm(int sig)
{
	long until = target_ms() + TARGET_HANDLER_MS;

	do
		in_handler(sig % 5 + 2);
	while (target_ms() < until);
	target_handled = target_ms();
}

static __attribute__((noinline)) void work(void)
{
	char text[200];
	struct timespec t;

	for (int k = 0; k < 200; k++) {
		snprintf(text, sizeof(text), "%d %s %.3f", k, "some text", k / 3.0);
		target_sum += strlen(text);
		clock_gettime(CLOCK_MONOTONIC, &t);
	}
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv), now;
	struct sigaction sa = { .sa_handler = on_alarm };

	if (argc > 2) {
		stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

		sigaltstack(&ss, NULL);
		sa.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGALRM, &sa, NULL);
	while ((now = target_ms()) < until) {
		target_alarm(now);
		work();
	}
	return 0;
}
