// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Shares the work of printing among processes, and keeps the order of what they write.
 *
 * A walk depends on the mappings that were made before its sample, and on nothing that other
 * samples did. So each job follows all processes, but walks the samples of its own blocks only;
 * there is nothing to lock. Whose turn it is to write goes round as a byte in a ring of sockets:
 * one whose other end is gone says so, and with one job all end.
 */
#include "harness/print_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct print_jobs {
	u32 nr;
	u32 own;		/* our number; 0 is the process that began */
	u64 samples;		/* that were met */
	bool has_turn;
	int from;		/* the turn comes here */
	int to;			/* and goes there */
	FILE *out;
	FILE *text;		/* of the block at hand */
	char *bytes;
	size_t size;
	pid_t *child;		/* @nr - 1 of them, in the process that began */
	struct print_jobs_sum *sum;	/* of each job, shared */
};

static void close_ends(int (*end)[2], u32 nr)
{
	for (u32 k = 0; k < nr; k++) {
		if (end[k][0] >= 0)
			close(end[k][0]);
		if (end[k][1] >= 0)
			close(end[k][1]);
	}
}

/* Keeps the two ends of the ring that are job @own's. */
static void become(struct print_jobs *j, u32 own, int (*end)[2])
{
	int *from = &end[own][0], *to = &end[(own + 1) % j->nr][1];

	j->own = own;
	j->from = *from;
	j->to = *to;
	j->has_turn = !own;
	*from = -1;
	*to = -1;
	close_ends(end, j->nr);
}

static void drop(struct print_jobs *j)
{
	if (j->text)
		fclose(j->text);
	if (j->sum)
		munmap(j->sum, j->nr * sizeof(*j->sum));
	free(j->bytes);
	free(j->child);
	free(j);
}

static bool make(struct print_jobs *j, int (*end)[2])
{
	j->text = open_memstream(&j->bytes, &j->size);
	j->child = calloc(j->nr, sizeof(*j->child));
	j->sum = mmap(NULL, j->nr * sizeof(*j->sum), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (j->sum == MAP_FAILED)
		j->sum = NULL;
	for (u32 k = 0; k < j->nr; k++)
		end[k][0] = end[k][1] = -1;
	for (u32 k = 0; k < j->nr; k++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end[k]))
			return false;
	}
	return j->text && j->child && j->sum;
}

/**
 * print_jobs_start() - become several processes
 * @nr: how many, 2 at least
 * @out: where the stacks go; nothing is waiting in it
 *
 * Each of them returns from here and does the same from here on. What is opened before is shared,
 * so open the input afterwards.
 *
 * Return: the caller's job, NULL with errno set where not all of them could be made; then there is
 * the caller alone, as before.
 */
struct print_jobs *print_jobs_start(u32 nr, FILE *out)
{
	struct print_jobs *j = calloc(1, sizeof(*j));
	int (*end)[2] = calloc(nr, sizeof(*end));
	u32 k;

	if (!j || !end) {
		free(j);
		free(end);
		return NULL;
	}
	j->nr = nr;
	j->out = out;
	if (!make(j, end))
		goto fail;
	fflush(NULL);
	for (k = 1; k < nr; k++) {
		j->child[k] = fork();
		if (j->child[k] < 0)
			goto fail;
		if (!j->child[k]) {
			become(j, k, end);
			free(end);
			return j;
		}
	}
	become(j, 0, end);
	free(end);
	return j;
fail:
	/* Those that run already get no turn, and end before they have written anything. */
	close_ends(end, nr);
	free(end);
	drop(j);
	return NULL;
}

/**
 * print_jobs_first() - is this the process that began
 * @j: the job
 *
 * Return: true there, where messages are told and the status is made.
 */
bool print_jobs_first(const struct print_jobs *j)
{
	return !j->own;
}

/**
 * print_jobs_text() - where this job's stacks are to be written
 * @j: the job
 *
 * Return: the stream, which is that of the job.
 */
FILE *print_jobs_text(struct print_jobs *j)
{
	return j->text;
}

static int take_turn(struct print_jobs *j)
{
	ssize_t n = 1;
	char byte;

	while (!j->has_turn) {
		n = read(j->from, &byte, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1)
			return -EPIPE;
		j->has_turn = true;
	}
	return 0;
}

static int pass_turn(struct print_jobs *j)
{
	ssize_t n;

	do
		n = send(j->to, "", 1, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	j->has_turn = false;
	return n == 1 ? 0 : -EPIPE;
}

/* Writes the block at hand when its turn comes. */
static int publish(struct print_jobs *j)
{
	int rc;

	if (fflush(j->text) || ferror(j->text))
		return -ENOMEM;
	rc = take_turn(j);
	if (rc)
		return rc;
	if (fwrite(j->bytes, 1, j->size, j->out) != j->size || fflush(j->out))
		return -EIO;
	rewind(j->text);
	return 0;
}

/* Is the block of sample number @n this job's? */
static bool is_own(const struct print_jobs *j, u64 n)
{
	return n / PRINT_JOBS_BLOCK % j->nr == j->own;
}

/**
 * print_jobs_sample() - a sample has been met
 * @j: the job
 * @flush: called where a block is complete: what waits elsewhere has to go to print_jobs_text()
 * @arg: passed to it
 *
 * Return: 1 where it is for this job to walk, 0 where it is for another, -EPIPE where another job
 * has failed, -EIO where the stacks cannot be written, -ENOMEM.
 */
int print_jobs_sample(struct print_jobs *j, void (*flush)(void *arg), void *arg)
{
	u64 n = j->samples++;
	int rc = 0;

	if (n && n % PRINT_JOBS_BLOCK == 0 && is_own(j, n - 1)) {
		flush(arg);
		rc = publish(j);
		/* The next job has this sample to walk, so it is there. */
		if (!rc)
			rc = pass_turn(j);
	}
	return rc ? rc : is_own(j, n);
}

/* Waits for the others and adds up what they did. */
static int gather(struct print_jobs *j, struct print_jobs_sum *sum)
{
	int rc = 0;

	for (u32 k = 1; k < j->nr; k++) {
		int status = 0;

		while (waitpid(j->child[k], &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			rc = -EPIPE;
		sum->samples += j->sum[k].samples;
		sum->untestable += j->sum[k].untestable;
	}
	return rc;
}

/**
 * print_jobs_end() - write the last block, and become one process again
 * @j: the job
 * @rc: 0, or the error that this job met
 * @flush: as for print_jobs_sample()
 * @arg: passed to it
 * @sum: what this job did; becomes what all have done
 *
 * Returns in the process that began only: the others end here.
 *
 * Return: 0, or the first error.
 */
int print_jobs_end(struct print_jobs *j, int rc, void (*flush)(void *arg), void *arg,
		   struct print_jobs_sum *sum)
{
	int theirs;

	if (!rc && j->samples && is_own(j, j->samples - 1)) {
		flush(arg);
		rc = publish(j);
	}
	j->sum[j->own] = *sum;
	if (j->own)
		_exit(rc ? 1 : 0);
	close(j->from);
	close(j->to);
	theirs = gather(j, sum);
	drop(j);
	return rc ? rc : theirs;
}
