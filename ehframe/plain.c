// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The short way to plain rows: it takes what nearly all records and programs consist of from bytes
 * at hand, and leaves the rest to the general way, which gives the same rows.
 */
#include "ehframe/plain.h"

#include "ehframe/dwarf.h"

/* Operands of one byte times a factor of this size fit a field of 9 bits. */
#define MAX_FACTOR	2

/* @off in slots, where it is a multiple and fits in @bits, signed. */
static bool in_slots(s64 off, u32 size, u32 bits, u64 *field)
{
	s64 slots = off / (s64)size;
	s64 top = (s64)1 << (bits - 1);

	*field = (u64)slots & ((1ULL << bits) - 1);
	return slots * (s64)size == off && slots < top && slots >= -top;
}

static bool pack_cfa(const struct ehf_abi *abi, const struct ehf_cfa *cfa, struct ehf_plain *plain)
{
	u64 off;

	if (cfa->kind == EHF_CFA_AT_REG && !cfa->add)
		plain->word |= EHF_PLAIN_CFA_LOAD;
	else if (cfa->kind != EHF_CFA_REG && cfa->kind != EHF_CFA_VAL_EXPR)
		return false;
	if (cfa->reg == abi->reg_fp)
		plain->word |= EHF_PLAIN_CFA_FP;
	else if (cfa->reg != abi->reg_sp)
		return false;
	if (!in_slots(cfa->off, abi->word_size, 16, &off))
		return false;
	plain->word |= off << EHF_PLAIN_CFA_OFF;
	return true;
}

static bool pack_fp(const struct ehf_abi *abi, const struct ehf_rule *fp, struct ehf_plain *plain)
{
	u64 off;

	switch (fp->kind) {
	case EHF_RULE_UNSPEC:
	case EHF_RULE_SAME:
		return true;
	case EHF_RULE_AT_CFA:
		if (!in_slots(fp->off, abi->word_size, 9, &off))
			return false;
		plain->word |= EHF_PLAIN_FP_SAVED | off << EHF_PLAIN_FP_OFF;
		return true;
	case EHF_RULE_UNDEF:
	case EHF_RULE_STOP:
		plain->word |= EHF_PLAIN_FP_LOST;
		return true;
	case EHF_RULE_AT_REG:
		if (fp->reg != abi->reg_fp || fp->off)
			return false;
		plain->word |= EHF_PLAIN_FP_AT_FP;
		return true;
	default:
		return false;
	}
}

static bool pack_sp(const struct ehf_abi *abi, const struct ehf_rule *sp, struct ehf_plain *plain)
{
	if (sp->kind == EHF_RULE_UNSPEC)
		return true;
	if (sp->kind != EHF_RULE_AT_CFA || !abi->sp_slot || sp->off != abi->sp_slot)
		return false;
	plain->word |= EHF_PLAIN_SP_SAVED;
	return true;
}

static bool pack_ra(const struct ehf_abi *abi, const struct ehf_rule *ra, struct ehf_plain *plain)
{
	u64 off;

	if (ra->kind != EHF_RULE_AT_CFA || !in_slots(ra->off, abi->word_size, 9, &off) || !off ||
	    off << EHF_PLAIN_RA_OFF == EHF_PLAIN_RA_UNDEF)
		return false;
	plain->word |= off << EHF_PLAIN_RA_OFF;
	return true;
}

/**
 * ehf_plain_pack() - a row as a plain one
 * @abi: the machine
 * @row: a row without a stop
 * @plain: filled in
 *
 * Not plain is a row of a signal frame, one with a PLT expression (it depends on the exact ip), on
 * another register than SP and FP, with an RA that is not saved, or with offsets that are not whole
 * slots or have more than 9 bits of them (16 for the CFA's). An RA at CFA + 0 or CFA - 256 slots is
 * not plain either: those fields mean something else.
 *
 * Return: true where it is plain.
 */
bool ehf_plain_pack(const struct ehf_abi *abi, const struct ehf_row *row, struct ehf_plain *plain)
{
	if (row->flags & EHF_ROW_OUTERMOST) {
		*plain = ehf_plain_outermost();
		return !(row->flags & EHF_ROW_SIGNAL);
	}
	*plain = (struct ehf_plain){ 0 };
	return !(row->flags & EHF_ROW_SIGNAL) && pack_cfa(abi, &row->cfa, plain) &&
	       pack_fp(abi, &row->rule[EHF_FP], plain) && pack_ra(abi, &row->rule[EHF_RA], plain) &&
	       pack_sp(abi, &row->rule[EHF_SP], plain);
}

