// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Forks, works, waits; what the child finds comes back in memory that both have.
 */
#include "harness/bench_child.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * bench_child() - run something in a process of its own, and wait for it
 * @work: what; returns false where it failed
 * @arg: for it; what it writes is lost, but for bench_child_room()
 * @usage: what the kernel counted for the process; NULL where nobody asks
 *
 * Return: whether it was done.
 */
bool bench_child(bool (*work)(void *arg), void *arg, struct rusage *usage)
{
	int status = 0;
	pid_t pid, ended;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(!work(arg));
	if (pid < 0)
		return false;
	do {
		ended = wait4(pid, &status, 0, usage);
	} while (ended < 0 && errno == EINTR);
	return ended == pid && !status;
}

/**
 * bench_child_room() - memory that a process shares with its children
 * @size: bytes
 *
 * Return: zeroed memory, for munmap(); NULL where there is none.
 */
void *bench_child_room(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}
