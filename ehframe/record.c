// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CIE and FDE: from the bytes of a record to its fields.
 */
#include "ehframe/record.h"

#include "ehframe/dwarf.h"

/*
 * Opens the record at @addr and leaves the cursor behind its id, with the record as the
 * window. Lengths: LSB 5.0, 10.6.1.1; in a 64-bit record the id has 8 bytes.
 */
static enum ehf_stop open_record(struct ehf_cursor *c, const struct ehf_ctx *ctx,
				 const struct ehf_section *s, u64 addr, struct ehf_record *rec)
{
	u32 id_size = 4;
	u64 len, id, id_addr;

	rec->kind = EHF_RECORD_END;
	rec->addr = addr;
	rec->next = addr;
	rec->cie = 0;
	if (addr < s->eh_frame || addr >= s->eh_frame_end) {
		/* Not a read: nothing of the section is there. */
		ehf_open(c, ctx, addr, addr);
		return EHF_STOP_BAD_RECORD_LENGTH;
	}
	ehf_open(c, ctx, addr, s->eh_frame_end);
	len = ehf_u32(c);
	if (len == 0xffffffff) {
		id_size = 8;
		len = ehf_fixed(c, 8);
	} else if (len >= 0xfffffff0) {
		return EHF_STOP_BAD_RECORD_LENGTH;
	}
	if (c->stop)
		return c->stop == EHF_STOP_TRUNCATED ? EHF_STOP_BAD_RECORD_LENGTH : c->stop;
	if (!len) {
		rec->next = ehf_pos(c);
		return EHF_STOP_NONE;
	}
	if (len < id_size || len > c->end - ehf_pos(c))
		return EHF_STOP_BAD_RECORD_LENGTH;
	rec->next = ehf_pos(c) + len;
	if (len > ctx->limits->record_len)
		return EHF_STOP_LIMIT_FDE_LENGTH;
	ehf_narrow(c, len);
	id_addr = ehf_pos(c);
	id = id_size == 4 ? ehf_u32(c) : ehf_fixed(c, 8);
	if (c->stop)
		return c->stop;
	if (!id) {
		rec->kind = EHF_RECORD_CIE;
		return EHF_STOP_NONE;
	}
	rec->kind = EHF_RECORD_FDE;
	if (id > id_addr - s->eh_frame)
		return EHF_STOP_BAD_CIE_POINTER;
	rec->cie = id_addr - id;
	return EHF_STOP_NONE;
}

/**
 * ehf_record_head() - read a record's length and id
 * @ctx: memory, machine, limits, counters
 * @s: the section that holds it
 * @addr: address of its first byte
 * @rec: filled in; @rec->next is right (never below @addr + 4) unless the length itself is bad,
 *	in which case it is @addr
 *
 * Return: EHF_STOP_NONE, EHF_STOP_SECTION_MEMORY, EHF_STOP_BAD_RECORD_LENGTH,
 * EHF_STOP_BAD_CIE_POINTER, EHF_STOP_LIMIT_FDE_LENGTH.
 */
enum ehf_stop ehf_record_head(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			      struct ehf_record *rec)
{
	struct ehf_cursor c;

	return open_record(&c, ctx, s, addr, rec);
}

/*
 * The letters of an augmentation string, and the data that they announce. Letters whose data
 * is of unknown size are skipped by the 'z' length; that is fine unless one that matters
 * comes later and has its data behind them (LSB 5.0, 10.6.1.1.1; 'B' and 'G': AArch64).
 */
static enum ehf_stop parse_sized(struct ehf_cursor *c, const struct ehf_ctx *ctx,
				 const u8 *letters, u32 nr, struct ehf_cie *cie)
{
	bool lost = false;
	u32 k, size, pad;
	u8 enc;

	for (k = 0; k < nr; k++) {
		switch (letters[k]) {
		case 'S':
			cie->flags |= EHF_CIE_SIGNAL;
			break;
		case 'B':
			cie->flags |= EHF_CIE_B_KEY;
			break;
		case 'G':
			break;
		case 'R':
			if (lost)
				return EHF_STOP_AUGMENTATION;
			cie->fde_enc = ehf_u8(c);
			break;
		case 'L':
			if (!lost)
				ehf_u8(c);
			break;
		case 'P':
			if (lost)
				break;
			enc = ehf_u8(c);
			size = ehf_pointer_size(ctx->abi, enc);
			if (enc == DW_EH_PE_omit)
				break;
			if (enc == DW_EH_PE_aligned) {
				size = ctx->abi->addr_size;
				pad = (u32)(-ehf_pos(c) & (size - 1));
				ehf_skip(c, pad);
			}
			if (size)
				ehf_skip(c, size);
			else if ((enc & DW_EH_PE_format) == DW_EH_PE_uleb128)
				ehf_uleb(c);
			else if ((enc & DW_EH_PE_format) == DW_EH_PE_sleb128)
				ehf_sleb(c);
			else
				lost = true;
			break;
		default:
			lost = true;
			break;
		}
	}
	return EHF_STOP_NONE;
}