/**
 * ehf_plain_unpack() - a plain row as a row
 * @abi: the machine
 * @plain: a plain row that holds rules: without EHF_PLAIN_STOP
 * @row: filled in: the rules as ehf_plain_pack() got them, as far as a step can tell; an FP that
 *	cannot be followed becomes one that is undefined. No addresses
 */
void ehf_plain_unpack(const struct ehf_abi *abi, struct ehf_plain plain, struct ehf_row *row)
{
	const u32 size = abi->word_size;
	const u64 word = plain.word;
	struct ehf_rule *fp = &row->rule[EHF_FP];
	struct ehf_rule *ra = &row->rule[EHF_RA];

	*row = (struct ehf_row){ .ra_reg = abi->reg_ra };
	row->cfa.kind = word & EHF_PLAIN_CFA_LOAD ? EHF_CFA_AT_REG : EHF_CFA_REG;
	row->cfa.reg = word & EHF_PLAIN_CFA_FP ? abi->reg_fp : abi->reg_sp;
	row->cfa.off = (s64)ehf_plain_cfa_off(plain, size);
	if ((word & EHF_PLAIN_RA) == EHF_PLAIN_RA_UNDEF) {
		ra->kind = EHF_RULE_UNDEF;
		row->flags = EHF_ROW_OUTERMOST;
	} else if (word & EHF_PLAIN_RA) {
		ra->kind = EHF_RULE_AT_CFA;
		ra->off = (s64)ehf_plain_ra_off(plain, size);
	}
	if (word & EHF_PLAIN_SP_SAVED) {
		row->rule[EHF_SP].kind = EHF_RULE_AT_CFA;
		row->rule[EHF_SP].off = abi->sp_slot;
	}
	switch (word & EHF_PLAIN_FP_KIND) {
	case EHF_PLAIN_FP_SAVED:
		fp->kind = EHF_RULE_AT_CFA;
		fp->off = (s64)ehf_plain_fp_off(plain, size);
		break;
	case EHF_PLAIN_FP_AT_FP:
		fp->kind = EHF_RULE_AT_REG;
		fp->reg = abi->reg_fp;
		break;
	case EHF_PLAIN_FP_LOST:
		fp->kind = EHF_RULE_UNDEF;
		break;
	default:
		break;
	}
}

/* A ULEB128 number of one byte or two. */
static inline bool short_uleb(const u8 **p, const u8 *end, u64 *v)
{
	const u8 *b = *p;

	if (ehf_unlikely(b == end))
		return false;
	*v = *b++;
	if (*v >= 0x80) {
		if (b == end || *b >= 0x80)
			return false;
		*v = (*v & 0x7f) | (u64)*b++ << 7;
	}
	*p = b;
	return true;
}

static ehf_always_inline bool set_cfa_off(struct ehf_plain *row, u64 off, u32 shift)
{
	/* Two bytes of ULEB128 have 14 bits: they fit. */
	row->word = (row->word & ~EHF_PLAIN_CFA) | off << (EHF_PLAIN_CFA_OFF - shift);
	return !(off & ((1U << shift) - 1));
}

static inline bool set_cfa_reg(const struct ehf_plain_cie *c, struct ehf_plain *row, u64 reg)
{
	row->word = (row->word & ~EHF_PLAIN_CFA_FP) | (reg == c->fp ? EHF_PLAIN_CFA_FP : 0);
	return reg == c->fp || reg == c->sp;
}

/* One of the tracked registers is saved at CFA + @off slots. */
static ehf_always_inline bool set_saved(const struct ehf_plain_cie *c, const struct ehf_abi *abi,
					struct ehf_plain *row, u64 reg, s64 off)
{
	const u64 field = (u64)off & 0x1ff;

