// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sleep until one of many descriptors has something: io_uring, or poll(2) where it is refused. */

#include "harness/perf_wait.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>

struct perf_wait {
	struct io_uring ring;
	bool io_uring;
	int refused;		/* errno of io_uring_setup() */
	u32 nr;
	struct pollfd fds[];	/* fd -1: the other end is closed, do not look again */
};

static int arm(struct perf_wait *w, u32 i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&w->ring);

	if (!sqe) {
		io_uring_submit(&w->ring);
		sqe = io_uring_get_sqe(&w->ring);
	}
	if (!sqe)
		return -EBUSY;
	io_uring_prep_poll_multishot(sqe, w->fds[i].fd, POLLIN);
	io_uring_sqe_set_data64(sqe, i);
	return 0;
}

static int setup(struct perf_wait *w)
{
	u32 entries = 64;
	int rc;

	while (entries < w->nr && entries < 4096)
		entries *= 2;
	rc = io_uring_queue_init(entries, &w->ring, 0);
	if (rc)
		return rc;
	for (u32 i = 0; i < w->nr && !rc; i++)
		rc = arm(w, i);
	if (!rc) {
		rc = io_uring_submit(&w->ring);
		rc = rc < 0 ? rc : 0;
	}
	if (rc)
		io_uring_queue_exit(&w->ring);
	return rc;
}

/**
 * perf_wait_new() - watch descriptors for input
 * @fds: descriptors, stay the caller's
 * @nr: their number
 * @io_uring: try io_uring; else poll(2) at once
 *
 * Return: the watch, NULL without memory.
 */
struct perf_wait *perf_wait_new(const int *fds, u32 nr, bool io_uring)
{
	struct perf_wait *w = calloc(1, sizeof(*w) + nr * sizeof(w->fds[0]));

	if (!w)
		return NULL;
	w->nr = nr;
	for (u32 i = 0; i < nr; i++)
		w->fds[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (io_uring) {
		w->refused = -setup(w);
		w->io_uring = !w->refused;
	}
	return w;
}

/**
 * perf_wait_free() - end the watch
 * @w: watch or NULL
 */
void perf_wait_free(struct perf_wait *w)
{
	if (!w)
		return;
	if (w->io_uring)
		io_uring_queue_exit(&w->ring);
	free(w);
}

/**
 * perf_wait_refused() - why io_uring is not used though it was asked for
 * @w: watch
 *
 * Return: errno, 0 if it was not refused.
 */
int perf_wait_refused(const struct perf_wait *w)
{
	return w->refused;
}

/**
 * perf_wait_all_closed() - whether nothing can come any more
 * @w: watch
 * @nr: look at the first @nr descriptors
 *
 * Return: true if the other ends of all of them are closed.
 */
bool perf_wait_all_closed(const struct perf_wait *w, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (w->fds[i].fd >= 0)
			return false;
	}
	return true;
}

/* Multishot requests stay armed as long as F_MORE is set; a closed end would fire for ever. */
static int take_completions(struct perf_wait *w)
{
	struct io_uring_cqe *cqe;
	unsigned int head;
	u32 taken = 0;
	bool armed = false;

	io_uring_for_each_cqe(&w->ring, head, cqe) {
		u64 i = io_uring_cqe_get_data64(cqe);

		taken++;
		if (i >= w->nr || w->fds[i].fd < 0)
			continue;
		if (cqe->res < 0 || cqe->res & (POLLHUP | POLLERR)) {
			w->fds[i].fd = -1;
		} else if (!(cqe->flags & IORING_CQE_F_MORE)) {
			if (arm(w, (u32)i))
				w->fds[i].fd = -1;
			armed = true;
		}
	}
	io_uring_cq_advance(&w->ring, taken);
	if (armed)
		io_uring_submit(&w->ring);
	return (int)taken;
}

/**
 * perf_wait_for() - sleep
 * @w: watch
 * @timeout_ms: at most this long, milliseconds
 *
 * Return: greater than 0 if something happened, 0 after the time, or a negative errno
 *         other than -EINTR, which counts as something.
 */
int perf_wait_for(struct perf_wait *w, u32 timeout_ms)
{
	struct __kernel_timespec ts = {
		.tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000ll,
	};
	struct io_uring_cqe *cqe;
	int rc;

	if (w->io_uring) {
		rc = io_uring_wait_cqe_timeout(&w->ring, &cqe, &ts);
		if (rc == -ETIME)
			return 0;
		if (rc == -EINTR)
			return 1;
		return rc < 0 ? rc : take_completions(w);
	}
	rc = poll(w->fds, w->nr, (int)timeout_ms);
	if (rc < 0)
		return errno == EINTR ? 1 : -errno;
	for (u32 i = 0; i < w->nr; i++) {
		if (w->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			w->fds[i].fd = -1;
	}
	return rc;
}
