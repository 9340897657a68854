// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Calls libdw such that a fault in it ends the call, not the program.
 *
 * libdw 0.188 checks most of what a file says, and not all: damaged DWARF makes it read where
 * nothing is, or fail an assertion. What it was called for is given up then, with all that it holds:
 * nothing of it is touched any more. A child process would be cleaner, and cost a copy of each
 * answer; nothing of ours is written by libdw, so that a fault in it is the end of its own state
 * only.
 */
#include "harness/symbols_int.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static const int signals[] = { SIGSEGV, SIGFPE, SIGABRT, SIGILL };

static struct sigaction previous[EHF_ARRAY_SIZE(signals)];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool armed;
static __thread sigjmp_buf *inside;
static __thread char stack[65536];	/* for a fault that is the end of the stack itself */

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	if (inside)
		siglongjmp(*inside, sig);
	/* Not ours: what would have happened without us happens when it is tried again. */
	for (size_t k = 0; k < EHF_ARRAY_SIZE(signals); k++) {
		if (signals[k] == sig)
			sigaction(sig, &previous[k], NULL);
	}
	if (info->si_code <= 0)
		raise(sig);
}

static void arm(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigemptyset(&sa.sa_mask);
	armed = true;
	for (size_t k = 0; k < EHF_ARRAY_SIZE(signals); k++)
		armed &= !sigaction(signals[k], &sa, &previous[k]);
}

static void give_stack(void)
{
	const stack_t ours = { .ss_sp = stack, .ss_size = sizeof(stack) };
	stack_t now;

	if (!sigaltstack(NULL, &now) && now.ss_flags & SS_DISABLE)
		sigaltstack(&ours, NULL);
}

/**
 * symbols_guard() - call something that may not survive what it reads
 * @fn: called once, with @arg; calls no symbols_guard() itself. What it holds when it faults, memory
 *	and locks, is lost
 * @arg: passed to it
 *
 * The first call installs handlers for SIGSEGV, SIGFPE, SIGABRT and SIGILL; a fault elsewhere is
 * passed on to whatever was there before.
 *
 * Return: 0 where it returned, else the signal that ended it.
 */
int symbols_guard(void (*fn)(void *arg), void *arg)
{
	sigjmp_buf here;
	int sig;

	pthread_once(&once, arm);
	if (!armed) {
		fn(arg);
		return 0;
	}
	give_stack();
	sig = sigsetjmp(here, 1);
	if (!sig) {
		inside = &here;
		fn(arg);
	}
	inside = NULL;
	return sig;
}
