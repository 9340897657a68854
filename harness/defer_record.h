/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * perf records of deferred callchains, as a kernel that has them writes them (Linux 6.19).
 */
#ifndef HARNESS_DEFER_RECORD_H
#define HARNESS_DEFER_RECORD_H

#include "harness/live.h"

/* Of the only event. */
#define DEFER_RECORD_ID		1

/* Bytes of sample_id: TID, TIME, IDENTIFIER. */
#define DEFER_RECORD_ID_SIZE	24

/* What is around the stack in a sample. The rest of a record of 64 KiB is for the stack. */
#define DEFER_RECORD_MAX_STACK	(65536u - 512)

/**
 * struct defer_record - a record in the making
 * @size: bytes so far
 * @bytes: them
 */
struct defer_record {
	u32 size;
	_Alignas(8) u8 bytes[PERF_ABI_MAX_RECORD];
};

void defer_record_attr(struct perf_event_attr *attr, u32 frequency, u32 stack_size);
void defer_record_sample_id(void *record, u32 size, pid_t pid, pid_t tid, u64 time);
void defer_record_comm(struct defer_record *r, pid_t pid, pid_t tid, const char *name, bool exec,
		       u64 time);
void defer_record_task(struct defer_record *r, u32 type, pid_t pid, pid_t tid, pid_t ppid,
		       pid_t ptid, u64 time);
u32 defer_record_sample(struct defer_record *r, const struct live_stop *stop, u64 cookie,
			u32 stack_size);
void defer_record_chain(struct defer_record *r, pid_t pid, pid_t tid, u64 cookie,
			const u64 *ips, u32 nr, u64 time);

#endif /* HARNESS_DEFER_RECORD_H */