/* Longest augmentation string that is looked at; the longest seen is "zPLR". */
#define MAX_LETTERS	16

static enum ehf_stop parse_cie(struct ehf_cursor *c, const struct ehf_ctx *ctx,
			       struct ehf_cie *cie)
{
	u8 letters[MAX_LETTERS] = { 0 };
	enum ehf_stop stop;
	u32 nr = 0;
	u64 outer, ra;
	u8 ch;

	cie->version = ehf_u8(c);
	if (c->stop)
		return c->stop;
	if (cie->version != 1 && cie->version != 3 && cie->version != 4)
		return EHF_STOP_CIE_VERSION;
	while ((ch = ehf_u8(c)) != 0) {
		if (nr == MAX_LETTERS)
			return EHF_STOP_AUGMENTATION;
		letters[nr++] = ch;
	}
	if (cie->version == 4) {
		u8 addr_size = ehf_u8(c);
		u8 seg_size = ehf_u8(c);

		if (c->stop)
			return c->stop;
		if (addr_size != ctx->abi->addr_size || seg_size)
			return EHF_STOP_ADDRESS_SIZE;
	}
	if (nr && letters[0] != 'z') {
		if (nr != 2 || letters[0] != 'e' || letters[1] != 'h')
			return EHF_STOP_AUGMENTATION;
		ehf_skip(c, ctx->abi->addr_size);
	}
	cie->code_align = ehf_uleb(c);
	cie->data_align = ehf_sleb(c);
	ra = cie->version == 1 ? ehf_u8(c) : ehf_uleb(c);
	if (c->stop)
		return c->stop;
	cie->ra_reg = ra < EHF_REG_OTHER ? (u16)ra : EHF_REG_OTHER;
	if (!cie->code_align || !cie->data_align)
		return EHF_STOP_BAD_CIE;
	if (nr && letters[0] == 'z') {
		cie->flags |= EHF_CIE_SIZED;
		outer = ehf_narrow(c, ehf_uleb(c));
		stop = parse_sized(c, ctx, letters + 1, nr - 1, cie);
		if (stop)
			return stop;
		ehf_widen(c, outer);
	}
	return c->stop;
}

/**
 * ehf_cie_parse() - read a CIE
 * @ctx: memory, machine, limits, counters
 * @s: the section that holds it
 * @addr: address of its first byte
 * @cie: filled in
 *
 * Source: LSB 5.0, 10.6.1.1.1; version 4: DWARF 5, 6.4.1.
 *
 * Return: EHF_STOP_NONE; EHF_STOP_BAD_CIE_POINTER where @addr holds no CIE; EHF_STOP_BAD_CIE
 * where a field is cut off or an alignment factor is 0; EHF_STOP_CIE_VERSION,
 * EHF_STOP_ADDRESS_SIZE, EHF_STOP_AUGMENTATION; or as ehf_record_head().
 */
enum ehf_stop ehf_cie_parse(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			    struct ehf_cie *cie)
{
	struct ehf_record rec;
	struct ehf_cursor c;
	enum ehf_stop stop;

	*cie = (struct ehf_cie){ .addr = addr };
	stop = open_record(&c, ctx, s, addr, &rec);
	if (stop)
		return stop;
	if (rec.kind != EHF_RECORD_CIE)
		return EHF_STOP_BAD_CIE_POINTER;
	stop = parse_cie(&c, ctx, cie);
	if (stop == EHF_STOP_TRUNCATED || stop == EHF_STOP_LEB_RANGE)
		return EHF_STOP_BAD_CIE;
	if (stop)
		return stop;
	cie->insns = ehf_pos(&c);
	cie->end = rec.next;
	return EHF_STOP_NONE;
}

/* The CIE at @addr: the known one, one that was read before, or from its bytes. */
static enum ehf_stop find_cie(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			      const struct ehf_cie *known, struct ehf_cie *cie)
{
	struct ehf_memo_slot *slot;
	enum ehf_stop stop;

