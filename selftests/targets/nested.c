// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Handlers with three arguments, one interrupting the other, with a second argument on an
 * alternate stack; below them leaves, tail calls, alloca and aligned locals.
 */
#include <alloca.h>
#include <signal.h>
#include <string.h>

#include "target.h"

static char stack[256 << 10];

static __attribute__((noinline)) long leaf(long n)
{
	long sum = 0;

	for (long k = 0; k < n; k++)
		sum += sum * k + 3;
	return sum;
}

static __attribute__((noinline, optimize("optimize-sibling-calls"))) long tail(long n)
{
	target_sum += (unsigned long)n;
	return leaf(n + (long)(target_sum & 1));
}

static __attribute__((noinline)) long with_alloca(long n)
{
	char *room = alloca((size_t)(n & 255) + 16);

	memset(room, (int)n, 16);
	return tail(20000) + room[n & 15];
}

static __attribute__((noinline)) long aligned(long n)
{
	_Alignas(128) volatile char room[256];

	room[n & 255] = (char)n;
	return with_alloca(n) + room[n & 255];
}

static void on_inner(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	target_sum += (unsigned long)aligned(sig);
}

static void on_outer(int sig, siginfo_t *info, void *context)
{
	long until = target_ms() + TARGET_HANDLER_MS;

	(void)info, (void)context;
	do {
		leaf(30000);
		raise(SIGUSR1);
	} while (target_ms() < until);
	target_sum += (unsigned long)sig;
	target_handled = target_ms();
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv), now;
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	if (argc > 2) {
		stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

		sigaltstack(&ss, NULL);
		sa.sa_flags |= SA_ONSTACK;
	}
	sa.sa_sigaction = on_inner;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_sigaction = on_outer;
	sigaction(SIGALRM, &sa, NULL);
	while ((now = target_ms()) < until) {
		target_alarm(now);
		target_sum += (unsigned long)aligned((long)target_sum);
	}
	return 0;
}
