/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Registration without being told: what an image's program headers say of its sections, as a
 * kernel sees them at exec and at mmap.
 */
#ifndef UNWIND_AUTO_H
#define UNWIND_AUTO_H

#include "arch/arch.h"
#include "unwind/registry.h"

/* Program headers that are read; compilers and linkers make about a dozen. */
#define EHU_MAX_PHDRS	128

/* PT_LOADs that are kept; the most seen is 9. */
#define EHU_MAX_LOADS	16

/**
 * struct ehu_load - a PT_LOAD, where it is in memory
 * @start: its first address
 * @end: one past the last
 * @file_end: one past the last that comes from the file
 * @exec: PF_X
 */
struct ehu_load {
	u64 start;
	u64 end;
	u64 file_end;
	bool exec;
};

/**
 * struct ehu_image - what the program headers say
 * @bias: address in memory minus address in the file
 * @hdr: PT_GNU_EH_FRAME in memory; 0 where there is none
 * @hdr_end: one past its last byte
 * @nr_loads: entries of @load
 * @load: in the order of the file
 */
struct ehu_image {
	u64 bias;
	u64 hdr;
	u64 hdr_end;
	u32 nr_loads;
	struct ehu_load load[EHU_MAX_LOADS];
};

int ehu_auto_phdrs(const struct ehf_ctx *ctx, u64 phdr, u32 phnum, u32 phentsize,
		   const u64 *bias, struct ehu_image *image);
int ehu_auto_ehdr(const struct ehf_ctx *ctx, const struct ehu_arch *arch, u64 base,
		  struct ehu_image *image);
int ehu_auto_add(struct ehu_registry *reg, const struct ehf_ctx *ctx,
		 const struct ehu_image *image, u32 flags, struct ehu_added *added);

#endif /* UNWIND_AUTO_H */