	if (known && known->addr == addr) {
		if (known != cie)
			*cie = *known;
		return EHF_STOP_NONE;
	}
	slot = ehf_memo_find(ctx, addr);
	if (slot) {
		*cie = slot->cie;
		return EHF_STOP_NONE;
	}
	stop = ehf_cie_parse(ctx, s, addr, cie);
	if (stop) {
		cie->addr = 0;	/* not to be taken for a known one */
		return stop;
	}
	slot = ehf_memo_slot(ctx, addr);
	if (slot) {
		slot->generation = ctx->generation;
		slot->cie = *cie;
		slot->has_state = false;
	}
	return EHF_STOP_NONE;
}

/**
 * ehf_record_parse() - read a record of any kind, an FDE in full
 * @ctx: memory, machine, limits, counters
 * @s: the section that holds it
 * @addr: address of its first byte
 * @known: a CIE that is used in place of reading it again where an FDE points to it, or NULL;
 *	may be &@fde->cie
 * @fde: filled in for an FDE; @fde->cie also where the stop concerns the FDE alone
 * @rec: filled in as by ehf_record_head()
 *
 * Source: LSB 5.0, 10.6.1.1.2. The range has the format of the initial location, but is never
 * relative to anything.
 *
 * Return: EHF_STOP_NONE; for an FDE: EHF_STOP_ENCODING, EHF_STOP_TRUNCATED, EHF_STOP_LEB_RANGE,
 * EHF_STOP_LIMIT_LEB, EHF_STOP_FDE_RANGE, or as ehf_cie_parse(); for all as ehf_record_head().
 */
enum ehf_stop ehf_record_parse(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			       const struct ehf_cie *known, struct ehf_fde *fde,
			       struct ehf_record *rec)
{
	struct ehf_cursor c;
	enum ehf_stop stop;
	u64 range, top;

	fde->addr = addr;
	fde->insns = addr;
	fde->end = addr;
	fde->start = 0;
	fde->range_end = 0;
	stop = open_record(&c, ctx, s, addr, rec);
	if (stop)
		return stop;
	fde->end = rec->next;
	if (rec->kind != EHF_RECORD_FDE)
		return EHF_STOP_NONE;
	stop = find_cie(ctx, s, rec->cie, known, &fde->cie);
	if (stop)
		return stop;
	if (fde->cie.fde_enc == (DW_EH_PE_pcrel | DW_EH_PE_sdata4)) {
		/* Nearly always; the general way gives the same. */
		u64 base = ehf_pos(&c);

		fde->start = ehf_addr(ctx->abi, base + ehf_sign_extend(ehf_u32(&c), 4));
		range = ehf_addr(ctx->abi, ehf_sign_extend(ehf_u32(&c), 4));
	} else {
		fde->start = ehf_pointer(&c, fde->cie.fde_enc, 0);
		range = ehf_pointer(&c, fde->cie.fde_enc & DW_EH_PE_format, 0);
	}
	if (fde->cie.flags & EHF_CIE_SIZED)
		ehf_skip(&c, ehf_uleb(&c));
	if (c.stop)
		return c.stop;
	top = ctx->abi->addr_size == 4 ? ~0U : ~0ULL;
	if (range > top - fde->start)
		return EHF_STOP_FDE_RANGE;
	fde->range_end = fde->start + range;
	fde->insns = ehf_pos(&c);
	return EHF_STOP_NONE;
}

/**
 * ehf_fde_parse_with() - read an FDE whose CIE may be known already
 * @ctx: memory, machine, limits, counters
 * @s: the section that holds it
 * @addr: address of its first byte
 * @known: as for ehf_record_parse()
 * @fde: filled in
 *
 * Return: EHF_STOP_NONE; EHF_STOP_BAD_CIE_POINTER for a CIE or a terminator at @addr; or as
 * ehf_record_parse().
 */
enum ehf_stop ehf_fde_parse_with(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
				 const struct ehf_cie *known, struct ehf_fde *fde)
{
	struct ehf_record rec = { 0 };
	enum ehf_stop stop = ehf_record_parse(ctx, s, addr, known, fde, &rec);

	if (stop)
		return stop;
	return rec.kind == EHF_RECORD_FDE ? EHF_STOP_NONE : EHF_STOP_BAD_CIE_POINTER;
}

/**
 * ehf_fde_parse() - read an FDE and its CIE
 * @ctx: memory, machine, limits, counters
 * @s: the section that holds it
 * @addr: address of its first byte
 * @fde: filled in
 *
 * Return: as ehf_fde_parse_with().
 */
enum ehf_stop ehf_fde_parse(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 addr,
			    struct ehf_fde *fde)
{
	*fde = (struct ehf_fde){ 0 };
	return ehf_fde_parse_with(ctx, s, addr, NULL, fde);
}
