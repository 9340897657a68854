/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One frame of a user stack, and the step from it to its caller.
 */
#ifndef UNWIND_USER_H
#define UNWIND_USER_H

#include "arch/arch.h"
#include "ehframe/program.h"
#include "unwind/row_cache.h"
#include "unwind/map.h"

/* How a frame was found. */
enum ehu_via {
	EHU_VIA_REGS,		/* the topmost one: from the registers */
	EHU_VIA_EH_FRAME,	/* by .eh_frame */
	EHU_VIA_SIGNAL_CODE,	/* from a signal frame that its code gave away, without 'S' */
	EHU_VIA_FP,		/* by the frame pointer, a guess */
	EHU_NR_VIA
};

/* Methods that are tried where .eh_frame has nothing to say. All are off by default. */
#define EHU_METHOD_FP	0x01	/* frame pointer chain */

/**
 * struct ehu_unwind - what a walk needs, the same for all its frames
 * @arch: the machine
 * @mem: the task's memory: stack, data and sections
 * @sections: who knows the sections
 * @limits: bounds on the work of one frame
 * @methods: EHU_METHOD_*
 * @ra_mask: bits of a return address that are address; 0: as the machine's default has it
 * @cache: optional: rows that were evaluated before
 * @memo: optional: CIEs that were read before
 *
 * Answers are the same with @cache and @memo and without; one walk at a time may use them.
 */
struct ehu_unwind {
	const struct ehu_arch *arch;
	const struct ehf_mem *mem;
	const struct ehu_sections *sections;
	const struct ehf_limits *limits;
	u32 methods;
	u64 ra_mask;
	struct ehu_row_cache *cache;
	struct ehf_memo *memo;
};

/* CIEs that a walk knows where there is no memo: of so many modules at once. */
#define EHU_NEAR_PLAIN	4

/**
 * struct ehu_near - what a walk keeps at hand of the section that it is in
 * @section: that section; NULL at first
 * @generation: of the sections then
 * @ctx: for reading it, with its bytes
 * @table: the bytes of its search table
 * @slot: the CIE that was read last, where there is no memo
 * @plain: what is known of CIEs, where there is no memo
 */
struct ehu_near {
	const struct ehf_section *section;
	u64 generation;
	struct ehf_ctx ctx;
	struct ehf_hand table;
	struct ehf_memo_slot slot;
	struct ehf_plain_cie plain[EHU_NEAR_PLAIN];
};

/**
 * struct ehu_user_state - a frame
 * @ip: where it is: the interrupted pc, or the address that a call returns to
 * @sp: its stack pointer there
 * @fp: its frame pointer, if @fp_known
 * @fp_known: false once a rule for it could not be followed
 * @exact: @ip is no return address: the topmost frame, or one that a signal interrupted. It is
 *	looked up as it is, and CFA == SP is allowed
 * @via: how it was found
 * @regs: the register file, in the topmost frame; else NULL
 * @layout: with @saved, where a signal frame saved the register file of this one; else NULL
 * @saved: address that @layout counts from
 * @stack: what is at hand of the stack
 * @near: optional: what is kept at hand from frame to frame
 */
struct ehu_user_state {
	u64 ip;
	u64 sp;
	u64 fp;
	bool fp_known;
	bool exact;
	enum ehu_via via;
	const struct ehu_regs *regs;
	const struct ehu_signal_layout *layout;
	u64 saved;
	struct ehf_hand stack;
	struct ehu_near *near;
};

/* Flags of an entry. */
#define EHU_ENTRY_FP_KNOWN	0x01
#define EHU_ENTRY_EXACT		0x02	/* ip is no return address */

/**
 * struct ehu_entry - one frame of a trace
 * @ip: its pc: interrupted, or the return address as it is (not minus 1)
 * @sp: its stack pointer
 * @fp: its frame pointer where EHU_ENTRY_FP_KNOWN is set, else 0
 * @via: enum ehu_via
 * @flags: EHU_ENTRY_*
 */
struct ehu_entry {
	u64 ip;
	u64 sp;
	u64 fp;
	u8 via;
	u8 flags;
};

bool ehu_user_start(const struct ehu_unwind *u, const struct ehu_regs *regs,
		    struct ehu_user_state *state);
u32 ehu_user_run(const struct ehu_unwind *u, struct ehu_user_state *state,
		 struct ehu_entry *entry, u32 room, struct ehf_cost *cost, enum ehf_stop *stop);
enum ehf_stop ehu_user_step(const struct ehu_unwind *u, struct ehu_user_state *state,
			    struct ehf_cost *cost);
enum ehf_stop ehu_user_next(const struct ehu_unwind *u, struct ehu_user_state *state,
			    struct ehf_cost *cost);

/* Makes ready what a walk keeps at hand. */
static inline void ehu_near_init(struct ehu_near *near)
{
	u32 k;

	near->section = NULL;
	near->slot.generation = 0;
	for (k = 0; k < EHU_NEAR_PLAIN; k++)
		near->plain[k].generation = 0;
}

/* A frame as an entry of a trace. */
static inline void ehu_entry_fill(struct ehu_entry *e, const struct ehu_user_state *f)
{
	e->ip = f->ip;
	e->sp = f->sp;
	e->fp = f->fp_known ? f->fp : 0;
	e->via = (u8)f->via;
	e->flags = (u8)((f->fp_known ? EHU_ENTRY_FP_KNOWN : 0) | (f->exact ? EHU_ENTRY_EXACT : 0));
}

/* The one place that decides which address is looked up for a frame. */
static inline u64 ehu_lookup_addr(const struct ehu_user_state *state)
{
	return state->exact ? state->ip : state->ip - 1;
}

#endif /* UNWIND_USER_H */
