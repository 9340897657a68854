// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The bounded cursor over target memory: refill, fixed-size numbers, LEB128 and encoded
 * pointers.
 */
#include "ehframe/cursor.h"

#include "ehframe/dwarf.h"

const struct ehf_limits ehf_limits_walk = {
	.record_len	= 128 * 1024,	/* twice the longest seen */
	.insns		= 65536,	/* twice the most seen */
	.states		= EHF_MAX_STATES,
	.expr_len	= 64,
	.scan_records	= 65536,
};

const struct ehf_limits ehf_limits_file = {
	.record_len	= 1U << 30,
	.insns		= 1U << 30,
	.states		= EHF_MAX_STATES,
	.expr_len	= 255,		/* what struct ehf_rule can name */
	.scan_records	= 1U << 30,
};

/* Bytes that are taken to be at hand at once: a few added to an index do not wrap. */
#define MOST_AT_HAND	(1U << 31)

/* The bytes at hand end with the window. */
static void clip(struct ehf_cursor *c)
{
	u64 left = c->end - c->base;

	c->n = left < c->have ? (u32)left : c->have;
}

/**
 * ehf_open() - set a cursor to the window [@start, @end) of target memory
 * @c: the cursor
 * @ctx: memory, machine, limits and counters; must outlive the cursor
 * @start: address of the first byte
 * @end: one past the last byte; an @end below @start makes an empty window
 *
 * Reads nothing yet.
 */
void ehf_open(struct ehf_cursor *c, const struct ehf_ctx *ctx, u64 start, u64 end)
{
	u64 off = start - ctx->hand.start;

	c->ctx = ctx;
	c->p = c->buf;
	c->i = 0;
	c->have = 0;
	c->stop = EHF_STOP_NONE;
	c->base = start;
	c->end = end < start ? start : end;
	c->buf[0] = 0;
	if (off < ctx->hand.len && off < MOST_AT_HAND) {
		c->p = ctx->hand.p;
		c->base = ctx->hand.start;
		c->i = (u32)off;
		c->have = ctx->hand.len < MOST_AT_HAND ? (u32)ctx->hand.len : MOST_AT_HAND;
	}
	clip(c);
}

/**
 * ehf_narrow() - make the next @len bytes a window of their own
 * @c: the cursor
 * @len: bytes of the nested window
 *
 * Fails with EHF_STOP_TRUNCATED where @len reaches past the present window.
 *
 * Return: the present end, for ehf_widen().
 */
u64 ehf_narrow(struct ehf_cursor *c, u64 len)
{
	u64 end = c->end;

	if (c->stop)
		return end;
	if (len > c->end - ehf_pos(c)) {
		ehf_fail(c, EHF_STOP_TRUNCATED);
		return end;
	}
	c->end = ehf_pos(c) + len;
	clip(c);
	return end;
}

/**
 * ehf_widen() - leave a nested window: move past it and restore the outer one
 * @c: the cursor
 * @end: what ehf_narrow() returned
 */
void ehf_widen(struct ehf_cursor *c, u64 end)
{
	if (c->stop)
		return;
	ehf_skip(c, c->end - ehf_pos(c));
	c->end = end;
	clip(c);
}

static bool refill(struct ehf_cursor *c)
{
	const struct ehf_mem *mem = c->ctx->mem;
	u64 pos = ehf_pos(c);
	u64 left = c->end - pos;
	u64 avail = 0;
	u32 len;

	if (c->stop)
		return false;
	if (!left) {
		ehf_fail(c, EHF_STOP_TRUNCATED);
		return false;
	}
	c->ctx->cost->reads++;
	c->base = pos;
	c->i = 0;
	if (mem->direct) {
		const u8 *p = mem->direct(mem, pos, left, &avail);

		if (p && avail) {
			if (avail > left)
				avail = left;
			c->p = p;
			c->have = avail < MOST_AT_HAND ? (u32)avail : MOST_AT_HAND;
			c->n = c->have;
			c->ctx->cost->bytes += c->n < EHF_FETCH ? c->n : EHF_FETCH;
			return true;
		}
	}
	len = EHF_PAGE - (u32)(pos & (EHF_PAGE - 1));
	if (len > EHF_FETCH)
		len = EHF_FETCH;
	if (len > left)
		len = (u32)left;
	c->p = c->buf;
	c->n = 0;
	c->have = 0;
	if (!mem->read(mem, pos, c->buf, len)) {
		ehf_fail(c, EHF_STOP_SECTION_MEMORY);
		return false;
	}
	c->ctx->cost->bytes += len;
	c->have = len;
	c->n = len;
	return true;
}

