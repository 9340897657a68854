// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Follows the list of frame records that x29 heads (AAPCS64), and compares it with a trace.
 */
#include "harness/frame_records.h"

#include "ehframe/cursor.h"

enum { X29 = 29, WORD = 8 };

/* A record: the caller's x29, then the return address, signed or not. */
static bool read_record(const struct frame_records_input *in, u64 addr, u64 *next, u64 *lr)
{
	u8 bytes[2 * WORD];

	if (addr % WORD || addr > ~0ULL - sizeof(bytes) ||
	    !in->mem->read(in->mem, addr, bytes, sizeof(bytes)))
		return false;
	*next = ehf_number(bytes, WORD, false);
	*lr = ehf_number(bytes + WORD, WORD, false) & ehu_arch_ra_mask(in->arch, in->ra_mask);
	return true;
}

static bool complete(const struct ehu_trace *t)
{
	return ehf_stop_class(t->stop) == EHF_CLASS_COMPLETE;
}

/* The first frame behind @k that a signal interrupted; t->nr where none was. */
static u32 next_interrupted(const struct ehu_trace *t, u32 k)
{
	for (k++; k < t->nr && !(t->entry[k].flags & EHU_ENTRY_EXACT); k++)
		;
	return k;
}

static bool fp_differs(const struct ehu_entry *e, u64 fp)
{
	return e->flags & EHU_ENTRY_FP_KNOWN && e->fp != fp;
}

/* A walk along the records. */
struct walk {
	const struct frame_records_input *in;
	const struct ehu_trace *ours;
	u32 from;
	u32 at;		/* the last frame of ours that a record told of */
	u64 addr;	/* of the next record */
};

/* Frames that CFI and libdw agree on are not the records' to judge: code may rewrite its stack. */
static bool differs(const struct walk *w, struct frame_records *r, u32 at, u64 pc)
{
	r->differs = at >= w->from && complete(w->ours);
	r->astray = at >= w->from && !r->differs;
	r->at = at;
	r->pc = pc;
	return false;
}

/*
 * The record that the kernel makes behind a signal frame: the interrupted x29 and x30. That x30
 * need not be a return address of any frame; the interrupted pc is not in it.
 */
static bool from_kernel(struct walk *w, u32 interrupted, u64 next, struct frame_records *r)
{
	w->at = interrupted;
	w->addr = next;
	if (fp_differs(&w->ours->entry[interrupted], next))
		return differs(w, r, interrupted, next);
	return true;
}

/* One record; false where there is no more to follow. */
static bool follow(struct walk *w, struct frame_records *r)
{
	const struct ehu_trace *t = w->ours;
	u32 k = w->at, interrupted = next_interrupted(t, k);
	u64 next, lr;

	if (!read_record(w->in, w->addr, &next, &lr))
		return false;
	r->records++;
	/* All records below the signal frame are of handlers. */
	if (interrupted < t->nr && interrupted && w->addr >= t->entry[interrupted - 1].sp)
		return from_kernel(w, interrupted, next, r);
	/* It lies in the frame whose caller it names: below that one's SP. */
	for (k++; k < t->nr && t->entry[k].sp <= w->addr; k++)
		;
	if (k == t->nr) {
		if (complete(t) && w->in->is_code(w->in->arg, lr - 1))
			return differs(w, r, k, lr);
		return false;
	}
	if (t->entry[k].ip != lr || fp_differs(&t->entry[k], next)) {
		/* x29 may hold anything where no frame pointers are kept. */
		if (w->in->is_code(w->in->arg, lr - 1))
			return differs(w, r, k, lr);
		return false;
	}
	r->named += k >= w->from;
	w->at = k;
	if (!next) {
		r->whole = complete(t) && k == t->nr - 1;
		return false;
	}
	/* Upwards, but for the way from one stack to another, which only a signal takes. */
	if (next <= w->addr)
		return false;
	w->addr = next;
	return true;
}

/**
 * frame_records_apply() - has a machine such records
 * @arch: machine
 *
 * Return: true for AArch64.
 */
bool frame_records_apply(const struct ehu_arch *arch)
{
	return arch == &ehu_arch_aarch64;
}

/**
 * frame_records_compare() - compare a trace with the frame records
 * @in: the stack
 * @ours: our trace, of a machine that frame_records_apply() to
 * @from: the first frame that nobody else has confirmed
 * @result: filled in
 *
 * Each record lies in a frame of ours, and has to name the next one: its pc, and its frame pointer
 * where that is known. A frame without a record (a leaf, one that a signal interrupted) is passed
 * over. Where x29 heads no list (code without frame pointers), or a record contradicts a frame
 * before @from, the comparison ends without a word.
 */
void frame_records_compare(const struct frame_records_input *in, const struct ehu_trace *ours,
			   u32 from, struct frame_records *result)
{
	struct walk w = { .in = in, .ours = ours, .from = from };

	*result = (struct frame_records){ .beyond = ours->nr > from ? ours->nr - from : 0 };
	if (!ours->nr || !(in->regs->known >> X29 & 1) || !in->regs->reg[X29])
		return;
	w.addr = in->regs->reg[X29];
	while (result->records <= 2 * ours->nr && follow(&w, result))
		;
}
