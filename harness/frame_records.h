/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * AArch64's frame records beside a trace: a reference that uses no CFI, and knows signed return
 * addresses, which libdw does not.
 */
#ifndef HARNESS_FRAME_RECORDS_H
#define HARNESS_FRAME_RECORDS_H

#include "unwind/walk.h"

/**
 * struct frame_records_input - the stack that a trace is of
 * @arch: its machine
 * @regs: registers of the topmost frame
 * @mem: its memory
 * @ra_mask: bits of a return address that are address; 0: as the machine's default has it
 * @is_code: does an address lie in code of the process
 * @arg: passed to it
 */
struct frame_records_input {
	const struct ehu_arch *arch;
	const struct ehu_regs *regs;
	const struct ehf_mem *mem;
	u64 ra_mask;
	bool (*is_code)(void *arg, u64 addr);
	void *arg;
};

/**
 * struct frame_records - what the records say of a trace
 * @records: those that were followed
 * @beyond: frames of the trace from the one asked for on
 * @named: of them, those that a record names, with their frame pointer where it is known
 * @whole: the records end, by a zero frame pointer, where the trace does
 * @differs: a record contradicts the trace from that frame on, and the trace is complete
 * @astray: the same of a trace that is not complete, and so claims nothing of what is behind
 * @at: the frame that it contradicts; the trace's @nr where it names one behind the last
 * @pc: what the record has there: a pc, or the frame pointer of an interrupted frame
 */
struct frame_records {
	u32 records;
	u32 beyond;
	u32 named;
	bool whole;
	bool differs;
	bool astray;
	u32 at;
	u64 pc;
};

bool frame_records_apply(const struct ehu_arch *arch);
void frame_records_compare(const struct frame_records_input *in, const struct ehu_trace *ours,
			   u32 from, struct frame_records *result);

#endif /* HARNESS_FRAME_RECORDS_H */
