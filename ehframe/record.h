/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The records of .eh_frame: CIE and FDE, 32- and 64-bit.
 */
#ifndef EHFRAME_RECORD_H
#define EHFRAME_RECORD_H

#include "ehframe/cursor.h"
#include "ehframe/row.h"

/**
 * struct ehf_section - one .eh_frame_hdr + .eh_frame pair in a task's memory
 * @text_start: first address of the text that it describes
 * @text_end: one past the last; lookups outside find nothing
 * @hdr: address of .eh_frame_hdr; 0 where there is none
 * @hdr_end: one past its last byte
 * @eh_frame: address of .eh_frame
 * @eh_frame_end: one past its last byte as far as it is known (else the end of the mapping);
 *	no record reaches beyond
 * @table: address of the search table's first entry; 0 where there is no usable table
 * @nr_fdes: entries of the search table
 * @table_enc: how its two fields are encoded
 * @entry_size: bytes of one entry
 * @scan: @eh_frame_end is the section's true end, so that a scan is allowed where there is no
 *	table or an empty one
 *
 * The first six fields and @scan come from whoever registers the section; ehf_section_init() fills
 * in the others from the header's bytes, and @eh_frame where it is 0.
 */
struct ehf_section {
	u64 text_start;
	u64 text_end;
	u64 hdr;
	u64 hdr_end;
	u64 eh_frame;
	u64 eh_frame_end;
	u64 table;
	u64 nr_fdes;
	u8 table_enc;
	u8 entry_size;
	bool scan;
};

/* struct ehf_cie.flags */
#define EHF_CIE_SIZED	0x01	/* 'z': augmentation data has a length */
#define EHF_CIE_SIGNAL	0x02	/* 'S' */
#define EHF_CIE_B_KEY	0x04	/* 'B': AArch64, return addresses signed with the B key */

/**
 * struct ehf_cie - a parsed Common Information Entry
 * @addr: address of its first byte
 * @insns: address of the initial instructions
 * @end: one past its last byte and theirs
 * @code_align: code alignment factor
 * @data_align: data alignment factor
 * @ra_reg: return address column; EHF_REG_OTHER for a number that no register has
 * @fde_enc: encoding of the FDEs' initial location
 * @version: 1, 3 or 4
 * @flags: EHF_CIE_*
 */
struct ehf_cie {
	u64 addr;
	u64 insns;
	u64 end;
	u64 code_align;
	s64 data_align;
	u16 ra_reg;
	u8 fde_enc;
	u8 version;
	u8 flags;
};

/**
 * struct ehf_fde - a parsed Frame Description Entry
 * @addr: address of its first byte
 * @insns: address of its instructions
 * @end: one past its last byte and theirs
 * @start: initial location: first address of the range
 * @range_end: one past the range's last address; @start for an empty range
 * @cie: its CIE
 */
struct ehf_fde {
	u64 addr;
	u64 insns;
	u64 end;
	u64 start;
	u64 range_end;
	struct ehf_cie cie;
};

/**
 * struct ehf_plain_cie - what the short way to plain rows needs to know of a CIE and the machine
 * @generation: of the sections when it was read; 0 where nothing is known
 * @addr: address of its first byte
 * @initial: the rules after its instructions
 * @tracked: bit n is set where register n is FP, RA or SP
 * @size: bytes of its instructions
 * @fp: DWARF number of FP
 * @ra: return address column
 * @sp: DWARF number of SP
 * @code_align: code alignment factor
 * @factor: data alignment factor in stack slots
 * @shift: log2 of a stack slot's size
 * @sized: its FDEs have augmentation data with a length
 * @usable: its FDEs may have plain rows
 */
struct ehf_plain_cie {
	u64 generation;
	u64 addr;
	struct ehf_plain initial;
	u64 tracked;
	u32 size;
	u8 fp;
	u8 ra;
	u8 sp;
	u8 code_align;
	s8 factor;
	u8 shift;
	bool sized;
	bool usable;
};

/* CIEs that a memo keeps. Most files have one to three; a slot is shared by address. */
#define EHF_MEMO_SLOTS	8
#define EHF_MEMO_PLAIN	8

/**
 * struct ehf_memo_slot - a CIE that was read, and what its instructions came to
 * @generation: of the sections when it was read; 0 for an empty slot
 * @cie: the CIE
 * @has_state: @state and @insns are filled in
 * @insns: how many initial instructions it has
 * @state: the rules after them
 */
struct ehf_memo_slot {
	u64 generation;
	struct ehf_cie cie;
	bool has_state;
	u32 insns;
	struct ehf_state state;
};

/* In storage of the caller, all zero at first. One walk at a time may use it. */
struct ehf_memo {
	struct ehf_memo_slot slot[EHF_MEMO_SLOTS];
	struct ehf_plain_cie plain[EHF_MEMO_PLAIN];
};

/* The slot for the CIE at @addr, or NULL where nothing may be kept. */
static inline struct ehf_memo_slot *ehf_memo_slot(const struct ehf_ctx *ctx, u64 addr)
{
	if (!ctx->generation)
		return NULL;
	if (!ctx->memo)
		return ctx->slot;
	return &ctx->memo->slot[(addr >> 2 ^ addr >> 12) % EHF_MEMO_SLOTS];
}

/* That slot if it holds the CIE, or NULL. */
static inline struct ehf_memo_slot *ehf_memo_find(const struct ehf_ctx *ctx, u64 addr)
{
	struct ehf_memo_slot *slot = ehf_memo_slot(ctx, addr);

	return slot && slot->generation == ctx->generation && slot->cie.addr == addr ? slot : NULL;
}

enum ehf_record_kind { EHF_RECORD_CIE, EHF_RECORD_FDE, EHF_RECORD_END };

/**
 * struct ehf_record - the head of a record
 * @kind: CIE, FDE, or the terminator
 * @addr: address of its first byte
 * @next: address of the next record
 * @cie: address of the CIE, for an FDE
 */
struct ehf_record {
	enum ehf_record_kind kind;
	u64 addr;
	u64 next;
	u64 cie;
};

enum ehf_stop ehf_record_head(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			      struct ehf_record *rec);
enum ehf_stop ehf_record_parse(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			       const struct ehf_cie *known, struct ehf_fde *fde,
			       struct ehf_record *rec);
enum ehf_stop ehf_cie_parse(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			    struct ehf_cie *cie);
enum ehf_stop ehf_fde_parse(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			    struct ehf_fde *fde);
enum ehf_stop ehf_fde_parse_with(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
				 const struct ehf_cie *known, struct ehf_fde *fde);

#endif /* EHFRAME_RECORD_H */