	if (reg == c->fp) {
		row->word = (row->word & ~EHF_PLAIN_FP) | EHF_PLAIN_FP_SAVED |
			    field << EHF_PLAIN_FP_OFF;
		return true;
	}
	if (reg == c->ra) {
		row->word = (row->word & ~EHF_PLAIN_RA) | field << EHF_PLAIN_RA_OFF;
		return off;
	}
	row->word |= EHF_PLAIN_SP_SAVED;
	return abi->sp_slot && off * (1 << c->shift) == abi->sp_slot;
}

/* Some of the tracked registers get back what they had in the CIE. */
static ehf_always_inline void restore(const struct ehf_plain_cie *c, struct ehf_plain *row, u64 reg)
{
	const u64 mask = reg == c->fp ? EHF_PLAIN_FP : reg == c->ra ? EHF_PLAIN_RA :
								      EHF_PLAIN_SP_SAVED;

	row->word = (row->word & ~mask) | (c->initial.word & mask);
}

static inline bool is_tracked(const struct ehf_plain_cie *c, u64 reg)
{
	return reg < 64 && c->tracked >> reg & 1;
}

/*
 * The instructions that are not the most frequent ones and move no location. False for one that
 * leaves the short way.
 */
static bool rare(const struct ehf_plain_cie *c, struct ehf_plain_run *r, u8 op)
{
	struct ehf_plain *row = &r->row;
	u64 reg, v = 0;

	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_def_cfa:
		return short_uleb(&r->p, r->end, &reg) && short_uleb(&r->p, r->end, &v) &&
		       set_cfa_reg(c, row, reg) && set_cfa_off(row, v, c->shift);
	case DW_CFA_def_cfa_register:
		return short_uleb(&r->p, r->end, &reg) && set_cfa_reg(c, row, reg);
	case DW_CFA_remember_state:
		if (r->depth >= r->states)
			return false;
		r->stack[r->depth++] = *row;
		return true;
	case DW_CFA_restore_state:
		if (!r->depth || r->depth > EHF_MAX_STATES)
			return false;
		*row = r->stack[--r->depth];
		return true;
	case DW_CFA_offset_extended:
		return short_uleb(&r->p, r->end, &reg) && short_uleb(&r->p, r->end, &v) &&
		       !is_tracked(c, reg);
	case DW_CFA_restore_extended:
		if (!short_uleb(&r->p, r->end, &reg))
			return false;
		if (is_tracked(c, reg))
			restore(c, row, reg);
		return true;
	case DW_CFA_undefined:
		if (!short_uleb(&r->p, r->end, &reg) || reg == c->sp)
			return false;
		if (reg == c->fp)
			row->word = (row->word & ~EHF_PLAIN_FP) | EHF_PLAIN_FP_LOST;
		else if (reg == c->ra)
			row->word = (row->word & ~EHF_PLAIN_RA) | EHF_PLAIN_RA_UNDEF;
		return true;
	case DW_CFA_same_value:
		if (!short_uleb(&r->p, r->end, &reg) || reg == c->sp || reg == c->ra)
			return false;
		if (reg == c->fp)
			row->word &= ~EHF_PLAIN_FP;
		return true;
	case DW_CFA_register:
		return short_uleb(&r->p, r->end, &reg) && short_uleb(&r->p, r->end, &v) &&
		       !is_tracked(c, reg);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		if (!short_uleb(&r->p, r->end, &reg) || is_tracked(c, reg) ||
		    !short_uleb(&r->p, r->end, &v) || v > (u64)(r->end - r->p))
			return false;
		r->p += v;
		return true;
	case DW_CFA_GNU_args_size:
		return short_uleb(&r->p, r->end, &v);
	case DW_CFA_GNU_window_save:
		/* That the RA is signed makes no other step. */
		return r->abi->ra_state;
	default:
		return false;
	}
}

/* How a run came to its end. */
enum result { REACHED, FULL, LEFT };

/*
 * Executes instructions until the location lies above @until, or the program ends; @run->row then
 * holds there. With @emit, each row that is complete goes to @rows, and FULL says that there is no
 * room for the next. LEFT: the way from @run->loc on is not short.
 *
 * Locations do not wrap: one that is not above @until has 63 bits, an advance times code_align 40.
 * Operands are read before it is known that they are there: two bytes behind the program can be.
 */