/**
 * ehf_u8_slow() - the part of ehf_u8() that fetches bytes first
 * @c: the cursor
 *
 * Return: the next byte, or 0 with @c->stop set to EHF_STOP_TRUNCATED at the end of the
 * window, EHF_STOP_SECTION_MEMORY where the byte cannot be read.
 */
u8 ehf_u8_slow(struct ehf_cursor *c)
{
	if (!refill(c))
		return 0;
	c->i = 1;
	return c->p[0];
}

/**
 * ehf_skip() - move over bytes without reading them
 * @c: the cursor
 * @len: how many
 *
 * Fails with EHF_STOP_TRUNCATED where @len reaches past the window.
 */
void ehf_skip(struct ehf_cursor *c, u64 len)
{
	if (c->stop)
		return;
	if (len > c->end - ehf_pos(c)) {
		ehf_fail(c, EHF_STOP_TRUNCATED);
		return;
	}
	if (len <= c->n - c->i) {
		c->i += (u32)len;
		return;
	}
	c->base = ehf_pos(c) + len;
	c->i = 0;
	c->n = 0;
	c->have = 0;
}

/**
 * ehf_fixed() - read an unsigned number of fixed size in the target's byte order
 * @c: the cursor
 * @len: its size in bytes: 1 to 8
 *
 * Return: the number, or 0 with @c->stop set as by ehf_u8_slow().
 */
u64 ehf_fixed(struct ehf_cursor *c, u32 len)
{
	u8 bytes[8] = { 0 };
	u32 k;

	if (len > sizeof(bytes))
		len = sizeof(bytes);
	for (k = 0; k < len; k++)
		bytes[k] = ehf_u8(c);
	return c->stop ? 0 : ehf_number(bytes, len, c->ctx->abi->big_endian);
}

/* Where the last byte of the longest LEB128 number belongs. */
#define LAST_SHIFT	(7 * (EHF_MAX_LEB - 1))

/**
 * ehf_uleb() - read an unsigned LEB128 number
 * @c: the cursor; moves past the number
 *
 * Padding is legal, up to EHF_MAX_LEB bytes. Source: DWARF 5, 7.6 and appendix C.
 *
 * Return: the value, or 0 with @c->stop set to
 *         EHF_STOP_TRUNCATED      - the window ended inside the number,
 *         EHF_STOP_SECTION_MEMORY - its bytes could not be read,
 *         EHF_STOP_LEB_RANGE      - it does not fit in 64 bits,
 *         EHF_STOP_LIMIT_LEB      - it has more than EHF_MAX_LEB bytes.
 */
u64 ehf_uleb(struct ehf_cursor *c)
{
	u64 v = 0;
	u32 shift = 0;
	u8 b = ehf_u8(c);

	if (ehf_likely(b < 0x80))
		return b;
	v = b & 0x7f;
	shift = 7;
	do {
		b = ehf_u8(c);
		if (shift < 63) {
			v |= (u64)(b & 0x7f) << shift;
		} else {
			if (shift == 63 && (b & 0x7f) <= 1)
				v |= (u64)(b & 1) << 63;
			else if (b & 0x7f)
				ehf_fail(c, EHF_STOP_LEB_RANGE);
			if (shift >= LAST_SHIFT && (b & 0x80))
				ehf_fail(c, EHF_STOP_LIMIT_LEB);
		}
		shift += 7;
	} while ((b & 0x80) && !c->stop);
	return c->stop ? 0 : v;
}

/**
 * ehf_sleb() - read a signed LEB128 number
 * @c: the cursor; moves past the number
 *
 * Padding is legal. Source: DWARF 5, 7.6 and appendix C.
 *
 * Return: the value, or 0 with @c->stop set as by ehf_uleb().
 */
