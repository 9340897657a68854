/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One perf record, from bytes of either byte order to a tagged struct. */
#ifndef HARNESS_PERF_DECODE_H
#define HARNESS_PERF_DECODE_H

#include "harness/perf_abi.h"

/**
 * struct perf_decode_attr - what of an event's perf_event_attr shapes its records
 * @type: PERF_TYPE_*
 * @config: meaning depends on @type
 * @sample_type: PERF_SAMPLE_* bits
 * @read_format: PERF_FORMAT_* bits
 * @branch_type: PERF_SAMPLE_BRANCH_* bits
 * @regs_user: mask of the user registers in a sample
 * @stack_user: bytes of user stack asked for
 * @clockid: clock of the time stamps, or -1 for perf's own
 * @sample_id_all: records other than samples end in a sample_id
 */
struct perf_decode_attr {
	u32 type;
	u64 config;
	u64 sample_type;
	u64 read_format;
	u64 branch_type;
	u64 regs_user;
	u32 stack_user;
	s32 clockid;
	bool sample_id_all;
};

/**
 * struct perf_rec_sample - a PERF_RECORD_SAMPLE
 * @ip: interrupted address (kernel's, where the sample hit the kernel)
 * @addr: PERF_SAMPLE_ADDR, or 0
 * @period: PERF_SAMPLE_PERIOD, or 0
 * @chain: callchain entries with their context markers, as recorded
 * @nr_chain: their number
 * @has_cookie: the chain holds PERF_CONTEXT_USER_DEFERRED
 * @cookie: and the entry behind it
 * @abi: PERF_SAMPLE_REGS_ABI_*: 0 no registers, 1 32-bit, 2 64-bit task
 * @regs_mask: which registers @regs holds; 0 when @abi is 0
 * @nr_regs: bits in @regs_mask
 * @regs: @nr_regs values in ascending order of the mask's bits
 * @stack: bytes from the user stack pointer upwards
 * @stack_size: bytes of the record's stack area
 * @dyn_size: bytes of it that were really copied: the only ones to use; <= @stack_size
 */
struct perf_rec_sample {
	u64 ip;
	u64 addr;
	u64 period;
	const u64 *chain;
	u32 nr_chain;
	bool has_cookie;
	u64 cookie;
	u64 abi;
	u64 regs_mask;
	u32 nr_regs;
	u64 regs[PERF_ABI_MAX_REGS];
	const u8 *stack;
	u32 stack_size;
	u32 dyn_size;
};

/**
 * struct perf_rec_mmap - PERF_RECORD_MMAP or PERF_RECORD_MMAP2
 * @addr: start of the mapping
 * @len: bytes
 * @pgoff: offset in the file, in bytes
 * @pid: whose mapping; 0 where nobody says
 * @has_inode: @maj, @min, @ino, @generation are there
 * @build_id_size: bytes of @build_id, 0 if there is none
 * @has_prot: @prot and @flags are there (MMAP2)
 * @data: mapping without PROT_EXEC, from attr.mmap_data
 * @name: path, or "[vdso]", "//anon" and the like
 */
struct perf_rec_mmap {
	u64 addr;
	u64 len;
	u64 pgoff;
	u32 pid;
	bool has_inode;
	bool has_prot;
	bool data;
	u32 maj;
	u32 min;
	u64 ino;
	u64 generation;
	u8 build_id_size;
	u8 build_id[PERF_ABI_BUILD_ID_LEN];
	u32 prot;
	u32 flags;
	const char *name;
};

/**
 * struct perf_event_rec - one decoded record
 * @type: PERF_RECORD_* or PERF_ABI_*; says which member of the union holds
 * @misc: the header's misc bits
 * @pos: position in the file (of the compressed record, where it came out of one)
 * @raw: the undecoded record
 * @raw_size: its bytes
 * @stays: @raw holds until the reader is closed
 * @attr: the event it belongs to, NULL for records that belong to none
 * @has: PERF_SAMPLE_{TID,TIME,ID,STREAM_ID,CPU} bits that were there
 * @pid: process it is about: of the record's body where it has one
 * @tid: thread it is about
 * @time: nanoseconds of the event's clock, 0 if not there
 *
 * All other pointers hold until the next record is decoded or read.
 */
struct perf_event_rec {
	u32 type;
	u16 misc;
	u64 pos;
	const void *raw;
	u32 raw_size;
	bool stays;
	const struct perf_decode_attr *attr;
	u32 has;
	u32 pid;
	u32 tid;
	u32 cpu;
	u64 time;
	u64 id;
	u64 stream_id;
	union {
		struct perf_rec_sample sample;
		struct perf_rec_mmap mmap;
		struct {
			bool exec;		/* old maps of the pid are gone */
			const char *name;
		} comm;
		struct {
			u32 ppid;
			u32 ptid;
			u64 time;
		} task;				/* FORK, EXIT */
		struct {
			u64 nr;
		} lost;				/* LOST, LOST_SAMPLES */
		struct {
			u64 time;
			u64 id;
			u64 stream_id;
		} throttle;			/* THROTTLE, UNTHROTTLE */
		struct {
			u64 cookie;
			const u64 *ips;
			u32 nr;
		} deferred;			/* PERF_ABI_CALLCHAIN_DEFERRED */
	};
};

struct perf_decode;

struct perf_decode *perf_decode_new(bool big_endian);
void perf_decode_free(struct perf_decode *d);
int perf_decode_add_attr(struct perf_decode *d, const void *attr, size_t size);
int perf_decode_add_ids(struct perf_decode *d, u32 idx, const void *ids, size_t nr);
u32 perf_decode_nr_attrs(const struct perf_decode *d);
const struct perf_decode_attr *perf_decode_attr(const struct perf_decode *d, u32 idx);
u64 perf_decode_unknown_ids(const struct perf_decode *d);
int perf_decode_record(struct perf_decode *d, const void *bytes, size_t len, u64 pos,
		       struct perf_event_rec *rec, const char **why);
bool perf_decode_outline(const struct perf_decode *d, const void *bytes, size_t len, u64 pos,
			 struct perf_event_rec *rec);
u32 perf_decode_user_chain(const struct perf_rec_sample *s, const u64 **ips);

#endif /* HARNESS_PERF_DECODE_H */