static ehf_always_inline enum result
execute(const struct ehf_plain_cie *c, struct ehf_plain_run *run, u32 shift, u64 until, bool emit,
	struct ehf_plain_row *rows, u32 max, u32 *nr, u64 *insns)
{
	struct ehf_plain_row *out = rows, *const full = emit ? rows + max : rows;
	const u64 code_align = c->code_align;
	enum result result = REACHED;
	const u8 *p = run->p, *const end = run->end, *at = p;
	struct ehf_plain row = run->row;
	u64 loc = run->loc;
	u64 delta, v, count = 0;
	u32 op;
	u8 len;

	while (p < end) {
		at = p;
		op = *p++;
		count++;
		if (op - DW_CFA_advance_loc < 0x40) {
			delta = op - DW_CFA_advance_loc;
			goto advance;
		}
		if (op == DW_CFA_def_cfa_offset) {
			v = *p++;
			if (ehf_unlikely(v >= 0x80)) {
				v = (v & 0x7f) | (u64)*p++ << 7;
				if (v >> 14)
					goto left;
			}
			if (ehf_likely(set_cfa_off(&row, v, shift)))
				continue;
			goto left;
		}
		if ((op & 0xc0) == DW_CFA_offset) {
			v = *p++;
			if (ehf_unlikely(v >= 0x80))
				goto left;
			if (c->tracked >> (op & 0x3f) & 1 &&
			    !set_saved(c, run->abi, &row, op & 0x3f, (s64)v * c->factor))
				goto left;
			continue;
		}
		if ((op & 0xc0) == DW_CFA_restore) {
			if (c->tracked >> (op & 0x3f) & 1)
				restore(c, &row, op & 0x3f);
			continue;
		}
		if (op < DW_CFA_advance_loc1 || op > DW_CFA_advance_loc4) {
			bool good;

			run->p = p;
			run->row = row;
			good = rare(c, run, (u8)op);
			p = run->p;
			row = run->row;
			if (good)
				continue;
			goto left;
		}
		len = (u8)(1U << (op - DW_CFA_advance_loc1));
		if ((u64)(end - p) < len)
			goto left;
		delta = ehf_number(p, len, run->abi->big_endian);
		p += len;
advance:
		if (emit && delta) {
			if (out == full) {
				p = at;
				result = FULL;
				break;
			}
			out->start = loc;
			out->row = row;
			out++;
		}
		delta *= code_align;
		if (!emit && loc + delta > until)
			break;
		loc += delta;
		if (emit && loc > until)
			break;
	}
	if (emit)
		*nr = (u32)(out - rows);
	*insns += count;
	/* An operand of the last instruction was none of its own. */
	if (ehf_unlikely(p > end)) {
		run->loc = loc;
		return LEFT;
	}
	run->p = p;
	run->loc = loc;
	run->row = row;
	return result;
left:
	if (emit)
		*nr = (u32)(out - rows);
	*insns += count;
	run->loc = loc;
	return LEFT;
}

/* A record whose fields are where those of nearly all are. */
struct short_fde {
	u64 next;
	u64 cie;
	u64 start;
	u64 range;
	const u8 *insns;
	const u8 *end;
};

/* Bytes of any record that are looked at unasked, and the least that its length then says. */
#define RECORD_HEAD	16
#define RECORD_LEAST	(RECORD_HEAD - 4)

/* Length and id, from bytes at hand: 32-bit format, all of it there. */
static ehf_always_inline const u8 *
short_head(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr, bool big_endian,
	   u64 *len, u64 *id)
{
	const u64 off = addr - ctx->hand.start;
	u64 left;
	const u8 *p;

	if (off >= ctx->hand.len || addr >= s->eh_frame_end)
		return NULL;
	left = ctx->hand.len - off;
	if (left > s->eh_frame_end - addr)
		left = s->eh_frame_end - addr;
	if (left < RECORD_HEAD)
		return NULL;
	p = ctx->hand.p + off;
	*len = ehf_number(p, 4, big_endian);
	*id = ehf_number(p + 4, 4, big_endian);
	if (*len < RECORD_LEAST || *len > left - 4 || *len > ctx->limits->record_len ||
	    *len >= 0xfffffff0)
		return NULL;
	return p;
}

/* An FDE's length and CIE pointer; what follows is at the address that is returned. */
static ehf_always_inline const u8 *
short_fde(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr, bool big_endian,
	  struct short_fde *f)
{
	u64 len, id;
	const u8 *p = short_head(ctx, s, addr, big_endian, &len, &id);

