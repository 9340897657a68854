/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libdw's frames of a sampled stack: the dynamic oracle. It knows nothing of our code but the
 * register numbers, and reads the same memory.
 */
#ifndef HARNESS_ORACLE_FRAMES_H
#define HARNESS_ORACLE_FRAMES_H

#include "arch/arch.h"
#include "harness/compare.h"
#include "harness/debuginfo.h"

#include <stddef.h>

struct oracle_frames;

/**
 * struct oracle_frames_cost - what one walk did
 * @reads: words that libdw read from the stack (and code, on s390x)
 * @failed: of them, reads of bytes that are not there
 */
struct oracle_frames_cost {
	u64 reads;
	u64 failed;
};

struct oracle_frames *oracle_frames_new(const struct ehu_arch *arch);
void oracle_frames_free(struct oracle_frames *o);
void oracle_frames_debuginfo(struct oracle_frames *o, struct debuginfo *di);
int oracle_frames_add(struct oracle_frames *o, const char *name, int fd, u64 bias);
int oracle_frames_walk(struct oracle_frames *o, const struct ehu_regs *regs,
		       const struct ehf_mem *mem, u32 max, struct compare_oracle *out,
		       struct oracle_frames_cost *cost);
int oracle_frames_pcs(struct oracle_frames *o, const struct ehu_regs *regs,
		      const struct ehf_mem *mem, u64 *pc, u32 max);
const char *oracle_frames_error(const struct oracle_frames *o);
const char *oracle_frames_symbol(struct oracle_frames *o, u64 addr, u64 *off);
void oracle_frames_row(struct oracle_frames *o, u64 addr, char *buf, size_t n);

#endif /* HARNESS_ORACLE_FRAMES_H */
