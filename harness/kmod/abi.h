/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/ehunwind: what a program asks of the module, and the records that it reads. The same
 * for 32- and 64-bit programs.
 */
#ifndef HARNESS_KMOD_ABI_H
#define HARNESS_KMOD_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* A text range, [start, end). */
struct ehunwind_text {
	__aligned_u64 start;
	__aligned_u64 end;
};

/**
 * struct ehunwind_section - arguments of EHUNWIND_ADD
 * @flags: EHU_ADD_* of unwind/registry.h
 * @nr_texts: entries of @texts
 * @texts: pointer to struct ehunwind_text
 * @hdr: as the rest, see struct ehu_section_args
 * @hdr_end: see there
 * @eh_frame: see there
 * @eh_frame_end: see there
 * @handle: out: for EHUNWIND_REMOVE
 * @stop: out: enum ehf_stop, where the section's own bytes are why it was refused
 * @pad: 0
 */
struct ehunwind_section {
	__u32 flags;
	__u32 nr_texts;
	__aligned_u64 texts;
	__aligned_u64 hdr;
	__aligned_u64 hdr_end;
	__aligned_u64 eh_frame;
	__aligned_u64 eh_frame_end;
	__aligned_u64 handle;
	__u32 stop;
	__u32 pad;
};

/* struct ehunwind_image.from */
#define EHUNWIND_EHDR	0	/* @addr is where the file's first byte is mapped */
#define EHUNWIND_PHDR	1	/* @addr is AT_PHDR; PT_PHDR tells the bias */
#define EHUNWIND_PHDR_BIAS 2	/* @addr is AT_PHDR; @bias is the bias */

/**
 * struct ehunwind_image - arguments of EHUNWIND_ADD_IMAGE: register by program headers
 * @flags: EHU_ADD_CHECK of unwind/registry.h or 0
 * @from: EHUNWIND_EHDR, EHUNWIND_PHDR, EHUNWIND_PHDR_BIAS
 * @addr: see there
 * @bias: see there, else 0
 * @phnum: AT_PHNUM, else 0
 * @phentsize: AT_PHENT, else 0
 * @handle: out, as in struct ehunwind_section
 * @stop: out, as in struct ehunwind_section
 * @pad: 0
 */
struct ehunwind_image {
	__u32 flags;
	__u32 from;
	__aligned_u64 addr;
	__aligned_u64 bias;
	__u32 phnum;
	__u32 phentsize;
	__aligned_u64 handle;
	__u32 stop;
	__u32 pad;
};

/* struct ehunwind_start.flags */
#define EHUNWIND_NOFAULT	0x01	/* walks read what is in memory and bring nothing in */

/**
 * struct ehunwind_start - arguments of EHUNWIND_START: sample the calling thread
 * @period_ns: time on a CPU between interrupts: EHUNWIND_MIN_PERIOD and up, or 0 for none:
 *	then there are only traces that EHUNWIND_TRACE asks for
 * @flags: EHUNWIND_NOFAULT or 0
 * @pad: 0
 */
struct ehunwind_start {
	__aligned_u64 period_ns;
	__u32 flags;
	__u32 pad;
};

#define EHUNWIND_MIN_PERIOD	50000ULL
#define EHUNWIND_MAX_PERIOD	10000000000ULL

/* Threads that one open file samples. */
#define EHUNWIND_MAX_THREADS	64

#define EHUNWIND_ADD		_IOWR('u', 1, struct ehunwind_section)
#define EHUNWIND_ADD_IMAGE	_IOWR('u', 2, struct ehunwind_image)
#define EHUNWIND_REMOVE		_IOW('u', 3, __u64)
#define EHUNWIND_START		_IOW('u', 4, struct ehunwind_start)
#define EHUNWIND_STOP		_IO('u', 5)
/* Request a trace of the calling thread at its return from this call; gives the cookie. */
#define EHUNWIND_TRACE		_IOR('u', 6, __u64)

/* struct ehunwind_entry.flags are EHU_ENTRY_*, .via is enum ehu_via. */
struct ehunwind_entry {
	__aligned_u64 ip;
	__aligned_u64 sp;
	__aligned_u64 fp;
	__u32 via;
	__u32 flags;
};

/**
 * struct ehunwind_trace - a record that read() gives, followed by @nr entries
 * @cookie: what the request was told
 * @ns: time that the walk took
 * @reads: reads of user memory
 * @bytes: that they fetched
 * @insns: call frame instructions
 * @faults: reads that failed
 * @lost: records that had no room since the last one
 * @pid: of the process
 * @tid: of the thread
 * @nr: entries
 * @stop: enum ehf_stop
 *
 * read() gives whole records, as many as fit; 0 where there is none; EMSGSIZE where not even
 * the first one fits.
 */
struct ehunwind_trace {
	__aligned_u64 cookie;
	__aligned_u64 ns;
	__aligned_u64 reads;
	__aligned_u64 bytes;
	__aligned_u64 insns;
	__aligned_u64 faults;
	__aligned_u64 lost;
	__u32 pid;
	__u32 tid;
	__u32 nr;
	__u32 stop;
};

#endif /* HARNESS_KMOD_ABI_H */
