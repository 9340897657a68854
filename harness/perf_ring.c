// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* perf_event_open() and the ring buffer behind it. */

#include "harness/perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * perf_ring_event() - open one event
 * @attr: what to sample; the kernel writes the size it knows to it on E2BIG
 * @pid: thread
 * @cpu: CPU
 *
 * Return: descriptor, or a negative errno.
 */
int perf_ring_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/**
 * perf_ring_map() - map the ring buffer of an event
 * @r: ring, filled
 * @fd: event, stays the caller's
 * @data_size: bytes for records: a power of two, at least a page
 *
 * Return: 0 or a negative errno: -EPERM past the memory an unprivileged user may lock.
 */
int perf_ring_map(struct perf_ring *r, int fd, size_t data_size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map;

	memset(r, 0, sizeof(*r));
	r->bounce = malloc(PERF_ABI_MAX_RECORD);
	if (!r->bounce)
		return -ENOMEM;
	map = mmap(NULL, page + data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int rc = -errno;

		free(r->bounce);
		r->bounce = NULL;
		return rc;
	}
	r->fd = fd;
	r->map = map;
	r->map_size = page + data_size;
	/* Kernels before 4.1 leave data_offset at 0. */
	r->data = (const u8 *)map + (r->map->data_offset ? r->map->data_offset : page);
	r->data_size = data_size;
	return 0;
}

/**
 * perf_ring_unmap() - give a ring buffer back
 * @r: ring, mapped or zeroed
 */
void perf_ring_unmap(struct perf_ring *r)
{
	if (r->map)
		munmap(r->map, r->map_size);
	free(r->bounce);
	memset(r, 0, sizeof(*r));
}

static void copy_out(const struct perf_ring *r, u64 pos, void *to, size_t len)
{
	size_t at = pos & (r->data_size - 1);
	size_t first = len < r->data_size - at ? len : r->data_size - at;

	memcpy(to, r->data + at, first);
	memcpy((u8 *)to + first, r->data, len - first);
}

/**
 * perf_ring_drain() - take what the ring holds now
 * @r: ring
 * @fn: called with each record in order; the bytes hold during the call. Non-zero ends it.
 * @arg: passed to @fn
 *
 * What the kernel adds meanwhile is left for the next time, so that a busy CPU cannot hold up
 * the others' rings.
 *
 * Return: 0, what @fn returned, or -EIO for a ring that makes no sense.
 */
int perf_ring_drain(struct perf_ring *r, perf_ring_fn fn, void *arg)
{
	/* Pairs with the kernel's barrier before it moves the head. */
	u64 head = __atomic_load_n(&r->map->data_head, __ATOMIC_ACQUIRE);
	u64 tail = r->map->data_tail;

	while (tail != head) {
		struct perf_event_header h;
		size_t at = tail & (r->data_size - 1);
		const u8 *p = r->data + at;
		int rc;

		if (head - tail < sizeof(h) || head - tail > r->data_size)
			return -EIO;
		copy_out(r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			return -EIO;
		if (h.size > r->data_size - at) {
			copy_out(r, tail, r->bounce, h.size);
			p = r->bounce;
		}
		rc = fn(arg, p, h.size);
		tail += h.size;
		/* The record has been read: the kernel may overwrite it. */
		__atomic_store_n(&r->map->data_tail, tail, __ATOMIC_RELEASE);
		if (rc)
			return rc;
	}
	return 0;
}
