/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The seam to the traced task's memory: reads that may fail, and nothing else.
 */
#ifndef EHFRAME_MEM_H
#define EHFRAME_MEM_H

#include "ehframe/base.h"

/**
 * struct ehf_mem - a task's memory, as far as it can be read
 * @read: copies @len bytes (1 to 64) at target address @addr to @dst. All or nothing:
 *	returns false when any byte of them cannot be read, and then @dst is not used.
 *	May sleep when the context allows page faults. Never called with a range that
 *	wraps around.
 * @direct: optional. Returns a pointer to the byte at target address @addr when the source
 *	has it at hand, and sets *@avail to how many bytes from there on may be read through
 *	that pointer, at most @len; NULL where it has not. The bytes must not change and must
 *	stay at that pointer until the walk that asked is over: a source whose bytes another
 *	task can change copies them instead (no @direct).
 *
 * A user embeds it in its own structure and finds that from the pointer. Both functions
 * may be called from several threads at once if the user uses one source in several.
 */
struct ehf_mem {
	bool (*read)(const struct ehf_mem *mem, u64 addr, void *dst, u32 len);
	const u8 *(*direct)(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail);
};

/**
 * struct ehf_hand - bytes of target memory that are at hand, as ->direct offers them
 * @p: the bytes
 * @start: target address of the first one
 * @len: how many; 0 where nothing is at hand
 */
struct ehf_hand {
	const u8 *p;
	u64 start;
	u64 len;
};

/* What of the @len bytes at @start the source has at hand; nothing where it has no ->direct. */
static inline struct ehf_hand ehf_hand_ask(const struct ehf_mem *mem, u64 start, u64 len)
{
	struct ehf_hand h = { NULL, start, 0 };

	if (mem->direct)
		h.p = mem->direct(mem, start, len, &h.len);
	if (!h.p)
		h.len = 0;
	return h;
}

/* The @len bytes at @addr if all of them are at hand, else NULL. */
static inline const u8 *ehf_at_hand(const struct ehf_hand *h, u64 addr, u64 len)
{
	u64 off = addr - h->start;

	return off < h->len && len <= h->len - off ? h->p + off : NULL;
}

/* What a walk or a lookup has cost its caller: a kernel pays for each of these. */
struct ehf_cost {
	u64 reads;	/* calls of ehf_mem->read and ->direct */
	u64 bytes;	/* bytes that were fetched by them (direct: those looked at) */
	u64 insns;	/* call frame instructions executed */
};

#endif /* EHFRAME_MEM_H */