	if (!p || !id || id > addr + 4 - s->eh_frame)
		return NULL;
	f->next = addr + 4 + len;
	f->cie = addr + 4 - id;
	f->end = p + 4 + len;
	/* Operands are read before it is known that they are there. */
	return ctx->hand.len - (f->next - ctx->hand.start) < 2 ? NULL : p + 8;
}

/* The range, pc-relative in 4 bytes, and what follows. False where it is not so simple. */
static ehf_always_inline bool
short_range(const struct ehf_abi *abi, u64 addr, const u8 *p, bool sized, bool big_endian,
	    struct short_fde *f)
{
	f->start = ehf_addr(abi, addr + 8 + (u64)(s64)(s32)ehf_number(p, 4, big_endian));
	f->range = ehf_number(p + 4, 4, big_endian);
	if (f->range >> 31 || f->start >> 62)
		return false;
	if (abi->addr_size == 4 && f->start + f->range > ~0U)
		return false;
	p += 8;
	if (sized) {
		if (p == f->end || *p >= 0x80 || *p >= f->end - p)
			return false;
		p += 1 + *p;
	}
	f->insns = p;
	return true;
}

/*
 * The instructions of nearly all CIEs: def_cfa, then registers that are saved, then padding; in
 * that of _start an RA that is undefined.
 */
static bool short_cie_insns(const struct ehf_abi *abi, const u8 *p, const u8 *end,
			    struct ehf_plain_cie *cie)
{
	struct ehf_plain *row = &cie->initial;
	u64 reg, off;

	row->word = 0;
	if (p == end || *p++ != DW_CFA_def_cfa || !short_uleb(&p, end, &reg) ||
	    !short_uleb(&p, end, &off) || !set_cfa_reg(cie, row, reg) ||
	    !set_cfa_off(row, off, cie->shift))
		return false;
	while (p < end) {
		reg = *p++;
		if (reg == DW_CFA_nop)
			continue;
		if (reg == DW_CFA_undefined && p < end && *p == cie->ra) {
			row->word = (row->word & ~EHF_PLAIN_RA) | EHF_PLAIN_RA_UNDEF;
			p++;
			continue;
		}
		if ((reg & 0xc0) != DW_CFA_offset || p == end || *p >= 0x80)
			return false;
		reg &= 0x3f;
		off = *p++;
		if (cie->tracked >> reg & 1 &&
		    !set_saved(cie, abi, row, reg, (s64)off * cie->factor))
			return false;
	}
	return true;
}

