/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The bounded cursor: reads a window of a section front to back, each byte once, with the
 * first failure kept.
 */
#ifndef EHFRAME_CURSOR_H
#define EHFRAME_CURSOR_H

#include "ehframe/abi.h"
#include "ehframe/mem.h"
#include "ehframe/stop.h"

/* Bytes that one refill copies: most records fit, and a cache line is not read twice. */
#define EHF_FETCH	64

/* No fetch reaches over a multiple of this, the least page size: what follows may not be there. */
#define EHF_PAGE	4096

/*
 * Bytes that one LEB128 number may take, padding included: 10 are enough, and libdw reads no more.
 * Without a bound a few bytes of FDE could name a CIE that takes its whole length to parse.
 */
#define EHF_MAX_LEB	16

struct ehf_memo;
struct ehf_memo_slot;
struct ehf_plain_cie;

/**
 * struct ehf_ctx - what every function that reads a section needs
 * @mem: the memory that holds the section
 * @abi: the machine
 * @limits: bounds on the work
 * @cost: counters, added to; never NULL
 * @hand: optional: bytes of the section that the caller got from ->direct, so that it is not
 *	asked for each record again
 * @memo: optional: CIEs that were read before
 * @slot: optional, where there is no @memo: the CIE that was read last
 * @plain: for ehf_plain_find(): what it knows of CIEs, @nr_plain of them, a power of two
 * @nr_plain: 0 where it may keep nothing
 * @generation: names the state of the sections in @memo and @slot: whatever changes them draws a new
 *	number. 0 where @memo is not to be used
 */
struct ehf_ctx {
	const struct ehf_mem *mem;
	const struct ehf_abi *abi;
	const struct ehf_limits *limits;
	struct ehf_cost *cost;
	struct ehf_hand hand;
	struct ehf_memo *memo;
	struct ehf_memo_slot *slot;
	struct ehf_plain_cie *plain;
	u32 nr_plain;
	u64 generation;
};

/**
 * struct ehf_cursor - a read position in a window of target memory
 * @ctx: where the bytes come from and how to read numbers from them
 * @p: the bytes at hand, p[0] is the byte at @base: @buf, or what ehf_mem->direct offered
 * @i: index in @p of the next byte
 * @n: bytes at hand within the window; @i <= @n
 * @have: bytes at hand whether or not in the window; @n <= @have
 * @base: target address of p[0]
 * @end: one past the window; @base + @n <= @end
 * @stop: the first failure; while it is set every read returns 0
 * @buf: fetch-ahead buffer for sources without ->direct
 *
 * A cursor is not copied, for @p may point into it: a nested window narrows it in place
 * (ehf_narrow(), ehf_widen()).
 */
struct ehf_cursor {
	const struct ehf_ctx *ctx;
	const u8 *p;
	u32 i;
	u32 n;
	u32 have;
	enum ehf_stop stop;
	u64 base;
	u64 end;
	u8 buf[EHF_FETCH];
};

void ehf_open(struct ehf_cursor *c, const struct ehf_ctx *ctx, u64 start, u64 end);
u64 ehf_narrow(struct ehf_cursor *c, u64 len);
void ehf_widen(struct ehf_cursor *c, u64 end);
u8 ehf_u8_slow(struct ehf_cursor *c);
void ehf_skip(struct ehf_cursor *c, u64 len);
u64 ehf_fixed(struct ehf_cursor *c, u32 len);
u64 ehf_uleb(struct ehf_cursor *c);
s64 ehf_sleb(struct ehf_cursor *c);
u64 ehf_pointer(struct ehf_cursor *c, u8 enc, u64 datarel);
u32 ehf_pointer_size(const struct ehf_abi *abi, u8 enc);
bool ehf_mem_read(const struct ehf_mem *mem, struct ehf_cost *cost, u64 addr, void *dst, u32 len);
bool ehf_read(const struct ehf_ctx *ctx, u64 addr, void *dst, u32 len);

/* Sets the cursor's stop unless one is kept already; nothing is at hand after it. */
static inline void ehf_fail(struct ehf_cursor *c, enum ehf_stop stop)
{
	if (!c->stop)
		c->stop = stop;
	c->base += c->i;
	c->i = 0;
	c->n = 0;
	c->have = 0;
}

/* The target address of the next byte. */
static inline u64 ehf_pos(const struct ehf_cursor *c)
{
	return c->base + c->i;
}

/* True while a byte is left in the window and nothing has failed. */
static inline bool ehf_more(const struct ehf_cursor *c)
{
	return c->i < c->n || (!c->stop && ehf_pos(c) < c->end);
}

/* Reads one byte; 0 with @c->stop set where there is none. */
static inline u8 ehf_u8(struct ehf_cursor *c)
{
	if (ehf_likely(c->i < c->n))
		return c->p[c->i++];
	return ehf_u8_slow(c);
}

/* The unsigned number of @len (1 to 8) bytes at @p, in the target's byte order. */
static inline u64 ehf_number(const u8 *p, u32 len, bool big_endian)
{
	u64 v = 0;
	u32 k;

#ifdef __BYTE_ORDER__
	if (big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
		u32 v4;
		u16 v2;

		switch (len) {
		case 8:
			__builtin_memcpy(&v, p, 8);
			return v;
		case 4:
			__builtin_memcpy(&v4, p, 4);
			return v4;
		case 2:
			__builtin_memcpy(&v2, p, 2);
			return v2;
		default:
			break;
		}
	}
#endif
	for (k = 0; k < len; k++)
		v |= (u64)p[k] << (8 * ((big_endian ? len - 1 - k : k) & 7));
	return v;
}

/* The low @len (1 to 8) bytes of @v, sign-extended. */
static inline u64 ehf_sign_extend(u64 v, u32 len)
{
	u64 sign = 1ULL << ((8 * len - 1) & 63);

	return (v ^ sign) - sign;
}

/* Reads an unsigned number of 4 bytes, as ehf_fixed() does. */
static inline u32 ehf_u32(struct ehf_cursor *c)
{
	u32 i = c->i;

	if (ehf_unlikely(c->n < 4 || i > c->n - 4))
		return (u32)ehf_fixed(c, 4);
	c->i = i + 4;
	return (u32)ehf_number(c->p + i, 4, c->ctx->abi->big_endian);
}

/* Truncates an address to the machine's address size. */
static inline u64 ehf_addr(const struct ehf_abi *abi, u64 addr)
{
	return abi->addr_size == 4 ? (u32)addr : addr;
}

#endif /* EHFRAME_CURSOR_H */
