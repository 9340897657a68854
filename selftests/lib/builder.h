/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Builds .eh_frame and .eh_frame_hdr byte by byte in a piece of target memory whose reads can be
 * counted, made to fail, and made to answer differently the second time.
 *
 *	struct b *b = &self->b;
 *	u64 cie, fde;
 *
 *	b_init(b, &ehu_arch_x86_64.abi);
 *	cie = b_cie(b, &b_zr);			version 1, "zR", pc-relative sdata4
 *	b_put(b, 0x0c, 7, 8);			its instructions
 *	b_close(b);				padded, length filled in
 *	fde = b_fde(b, cie, 0x1000, 0x20);
 *	b_close(b);
 *	b_end(b);				terminator; b->s is a section to scan
 *	b_hdr(b, 0x1b, 0x03, 0x3b);		optional: header and search table behind it
 *
 * It needs no more of a libc than memcpy and memset, so that it also builds in a kernel. Nothing
 * here is freed, and everything fails loudly by b->overflow.
 */
#ifndef SELFTESTS_LIB_BUILDER_H
#define SELFTESTS_LIB_BUILDER_H

#include "arch/arch.h"
#include "ehframe/dwarf.h"
#include "ehframe/program.h"

#define B_SIZE	8192		/* bytes of memory */
#define B_BASE	0x7f0000u	/* address of the first: page-aligned, fits 32 bits */
#define B_FDES	64		/* FDEs that a search table can list */

/* How the memory is read. A section reads the same through all of them. */
enum b_kind {
	B_COPY,		/* ->read alone, as in a kernel */
	B_DIRECT,	/* ->direct has it all */
	B_CRUMBS,	/* ->direct has a few bytes at a time, and sometimes none */
	B_BYTES,	/* ->direct has one byte at a time */
	B_HAND,		/* all of it is at hand: no read at all */
	B_MEMO,		/* as B_COPY, with a memo of CIEs */
	B_NR_KINDS
};

/* What a CIE says, but for its instructions. */
struct b_cie {
	u8 version;
	const char *aug;
	u64 code_align;
	s64 data_align;
	u64 ra;
	u8 fde_enc;	/* for 'R' */
	u8 pers_enc;	/* for 'P' */
	bool wide;	/* a 64-bit record */
};

struct b {
	struct ehf_mem mem;	/* first: callbacks find the builder from it */
	struct ehf_ctx ctx;
	struct ehf_cost cost;
	struct ehf_limits limits;
	struct ehf_abi abi;
	struct ehf_memo memo;
	struct ehf_section s;
	u64 base;
	u32 len;		/* bytes written, all that can be read */
	u32 open;		/* where the open record's length stands */
	bool wide;		/* the open record is a 64-bit one */
	bool overflow;		/* something did not fit */
	u32 align;		/* records are padded to a multiple of this */
	struct b_cie cie;	/* the last one, for its FDEs */
	u32 nr_fdes;
	struct { u64 start, addr; } fdes[B_FDES];

	u32 reads;		/* calls that asked for bytes */
	u32 fault_at;		/* this one fails, counted from 1; 0: none does */
	u32 broken;		/* calls that break the contract of struct ehf_mem */
	bool one_page;		/* so does a copy over the end of a page */
	u32 flip_at;		/* this byte .. */
	u32 flip_nth;		/* .. is another when it is fetched for the nth time; 0: never */
	u8 buf[B_SIZE];
	u8 fetched[B_SIZE];	/* how often each byte was copied */
};

/* Called once an access: counts it, checks it, says whether it succeeds. */
static inline bool b_access(struct b *b, u64 addr, u64 len, bool copy)
{
	if (!len || (copy && len > 64) || addr > ~0ULL - len)
		b->broken++;
	if (copy && b->one_page && (addr & ~4095ULL) != ((addr + len - 1) & ~4095ULL))
		b->broken++;
	b->reads++;
	return b->reads != b->fault_at && addr >= b->base && addr - b->base <= b->len &&
	       len <= b->len - (addr - b->base);
}