s64 ehf_sleb(struct ehf_cursor *c)
{
	u64 v = 0;
	u32 shift = 0;
	u8 b;

	do {
		b = ehf_u8(c);
		if (shift < 63) {
			v |= (u64)(b & 0x7f) << shift;
		} else {
			/* All that is left are copies of the sign: bit 63 is its first. */
			if (shift == 63)
				v |= (u64)(b & 1) << 63;
			if ((b & 0x7f) != (v >> 63 ? 0x7f : 0))
				ehf_fail(c, EHF_STOP_LEB_RANGE);
			if (shift >= LAST_SHIFT && (b & 0x80))
				ehf_fail(c, EHF_STOP_LIMIT_LEB);
		}
		shift += 7;
	} while ((b & 0x80) && !c->stop);
	if (shift < 64 && (b & 0x40))
		v |= ~0ULL << shift;
	return c->stop ? 0 : (s64)v;
}

/**
 * ehf_pointer_size() - the size of an encoded pointer
 * @abi: the machine
 * @enc: the encoding; only its format counts
 *
 * Return: 2, 4 or 8; 0 for a LEB128 or a format that does not exist.
 */
u32 ehf_pointer_size(const struct ehf_abi *abi, u8 enc)
{
	switch (enc & DW_EH_PE_format) {
	case DW_EH_PE_absptr:
		return abi->addr_size;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/**
 * ehf_pointer() - read an encoded pointer
 * @c: the cursor; moves past the pointer
 * @enc: its encoding (LSB 5.0, 10.5.1)
 * @datarel: what a data-relative pointer counts from; 0 where there is no such base
 *
 * Absolute and pc-relative pointers of every format are read, data-relative ones where there
 * is a base. Text- and function-relative, aligned and indirect ones have no use in .eh_frame
 * that a lookup needs; following an indirect one would make the file choose what is read.
 *
 * Return: the address, cut to the machine's address size, or 0 with @c->stop set as by
 * ehf_uleb(), or to EHF_STOP_ENCODING.
 */
u64 ehf_pointer(struct ehf_cursor *c, u8 enc, u64 datarel)
{
	const struct ehf_abi *abi = c->ctx->abi;
	u32 size = ehf_pointer_size(abi, enc);
	u64 base = 0;
	u64 v;

	if (enc & DW_EH_PE_indirect)
		goto unsupported;
	switch (enc & DW_EH_PE_application) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = ehf_pos(c);
		break;
	case DW_EH_PE_datarel:
		if (!datarel)
			goto unsupported;
		base = datarel;
		break;
	default:
		goto unsupported;
	}
	switch (enc & DW_EH_PE_format) {
	case DW_EH_PE_uleb128:
		v = ehf_uleb(c);
		break;
	case DW_EH_PE_sleb128:
		v = (u64)ehf_sleb(c);
		break;
	default:
		if (!size)
			goto unsupported;
		v = ehf_fixed(c, size);
		if (enc & DW_EH_PE_signed)
			v = ehf_sign_extend(v, size);
		break;
	}
	return c->stop ? 0 : ehf_addr(abi, base + v);

unsupported:
	ehf_fail(c, EHF_STOP_ENCODING);
	return 0;
}

/**
 * ehf_mem_read() - copy a few bytes of target memory, counted
 * @mem: memory
 * @cost: counters
 * @addr: address of the first byte
 * @dst: where they go
 * @len: how many: 1 to EHF_FETCH
 *
 * Return: false where any of them cannot be read or the range wraps around.
 */
bool ehf_mem_read(const struct ehf_mem *mem, struct ehf_cost *cost, u64 addr, void *dst, u32 len)
{
	u64 avail = 0;

	if (addr > ~0ULL - len)
		return false;
	cost->reads++;
	cost->bytes += len;
	if (mem->direct) {
		const u8 *p = mem->direct(mem, addr, len, &avail);

		if (p && avail >= len) {
			memcpy(dst, p, len);
			return true;
		}
	}
	return mem->read(mem, addr, dst, len);
}

/**
 * ehf_read() - copy a few bytes of target memory, counted
 * @ctx: memory and counters
 * @addr: address of the first byte
 * @dst: where they go
 * @len: how many: 1 to EHF_FETCH
 *
 * Return: as ehf_mem_read().
 */
bool ehf_read(const struct ehf_ctx *ctx, u64 addr, void *dst, u32 len)
{
	return ehf_mem_read(ctx->mem, ctx->cost, addr, dst, len);
}
