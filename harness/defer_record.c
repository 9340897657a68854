// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * perf records of deferred callchains, as a kernel that has them writes them (Linux 6.19).
 */
#include "harness/defer_record.h"

#include <string.h>
#include <sys/uio.h>
#include <time.h>

/* Bits of attr's word of flags; newer than the header. */
#define ATTR_FLAGS		40	/* offset, bytes */
#define ATTR_DEFER_CALLCHAIN	38
#define ATTR_DEFER_OUTPUT	39

/* perf's numbers of the stack pointer and the pc, and where they are among LIVE_REGS. */
#define AT_SP	7
#define AT_IP	8

static void put(struct defer_record *r, const void *p, size_t len)
{
	memcpy(r->bytes + r->size, p, len);
	r->size += (u32)len;
}

static void put32(struct defer_record *r, u32 v)
{
	put(r, &v, sizeof(v));
}

static void put64(struct defer_record *r, u64 v)
{
	put(r, &v, sizeof(v));
}

static void begin(struct defer_record *r, u32 type, u16 misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	r->size = 0;
	put(r, &h, sizeof(h));
}

static void end(struct defer_record *r)
{
	u16 size = (u16)r->size;

	memcpy(r->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

/* The sample_id that every record but a sample ends with. */
static void end_with_id(struct defer_record *r, pid_t pid, pid_t tid, u64 time)
{
	r->size += DEFER_RECORD_ID_SIZE;
	end(r);
	defer_record_sample_id(r->bytes, r->size, pid, tid, time);
}

/**
 * defer_record_attr() - the event that the records are of
 * @attr: filled in
 * @frequency: stops per second of CPU time
 * @stack_size: bytes of stack in a sample
 */
void defer_record_attr(struct perf_event_attr *attr, u32 frequency, u32 stack_size)
{
	u64 flags;

	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000u / frequency,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_regs_user = LIVE_REGS,
		.sample_stack_user = stack_size,
	};
	memcpy(&flags, (u8 *)attr + ATTR_FLAGS, sizeof(flags));
	flags |= 1ull << ATTR_DEFER_CALLCHAIN | 1ull << ATTR_DEFER_OUTPUT;
	memcpy((u8 *)attr + ATTR_FLAGS, &flags, sizeof(flags));
}

/**
 * defer_record_sample_id() - say at the end of a record whom and when it is of
 * @record: the record, with DEFER_RECORD_ID_SIZE bytes of room at its end
 * @size: its bytes, room included
 * @pid: process
 * @tid: thread
 * @time: ns
 */
void defer_record_sample_id(void *record, u32 size, pid_t pid, pid_t tid, u64 time)
{
	u64 id[3] = { (u64)(u32)tid << 32 | (u32)pid, time, DEFER_RECORD_ID };

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		id[0] = (u64)(u32)pid << 32 | (u32)tid;
	memcpy((u8 *)record + size - sizeof(id), id, sizeof(id));
}

/**
 * defer_record_comm() - COMM: what a thread is called
 * @r: filled in
 * @pid: process
 * @tid: thread
 * @name: its name, at most 255 bytes of it
 * @exec: it executed another program
 * @time: ns
 */
void defer_record_comm(struct defer_record *r, pid_t pid, pid_t tid, const char *name, bool exec,
		       u64 time)
{
	static const u8 zeros[8];
	size_t len = strnlen(name, 255);

	begin(r, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put32(r, (u32)pid);
	put32(r, (u32)tid);
	put(r, name, len);
	put(r, zeros, 8 - len % 8);
	end_with_id(r, pid, tid, time);
}

/**
 * defer_record_task() - FORK or EXIT
 * @r: filled in
 * @type: PERF_RECORD_FORK or PERF_RECORD_EXIT
 * @pid: process
 * @tid: thread that begins or ends
 * @ppid: its parent; the process itself for a thread
 * @ptid: thread that made it
 * @time: ns
 */
void defer_record_task(struct defer_record *r, u32 type, pid_t pid, pid_t tid, pid_t ppid,
		       pid_t ptid, u64 time)
{
	begin(r, type, 0);
	put32(r, (u32)pid);
	put32(r, (u32)ppid);
	put32(r, (u32)tid);
	put32(r, (u32)ptid);
	put64(r, time);
	end_with_id(r, pid, tid, time);
}

/* As much of the stack as there is, like the kernel's copy: whole pages, up to the first fault. */
static u32 copy_stack(pid_t tid, u64 sp, u8 *to, u32 size)
{
	u32 done = 0;

	while (done < size) {
		u64 at = sp + done;
		u32 part = 4096 - (u32)(at & 4095);
		struct iovec local, remote;
		ssize_t n;

		if (at < sp)
			break;
		/* All that is left first; page by page where that ends in something unmapped. */
		if (!done)
			part = size;
		if (part > size - done)
			part = size - done;
		local = (struct iovec){ .iov_base = to + done, .iov_len = part };
		remote = (struct iovec){ .iov_base = (void *)(uintptr_t)at, .iov_len = part };
		n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		if (n <= 0)
			break;
		done += (u32)n;
	}
	return done & ~7u;
}

/**
 * defer_record_sample() - SAMPLE: what is there when a deferred callchain is asked for
 * @r: filled in
 * @stop: the stopped thread
 * @cookie: of the request
 * @stack_size: bytes of stack to copy, a multiple of 8, at most DEFER_RECORD_MAX_STACK
 *
 * The chain is PERF_CONTEXT_USER_DEFERRED and the cookie. The stack is what a sample of a kernel
 * without deferral has to carry.
 *
 * Return: bytes of stack that were copied.
 */
u32 defer_record_sample(struct defer_record *r, const struct live_stop *stop, u64 cookie,
			u32 stack_size)
{
	u32 copied;

	begin(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(r, DEFER_RECORD_ID);
	put64(r, stop->regs[AT_IP]);
	put32(r, (u32)stop->pid);
	put32(r, (u32)stop->tid);
	put64(r, stop->time);
	put64(r, 2);
	put64(r, PERF_ABI_CONTEXT_USER_DEFERRED);
	put64(r, cookie);
	put64(r, stop->abi);
	if (stop->abi != PERF_SAMPLE_REGS_ABI_NONE)
		put(r, stop->regs, sizeof(stop->regs));
	put64(r, stack_size);
	copied = copy_stack(stop->tid, stop->regs[AT_SP], r->bytes + r->size, stack_size);
	memset(r->bytes + r->size + copied, 0, stack_size - copied);
	r->size += stack_size;
	put64(r, copied);
	end(r);
	return copied;
}

/**
 * defer_record_chain() - CALLCHAIN_DEFERRED: the user part of earlier samples
 * @r: filled in
 * @pid: process
 * @tid: thread
 * @cookie: what the samples have
 * @ips: the chain, topmost first
 * @nr: its length, at most 8000
 * @time: ns
 */
void defer_record_chain(struct defer_record *r, pid_t pid, pid_t tid, u64 cookie,
			const u64 *ips, u32 nr, u64 time)
{
	begin(r, PERF_ABI_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	put64(r, cookie);
	put64(r, nr);
	put(r, ips, nr * sizeof(*ips));
	end_with_id(r, pid, tid, time);
}
