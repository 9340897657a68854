/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the format needs to know of a machine (struct ehf_abi), and the limits that bound
 * all work on hostile bytes (struct ehf_limits).
 */
#ifndef EHFRAME_ABI_H
#define EHFRAME_ABI_H

#include "ehframe/base.h"

struct ehf_op;
struct ehf_cfa;

/**
 * struct ehf_abi - one machine's numbers, as .eh_frame uses them
 * @word_size: bytes of a stack slot and of DW_EH_PE_absptr: 4 or 8
 * @addr_size: bytes of a code address: of absptr, of the address size in a version 4 CIE
 *	(differs from @word_size on x32: 4 there, with 8-byte slots)
 * @big_endian: byte order of the target
 * @ra_state: DW_CFA 0x2d and 0x2c toggle the "return address is signed" bit (AArch64)
 * @reg_sp: DWARF number of the stack pointer
 * @reg_fp: DWARF number of the frame pointer
 * @reg_ra: DWARF number of the return address column that compilers use
 * @sp_off: the caller's SP is CFA + this where no rule says otherwise (s390x: -160)
 * @sp_slot: where callees usually save the caller's SP, in bytes from the CFA; 0 where they do
 *	not
 * @match_cfa: optional; recognises the machine's own CFA expressions. Gets @nr decoded
 *	operations, returns true and fills @cfa when they are a pattern it knows.
 */
struct ehf_abi {
	u8 word_size;
	u8 addr_size;
	bool big_endian;
	bool ra_state;
	u16 reg_sp;
	u16 reg_fp;
	u16 reg_ra;
	s16 sp_off;
	s16 sp_slot;
	bool (*match_cfa)(const struct ehf_op *op, u32 nr, struct ehf_cfa *cfa);
};

/* The most states that DW_CFA_remember_state can nest, whatever ehf_limits allows. */
#define EHF_MAX_STATES	4

/* The most operations of an expression that are looked at; the longest known pattern has 9. */
#define EHF_MAX_OPS	12

/**
 * struct ehf_limits - bounds on the work that one lookup may cause
 * @record_len: bytes of one CIE or FDE. Bounds reads per frame. Largest seen in Debian 32,520,
 *	elsewhere 60,768 (libcufft).
 * @insns: call frame instructions of CIE and FDE together. Bounds time per frame. Largest seen
 *	in Debian 15,601, elsewhere 31,438 (libcufft).
 * @states: depth of remember_state, at most EHF_MAX_STATES. Bounds the stack. Never above 1
 *	in compiled code; hand-written assembly nests.
 * @expr_len: bytes of one expression that is looked at. Longest seen 14.
 * @scan_records: records that a lookup passes in a section that has no search table.
 *	Bounds time per frame there.
 */
struct ehf_limits {
	u32 record_len;
	u32 insns;
	u32 states;
	u32 expr_len;
	u32 scan_records;
};

/* For a walk in a kernel-like context. */
extern const struct ehf_limits ehf_limits_walk;
/* For a check of a file at rest: whatever fits in memory. */
extern const struct ehf_limits ehf_limits_file;

#endif /* EHFRAME_ABI_H */
