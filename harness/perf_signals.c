// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Signals are read, not handled: nothing of ours runs in signal context.
 */
#include "harness/perf_signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

/**
 * perf_signals_catch() - block the interrupts and SIGCHLD, and open a descriptor for them
 * @fd: set to a signalfd, or below 0 where that failed
 * @old_mask: the mask that was there before, which a target gets
 *
 * What our caller had us ignore (nohup, a shell's background job) stays ignored.
 *
 * Return: 0 or a negative errno value.
 */
int perf_signals_catch(int *fd, sigset_t *old_mask)
{
	static const int interrupts[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (u32 i = 0; i < EHF_ARRAY_SIZE(interrupts); i++) {
		if (!sigaction(interrupts[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(&mask, interrupts[i]);
	}
	if (sigprocmask(SIG_BLOCK, &mask, old_mask))
		return -errno;
	*fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return *fd < 0 ? -errno : 0;
}

/**
 * perf_signals_read() - read what has come
 * @fd: the descriptor
 * @last: set to the last interrupt's number, if there was one
 *
 * Return: how many interrupts have come; SIGCHLD is none.
 */
u32 perf_signals_read(int fd, int *last)
{
	struct signalfd_siginfo info;
	u32 nr = 0;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		*last = (int)info.ssi_signo;
		nr++;
	}
	return nr;
}