/* The augmentation data that @letters announce, from @p on; NULL where it is not as usual. */
static const u8 *short_augmentation(const u8 *letters, const u8 *p, const u8 *end)
{
	const u8 *data;
	u8 len, enc = 0;

	if (p == end || *p >= 0x80)
		return NULL;
	len = *p++;
	if (len > end - p)
		return NULL;
	end = p + len;
	data = p;
	for (; *letters; letters++) {
		if (*letters == 'B')
			continue;
		if ((*letters != 'R' && *letters != 'L' && *letters != 'P') || data == end)
			return NULL;
		if (*letters == 'R')
			enc = *data;
		if (*letters == 'P') {
			/* sdata4 or udata4 */
			if ((*data & 0x7) != DW_EH_PE_udata4 ||
			    end - data < 5)
				return NULL;
			data += 4;
		}
		data++;
	}
	return enc == (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ? end : NULL;
}

/* The most letters that are looked at, 'z' included. */
#define MAX_LETTERS	6

/* Reads a CIE; false where it has anything out of the ordinary. LSB 5.0, 10.6.1.1.1. */
static bool short_cie(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
		      struct ehf_plain_cie *cie)
{
	const struct ehf_abi *abi = ctx->abi;
	u64 len, id;
	const u8 *p = short_head(ctx, s, addr, abi->big_endian, &len, &id), *end, *letters;
	s64 data_align;
	u32 k = 0;

	if (!p || id)
		return false;
	end = p + 4 + len;
	p += 8;
	/* Version 1 has a byte where version 3 has a ULEB128: below 128 they are the same. */
	if (*p != 1 && *p != 3)
		return false;
	letters = ++p;
	while (k < MAX_LETTERS && p < end && *p) {
		k++;
		p++;
	}
	if (end - p < 4 || *p || (k && *letters != 'z') || p[1] >= 0x80 || !p[1] || p[2] >= 0x80 ||
	    p[3] >= 0x80)
		return false;
	data_align = (s64)ehf_sign_extend((u64)p[2] << 1, 1) / 2;
	cie->code_align = p[1];
	cie->ra = p[3];
	cie->sized = k;
	p += 4;
	cie->shift = abi->word_size == 8 ? 3 : 2;
	cie->factor = (s8)(data_align / (1 << cie->shift));
	if (cie->factor > MAX_FACTOR || cie->factor < -MAX_FACTOR || !cie->factor ||
	    cie->factor * (1 << cie->shift) != data_align || abi->reg_fp > 63 ||
	    abi->reg_sp > 63 || cie->ra > 63 || abi->reg_fp == cie->ra ||
	    abi->reg_fp == abi->reg_sp || cie->ra == abi->reg_sp)
		return false;
	cie->fp = (u8)abi->reg_fp;
	cie->sp = (u8)abi->reg_sp;
	cie->tracked = 1ULL << cie->fp | 1ULL << cie->ra | 1ULL << cie->sp;
	if (k)
		p = short_augmentation(letters + 1, p, end);
	/* Without an 'R' addresses are absolute. */
	if (!k || !p)
		return false;
	cie->size = (u32)(end - p);
	return short_cie_insns(abi, p, end, cie);
}

/* Learns a CIE; also that it is none for the short way. */
static ehf_noinline void learn_cie(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
				   struct ehf_plain_cie *cie)
{
	cie->generation = ctx->generation;
	cie->addr = addr;
	cie->usable = short_cie(ctx, s, addr, cie);
}

/* The address that a table entry's field of 4 bytes at @p stands for. */
static inline u64 entry_field(const struct ehf_section *s, const u8 *p, bool big_endian, u64 mask)
{
	return (s->hdr + (u64)(s64)(s32)ehf_number(p, 4, big_endian)) & mask;
}

/* The last entry of a table of 4-byte distances from the header whose start is not above @pc. */
static ehf_always_inline const u8 *
short_search(const struct ehf_section *s, const struct ehf_hand *table, u64 pc, bool big_endian,
	     u64 mask)
{
	const u8 *at = table->p;
	u64 nr = table->len / 8;

	/* Whichever half it is, its middle is under way while this one is compared. */
	while (nr > 16) {
		const u64 half = nr / 2;
		const u8 *p = at + half * 8;

		ehf_prefetch(at + half / 2 * 8);
		ehf_prefetch(p + half / 2 * 8);
		at = entry_field(s, p, big_endian, mask) <= pc ? p : at;
		nr -= half;
	}
	while (nr > 1) {
		const u64 half = nr / 2;
		const u8 *p = at + half * 8;

		at = entry_field(s, p, big_endian, mask) <= pc ? p : at;
		nr -= half;
	}
	return at;
}

/* The first instruction of a program. */
static inline void begin(struct ehf_plain_run *run, const struct ehf_ctx *ctx,
			 const struct short_fde *f, struct ehf_plain initial)
{
	run->p = f->insns;
	run->end = f->end;
	run->abi = ctx->abi;
	run->states = ctx->limits->states < EHF_MAX_STATES ? ctx->limits->states : EHF_MAX_STATES;
	run->depth = 0;
	run->loc = f->start;
	run->row = initial;
}

/**
 * ehf_plain_table() - make a search table ready for ehf_plain_find()
 * @s: the section
 * @table: bytes at hand, as many as @s->nr_fdes entries have; its length becomes 0 where the table
 *	is of another kind than nearly all
 */
void ehf_plain_table(const struct ehf_section *s, struct ehf_hand *table)
{
	if (s->table_enc != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || s->entry_size != 8 ||
	    !s->nr_fdes || table->start != s->table || table->len / 8 < s->nr_fdes || s->hdr >> 62)
		table->len = 0;
	else
		table->len = s->nr_fdes * 8;
}

static ehf_always_inline bool
plain_find(const struct ehf_ctx *ctx, const struct ehf_section *s, const struct ehf_hand *table,
	   u64 pc, struct ehf_plain *plain, bool big_endian, u32 word_size, u32 addr_size)
{
	const u64 mask = addr_size == 4 ? ~0U : ~0ULL;
	struct ehf_plain_cie *cie;
	struct ehf_plain_run run;
	struct short_fde f;
	u64 start, fde;
	const u8 *p;

	if (table->len < 8 || pc < s->text_start || pc >= s->text_end || pc >> 62 || !ctx->nr_plain)
		return false;
	p = short_search(s, table, pc, big_endian, mask);
	start = entry_field(s, p, big_endian, mask);
	fde = entry_field(s, p + 4, big_endian, mask);
	if (fde < s->eh_frame)
		return false;
	p = short_fde(ctx, s, fde, big_endian, &f);
	if (!p)
		return false;
	cie = &ctx->plain[(f.cie >> 2 ^ f.cie >> 12) & (ctx->nr_plain - 1)];
	if (ehf_unlikely(cie->generation != ctx->generation || cie->addr != f.cie))
		learn_cie(ctx, s, f.cie, cie);
	if (!cie->usable || !short_range(ctx->abi, fde, p, cie->sized, big_endian, &f) ||
	    f.start != start || pc - start >= f.range ||
	    (u64)(f.end - f.insns) + cie->size > ctx->limits->insns)
		return false;
	begin(&run, ctx, &f, cie->initial);
	if (execute(cie, &run, word_size == 8 ? 3 : 2, pc, false, NULL, 0, NULL,
		    &ctx->cost->insns) != REACHED)
		return false;
	*plain = run.row;
	if ((plain->word & EHF_PLAIN_RA) == EHF_PLAIN_RA_UNDEF)
		*plain = ehf_plain_outermost();
	return plain->word & (EHF_PLAIN_RA | EHF_PLAIN_STOP);
}

/* Little-endian machines of 64 bits have code of their own. */
static ehf_noinline bool
find_any(const struct ehf_ctx *ctx, const struct ehf_section *s, const struct ehf_hand *table,
	 u64 pc, struct ehf_plain *plain)
{
	const struct ehf_abi *abi = ctx->abi;

	return plain_find(ctx, s, table, pc, plain, abi->big_endian, abi->word_size,
			  abi->addr_size);
}

/**
 * ehf_plain_find() - the plain row that describes a pc
 * @ctx: memory, machine, limits, counters, and what is known of CIEs; @ctx->hand should have
 *	.eh_frame
 * @s: the section that covers it
 * @table: its search table, as ehf_plain_table() left it
 * @pc: the address to look up (for a return address: that minus 1)
 * @plain: filled in; an RA that is undefined is a stop
 *
 * Reads nothing but what is at hand.
 *
 * Return: true where the row is what ehf_row_find() gives; false where anything is out of the
 * ordinary: that then finds out, and says why.
 */
bool ehf_plain_find(const struct ehf_ctx *ctx, const struct ehf_section *s,
		    const struct ehf_hand *table, u64 pc, struct ehf_plain *plain)
{
	const struct ehf_abi *abi = ctx->abi;

	if (ehf_likely(abi->word_size == 8 && abi->addr_size == 8 && !abi->big_endian))
		return plain_find(ctx, s, table, pc, plain, false, 8, 8);
	return find_any(ctx, s, table, pc, plain);
}

/**
 * ehf_pass_start() - begin a pass over all FDEs of a section, front to back
 * @pass: the pass
 * @ctx: memory, machine, limits, counters; must outlive @pass. With .eh_frame in @ctx->hand most
 *	records take the short way
 * @s: the section; must outlive @pass
 */
void ehf_pass_start(struct ehf_pass *pass, const struct ehf_ctx *ctx, const struct ehf_section *s)
{
	pass->ctx = ctx;
	pass->s = s;
	pass->rec.next = s->eh_frame;
	pass->fde.cie.addr = 0;
	pass->cie = (struct ehf_plain_cie){ .usable = false };
	pass->state = EHF_PASS_DONE;
}

/* The next record on the short way: an FDE of the CIE that the one before it had. */
static inline bool next_short(struct ehf_pass *pass, u64 addr)
{
	const struct ehf_ctx *ctx = pass->ctx;
	const bool big_endian = ctx->abi->big_endian;
	struct ehf_fde *fde = &pass->fde;
	struct short_fde f;
	const u8 *p;

	if (!pass->cie.usable)
		return false;
	p = short_fde(ctx, pass->s, addr, big_endian, &f);
	if (!p || f.cie != fde->cie.addr || f.cie != pass->cie.addr ||
	    !short_range(ctx->abi, addr, p, pass->cie.sized, big_endian, &f) ||
	    (u64)(f.end - f.insns) + pass->cie.size > ctx->limits->insns)
		return false;
	pass->rec = (struct ehf_record){ EHF_RECORD_FDE, addr, f.next, f.cie };
	fde->addr = addr;
	fde->start = f.start;
	fde->range_end = f.start + f.range;
	fde->end = f.next;
	fde->insns = f.next - (u64)(f.end - f.insns);
	begin(&pass->run, ctx, &f, pass->cie.initial);
	pass->state = f.range ? EHF_PASS_RUNS : EHF_PASS_DONE;
	return true;
}

/**
 * ehf_pass_next() - go on to the next FDE
 * @pass: a pass that was started
 * @stop: why the record at @pass->rec.addr cannot be used, or EHF_STOP_NONE: then @pass->fde is it,
 *	and ehf_pass_rows() has its rows
 *
 * CIEs are passed over. A record whose length is wrong is the last one.
 *
 * Return: false at the end of the section.
 */
bool ehf_pass_next(struct ehf_pass *pass, enum ehf_stop *stop)
{
	u64 addr = pass->rec.next;

	*stop = EHF_STOP_NONE;
	for (; addr < pass->s->eh_frame_end; addr = pass->rec.next) {
		if (next_short(pass, addr))
			return true;
		pass->state = EHF_PASS_DONE;
		*stop = ehf_record_parse(pass->ctx, pass->s, addr, &pass->fde.cie, &pass->fde,
					 &pass->rec);
		if (*stop) {
			if (pass->rec.next == addr)
				pass->rec.next = pass->s->eh_frame_end;
			return true;
		}
		if (pass->rec.kind == EHF_RECORD_END)
			break;
		if (pass->rec.kind == EHF_RECORD_CIE)
			continue;
		if (pass->fde.cie.addr != pass->cie.addr)
			learn_cie(pass->ctx, pass->s, pass->fde.cie.addr, &pass->cie);
		if (next_short(pass, addr))
			return true;
		pass->run.loc = pass->fde.start;
		pass->state = pass->fde.start < pass->fde.range_end ? EHF_PASS_OTHER :
								      EHF_PASS_DONE;
		return true;
	}
	pass->rec.next = pass->s->eh_frame_end;
	return false;
}

/**
 * ehf_pass_rows() - the next rows of the present FDE
 * @pass: a pass whose ehf_pass_next() found an FDE
 * @rows: filled in, ascending; there is one for each change of the location, as
 *	ehf_program_next() has them
 * @max: how many it has room for; at least 1
 *
 * Return: how many; 0 where there are no more.
 */
u32 ehf_pass_rows(struct ehf_pass *pass, struct ehf_plain_row *rows, u32 max)
{
	const u64 last = pass->fde.range_end - 1;
	struct ehf_plain_run *run = &pass->run;
	u64 *const insns = &pass->ctx->cost->insns;
	enum result result;
	u32 nr = 0;

	if (pass->state == EHF_PASS_RUNS) {
		if (pass->cie.shift == 3)
			result = execute(&pass->cie, run, 3, last, true, rows, max, &nr, insns);
		else
			result = execute(&pass->cie, run, 2, last, true, rows, max, &nr, insns);
		switch (result) {
		case REACHED:
			if (run->loc > last)
				pass->state = EHF_PASS_DONE;
			else if (nr < max) {
				rows[nr++] = (struct ehf_plain_row){ run->loc, run->row };
				pass->state = EHF_PASS_DONE;
			}
			break;
		case LEFT:
			pass->state = EHF_PASS_OTHER;
			break;
		default:
			break;
		}
	}
	if (pass->state == EHF_PASS_OTHER && nr < max) {
		rows[nr++] = (struct ehf_plain_row){ run->loc, ehf_plain_none(EHF_STOP_NONE) };
		pass->state = EHF_PASS_DONE;
	}
	return nr;
}