static inline bool b_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct b *b = (struct b *)mem;
	u32 at = (u32)(addr - b->base);
	u8 *to = dst;
	u32 k;

	if (!b_access(b, addr, len, true))
		return false;
	for (k = 0; k < len; k++) {
		to[k] = b->buf[at + k];
		if (b->fetched[at + k] < 255)
			b->fetched[at + k]++;
		if (at + k == b->flip_at && b->flip_nth && b->fetched[at + k] == b->flip_nth)
			to[k] ^= 0xff;
	}
	return true;
}

static inline const u8 *b_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	struct b *b = (struct b *)mem;
	u64 left;

	if (addr < b->base || addr - b->base >= b->len || b->reads + 1 == b->fault_at)
		return NULL;	/* ->read counts it and fails */
	left = b->len - (addr - b->base);
	b->reads++;
	if (!len || addr > ~0ULL - len)
		b->broken++;
	*avail = len < left ? len : left;
	return b->buf + (addr - b->base);
}

static inline const u8 *b_crumbs(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	u64 most = addr % 7;
	const u8 *p;

	if (!most)
		return NULL;
	p = b_direct(mem, addr, len, avail);
	if (p && *avail > most)
		*avail = most;
	return p;
}

static inline const u8 *b_one(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	const u8 *p = b_direct(mem, addr, len, avail);

	*avail = p ? 1 : 0;
	return p;
}

/*
 * Starts counting anew, with memory of this kind. To be called once more when all is built: what
 * is at hand is what there is now.
 */
static inline void b_memory(struct b *b, enum b_kind kind)
{
	b->mem.read = b_read;
	b->mem.direct = kind == B_DIRECT || kind == B_HAND ? b_direct :
			kind == B_CRUMBS ? b_crumbs : kind == B_BYTES ? b_one : NULL;
	b->ctx.hand = (struct ehf_hand){ 0 };
	if (kind == B_HAND)
		b->ctx.hand = (struct ehf_hand){ b->buf, b->base, b->len };
	memset(&b->memo, 0, sizeof(b->memo));
	b->ctx.memo = kind == B_MEMO ? &b->memo : NULL;
	b->ctx.generation = 1;
	b->reads = 0;
	b->cost = (struct ehf_cost){ 0 };
	memset(b->fetched, 0, sizeof(b->fetched));
}

static inline void b_init(struct b *b, const struct ehf_abi *abi)
{
	memset(b, 0, sizeof(*b));
	b->abi = *abi;
	b->limits = ehf_limits_walk;
	b->ctx.mem = &b->mem;
	b->ctx.abi = &b->abi;
	b->ctx.limits = &b->limits;
	b->ctx.cost = &b->cost;
	b->base = B_BASE;
	b->align = 1;
	b->s.eh_frame = B_BASE;
	b->s.eh_frame_end = B_BASE;
	b->s.text_end = ~0ULL;
	b->s.scan = true;
	b_memory(b, B_COPY);
}

/* Address of the next byte. */
static inline u64 b_pos(const struct b *b)
{
	return b->base + b->len;
}

static inline void b_u8(struct b *b, u8 v)
{
	if (b->len < B_SIZE)
		b->buf[b->len++] = v;
	else
		b->overflow = true;
}

static inline void b_bytes(struct b *b, const u8 *p, u32 len)
{
	while (len--)
		b_u8(b, *p++);
}

#define b_put(b, ...) \
	b_bytes(b, (const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ }))

/* Writes a number of @len bytes at offset @at, in the target's byte order. */
static inline void b_poke(struct b *b, u32 at, u64 v, u32 len)
{
	u32 k;

	if (at > B_SIZE || len > B_SIZE - at) {
		b->overflow = true;
		return;
	}
	for (k = 0; k < len; k++)
		b->buf[at + (b->abi.big_endian ? len - 1 - k : k)] = (u8)(v >> 8 * k);
}

static inline void b_fixed(struct b *b, u64 v, u32 len)
{
	b_poke(b, b->len, v, len);
	if (!b->overflow)
		b->len += len;
}

