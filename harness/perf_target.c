// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A command that waits, forked but not executed, until its events are open. */

#define _GNU_SOURCE
#include "harness/perf_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Runs in the child. */
static void wait_and_exec(int go, int report, char *const argv[], const sigset_t *mask)
{
	char byte;
	ssize_t n;
	int status;

	do {
		n = read(go, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);	/* the parent gave up, or is gone */
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	status = errno;
	n = write(report, &status, sizeof(status));
	_exit(n == sizeof(status) ? 127 : 126);
}

/**
 * perf_target_fork() - fork the command, which then waits
 * @t: filled
 * @argv: command and arguments, ended by NULL; the name is searched in PATH as a shell does
 * @mask: signal mask that the command starts with
 *
 * Return: 0 or a negative errno.
 */
int perf_target_fork(struct perf_target *t, char *const argv[], const sigset_t *mask)
{
	int go[2];
	int report[2];
	pid_t pid;

	*t = (struct perf_target){ .go = -1, .report = -1 };
	/* A socket: writing to a child that is gone must not end us with SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		int rc = -errno;

		close(go[0]);
		close(go[1]);
		return rc;
	}
	fflush(NULL);		/* or the child would have our unwritten output as well */
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(report[0]);
		wait_and_exec(go[0], report[1], argv, mask);
	}
	if (pid < 0) {
		int rc = -errno;

		close(go[1]);
		close(report[0]);
		close(go[0]);
		close(report[1]);
		return rc;
	}
	close(go[0]);
	close(report[1]);
	*t = (struct perf_target){ .pid = pid, .go = go[1], .report = report[0] };
	return 0;
}

/**
 * perf_target_start() - let the command go
 * @t: forked child
 *
 * Returns when the command runs or could not be executed.
 *
 * Return: 0, or the errno of execve(), positive; then the child is gone and reaped.
 */
int perf_target_start(struct perf_target *t)
{
	int status = 0;
	int ignored;
	ssize_t n;

	do {
		n = send(t->go, "", 1, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	close_fd(&t->go);
	do {
		n = read(t->report, &status, sizeof(status));
	} while (n < 0 && errno == EINTR);
	close_fd(&t->report);
	if (n != sizeof(status))
		return 0;
	waitpid(t->pid, &ignored, 0);
	t->pid = 0;
	return status;
}

/**
 * perf_target_reap() - look whether the command has ended
 * @t: child
 * @wait_status: as from waitpid(), when it has; 0 where the system threw it away
 *
 * Return: true if it has ended.
 */
bool perf_target_reap(struct perf_target *t, int *wait_status)
{
	pid_t rc;

	if (!t->pid)
		return true;
	rc = waitpid(t->pid, wait_status, WNOHANG);
	if (!rc || (rc < 0 && errno != ECHILD))
		return false;
	/* Who was started with SIGCHLD ignored has no child left to ask. */
	if (rc < 0)
		*wait_status = 0;
	t->pid = 0;
	return true;
}

/**
 * perf_target_end() - end the command if it still runs
 * @t: child; zeroed or ended is fine
 *
 * It gets SIGTERM and half a second; one that stays is left alone, as perf does. A child that
 * was never started leaves by itself.
 */
void perf_target_end(struct perf_target *t)
{
	int status;

	if (t->pid && t->go < 0)
		kill(t->pid, SIGTERM);
	if (t->pid) {
		close_fd(&t->go);
		close_fd(&t->report);
	}
	for (int i = 0; i < 50 && !perf_target_reap(t, &status); i++)
		usleep(10000);
	t->pid = 0;
}

/**
 * perf_target_explain() - say in the shell's words why a command could not be executed
 * @status: errno of execve()
 * @name: the command
 * @err: filled
 */
void perf_target_explain(int status, const char *name, struct perf_error *err)
{
	const char *text = status == ENOENT || status == ENOTDIR ? "not found" : strerror(status);

	err->status = status;
	err->pos = 0;
	snprintf(err->text, sizeof(err->text), "%.250s: %s", name, text);
}