static inline void b_uleb(struct b *b, u64 v)
{
	do {
		b_u8(b, (u8)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
		v >>= 7;
	} while (v);
}

/* The same number in @len bytes. */
static inline void b_uleb_pad(struct b *b, u64 v, u32 len)
{
	while (len--) {
		b_u8(b, (u8)((v & 0x7f) | (len ? 0x80 : 0)));
		v >>= 7;
	}
}

static inline void b_sleb(struct b *b, s64 v)
{
	bool last;

	do {
		u8 low = (u8)(v & 0x7f);

		v = v < 0 ? ~(~v >> 7) : v >> 7;
		last = v == (low & 0x40 ? -1 : 0);
		b_u8(b, (u8)(low | (last ? 0 : 0x80)));
	} while (!last);
}

static inline void b_sleb_pad(struct b *b, s64 v, u32 len)
{
	while (len--) {
		b_u8(b, (u8)((v & 0x7f) | (len ? 0x80 : 0)));
		v = v < 0 ? ~(~v >> 7) : v >> 7;
	}
}

static inline void b_str(struct b *b, const char *s)
{
	do
		b_u8(b, (u8)*s);
	while (*s++);
}

/* An encoded pointer to @v; what its base is does not depend on the core. */
static inline void b_ptr(struct b *b, u8 enc, u64 v, u64 datarel)
{
	if ((enc & 0x70) == 0x10)
		v -= b_pos(b);
	else if ((enc & 0x70) == 0x30)
		v -= datarel;
	switch (enc & 0x0f) {
	case 0x0:
		b_fixed(b, v, b->abi.addr_size);
		break;
	case 0x1:
		b_uleb(b, v);
		break;
	case 0x9:
		b_sleb(b, (s64)v);
		break;
	case 0x2: case 0xa:
		b_fixed(b, v, 2);
		break;
	case 0x3: case 0xb:
		b_fixed(b, v, 4);
		break;
	case 0x4: case 0xc:
		b_fixed(b, v, 8);
		break;
	default:
		break;
	}
}

/* Starts a record: its length, which b_close() fills in. Gives the record's address. */
static inline u64 b_open(struct b *b, bool wide)
{
	u64 addr = b_pos(b);

	if (wide)
		b_fixed(b, 0xffffffff, 4);
	b->open = b->len;
	b->wide = wide;
	b_fixed(b, 0, wide ? 8 : 4);
	return addr;
}

/* Ends a record: pads it with DW_CFA_nop and fills in its length. */
static inline void b_close(struct b *b)
{
	u32 size = b->wide ? 8 : 4;

	while (b->len % b->align && !b->overflow)
		b_u8(b, 0);
	b_poke(b, b->open, b->len - b->open - size, size);
	b->s.eh_frame_end = b_pos(b);
}

/* A terminator, which also ends the section. */
static inline void b_end(struct b *b)
{
	b_fixed(b, 0, 4);
	b->s.eh_frame_end = b_pos(b);
}

static const struct b_cie b_zr = {
	.version = 1, .aug = "zR", .code_align = 1, .data_align = -8, .ra = 16, .fde_enc = 0x1b,
};

/* Starts a CIE, up to its instructions. Gives its address. */
static inline u64 b_cie(struct b *b, const struct b_cie *o)
{
	u64 addr = b_open(b, o->wide);
	const char *a;
	u32 size_at;

	b->cie = *o;
	b_fixed(b, 0, o->wide ? 8 : 4);
	b_u8(b, o->version);
	b_str(b, o->aug);
	if (o->version == 4)
		b_put(b, b->abi.addr_size, 0);
	if (o->aug[0] == 'e')
		b_fixed(b, 0x1234, b->abi.addr_size);
	b_uleb(b, o->code_align);
	b_sleb(b, o->data_align);
	if (o->version == 1)
		b_u8(b, (u8)o->ra);
	else
		b_uleb(b, o->ra);
	if (o->aug[0] != 'z')
		return addr;
	size_at = b->len;
	b_u8(b, 0);
	for (a = o->aug + 1; *a; a++) {
		if (*a == 'R') {
			b_u8(b, o->fde_enc);
		} else if (*a == 'L') {
			b_u8(b, 0xff);
		} else if (*a == 'P') {
			b_u8(b, o->pers_enc);
			if (o->pers_enc == 0x50)
				while (b_pos(b) % b->abi.addr_size && !b->overflow)
					b_u8(b, 0xee);
			if (o->pers_enc == 0x50)
				b_fixed(b, 0x123456, b->abi.addr_size);
			else if (o->pers_enc != 0xff)
				b_ptr(b, o->pers_enc & 0x7f, 0x1234, 0);
		} else if (*a == '?') {	/* stands for a letter with data that nobody knows */
			b_put(b, 0x99, 0x99, 0x99);
		}
	}
	b_poke(b, size_at, b->len - size_at - 1, 1);
	return addr;
}

/* Starts an FDE of the last CIE, up to its instructions. Gives its address. */
static inline u64 b_fde(struct b *b, u64 cie, u64 start, u64 range)
{
	bool wide = b->cie.wide;
	u64 addr = b_open(b, wide);
	bool has_r = false;
	const char *a;
	u8 enc;

	for (a = b->cie.aug; *a; a++)
		has_r |= *a == 'R';
	enc = has_r ? b->cie.fde_enc : 0;
	b_fixed(b, b_pos(b) - cie, wide ? 8 : 4);
	b_ptr(b, enc, start, 0);
	b_ptr(b, enc & 0x0f, range, 0);
	if (b->cie.aug[0] == 'z')
		b_uleb(b, 0);
	if (b->nr_fdes < B_FDES) {
		b->fdes[b->nr_fdes].start = start;
		b->fdes[b->nr_fdes++].addr = addr;
	} else {
		b->overflow = true;
	}
	return addr;
}

/* Forgets what was written at and behind @addr. */
static inline void b_cut(struct b *b, u64 addr)
{
	b->len = (u32)(addr - b->base);
	b->overflow = false;
	if (b->s.eh_frame_end > addr)
		b->s.eh_frame_end = addr;
}

/* The header and its table, from the FDEs so far in the order in which they were made. */
static inline void b_hdr(struct b *b, u8 frame_enc, u8 count_enc, u8 table_enc)
{
	u32 k;

	while (b->len % 4)
		b_u8(b, 0);
	b->s.hdr = b_pos(b);
	b_put(b, 1, frame_enc, count_enc, table_enc);
	if (frame_enc != 0xff)
		b_ptr(b, frame_enc, b->s.eh_frame, b->s.hdr);
	if (count_enc != 0xff)
		b_ptr(b, count_enc, b->nr_fdes, b->s.hdr);
	for (k = 0; k < b->nr_fdes && table_enc != 0xff; k++) {
		b_ptr(b, table_enc, b->fdes[k].start, b->s.hdr);
		b_ptr(b, table_enc, b->fdes[k].addr, b->s.hdr);
	}
	b->s.hdr_end = b_pos(b);
}

static inline bool b_cfa_same(const struct ehf_cfa *x, const struct ehf_cfa *y)
{
	return x->kind == y->kind && x->expr_len == y->expr_len && x->reg == y->reg &&
	       x->expr == y->expr && x->off == y->off && x->add == y->add &&
	       x->reg2 == y->reg2 && x->shift == y->shift && x->bound == y->bound;
}

static inline bool b_rule_same(const struct ehf_rule *x, const struct ehf_rule *y)
{
	return x->kind == y->kind && x->expr_len == y->expr_len && x->reg == y->reg &&
	       x->expr == y->expr && x->off == y->off;
}

/* Field by field: what stands between the fields is nobody's business. */
static inline bool b_row_same(const struct ehf_row *x, const struct ehf_row *y)
{
	u32 k;

	for (k = 0; k < EHF_NR_TRACKED; k++)
		if (!b_rule_same(&x->rule[k], &y->rule[k]))
			return false;
	return x->start == y->start && x->end == y->end && x->stop == y->stop &&
	       x->flags == y->flags && x->ra_reg == y->ra_reg && b_cfa_same(&x->cfa, &y->cfa);
}

#endif /* SELFTESTS_LIB_BUILDER_H */
