// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * .eh_frame_hdr and its search table: from a pc to the FDE that covers it.
 */
#include "ehframe/lookup.h"

#include "ehframe/dwarf.h"

/*
 * A table can be searched when its entries have one size. Relative to what is asked of the
 * encoding again for each entry: pc-relative ones differ from field to field.
 */
static u32 table_field(const struct ehf_abi *abi, u8 enc)
{
	if (enc == DW_EH_PE_omit || enc & DW_EH_PE_indirect)
		return 0;
	switch (enc & DW_EH_PE_application) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_pcrel:
	case DW_EH_PE_datarel:
		return ehf_pointer_size(abi, enc);
	default:
		return 0;
	}
}

/**
 * ehf_section_init() - read .eh_frame_hdr
 * @ctx: memory, machine, limits, counters
 * @s: the section; text range, @s->hdr and @s->hdr_end are given, or no header (@s->hdr is 0).
 *	@s->eh_frame is taken from the header where it is 0, and must be what the header says
 *	where both are there. @s->eh_frame_end bounds every record
 *
 * A header without a count or a table (DW_EH_PE_omit), or one whose entries have no fixed size,
 * leaves @s->table 0: lookups then scan, if @s->scan allows it. Source: LSB 5.0, 10.6.2.
 *
 * Return: EHF_STOP_NONE; EHF_STOP_SECTION_MEMORY; EHF_STOP_BAD_HEADER for a version other than
 * 1, an .eh_frame that it does not locate or locates elsewhere, or fields that are cut off;
 * EHF_STOP_BAD_TABLE for a table that reaches beyond the header's end.
 */
enum ehf_stop ehf_section_init(const struct ehf_ctx *ctx, struct ehf_section *s)
{
	u8 version, frame_enc, count_enc, table_enc;
	struct ehf_cursor c;
	u64 eh_frame, count;
	u32 size;

	s->table = 0;
	s->nr_fdes = 0;
	s->table_enc = DW_EH_PE_omit;
	s->entry_size = 0;
	if (!s->hdr)
		return s->eh_frame && s->eh_frame < s->eh_frame_end ? EHF_STOP_NONE :
								      EHF_STOP_BAD_HEADER;
	ehf_open(&c, ctx, s->hdr, s->hdr_end);
	version = ehf_u8(&c);
	frame_enc = ehf_u8(&c);
	count_enc = ehf_u8(&c);
	table_enc = ehf_u8(&c);
	if (c.stop)
		goto cut;
	if (version != 1)
		return EHF_STOP_BAD_HEADER;
	if (frame_enc != DW_EH_PE_omit) {
		eh_frame = ehf_pointer(&c, frame_enc, s->hdr);
		if (c.stop)
			goto cut;
		if (s->eh_frame && s->eh_frame != eh_frame)
			return EHF_STOP_BAD_HEADER;
		s->eh_frame = eh_frame;
	}
	if (!s->eh_frame || s->eh_frame >= s->eh_frame_end)
		return EHF_STOP_BAD_HEADER;
	if (count_enc == DW_EH_PE_omit || table_enc == DW_EH_PE_omit)
		return EHF_STOP_NONE;
	count = ehf_pointer(&c, count_enc, s->hdr);
	if (c.stop)
		goto cut;
	size = table_field(ctx->abi, table_enc);
	if (!size)
		return EHF_STOP_NONE;
	if (count > (c.end - ehf_pos(&c)) / (2 * size))
		return EHF_STOP_BAD_TABLE;
	s->table = ehf_pos(&c);
	s->nr_fdes = count;
	s->table_enc = table_enc;
	s->entry_size = (u8)(2 * size);
	return EHF_STOP_NONE;
cut:
	return c.stop == EHF_STOP_SECTION_MEMORY ? c.stop : EHF_STOP_BAD_HEADER;
}

/* Bytes at hand that hold entries of the table: @n at @p, the first entry at offset @at. */
struct entries {
	const u8 *p;
	u64 n;
	u64 at;
};

/*
 * The number of @len bytes at offset @at; 0 where it is not at hand. The search keeps its indexes
 * in range; that each is compared with what is there makes it a matter of this line alone.
 */
static inline u64 number_at(const struct entries *e, u64 at, u32 len, bool big_endian)
{
	return e->n >= len && at <= e->n - len ? ehf_number(e->p + at, len, big_endian) : 0;
}

/* One field of a table entry, at offset @at of what is at hand; its address is @addr. */
static inline u64 field(const struct ehf_abi *abi, const struct ehf_section *s,
			const struct entries *e, u64 at, u64 addr)
{
	u64 v = 0;

	switch (s->entry_size) {
	case 2 * 2:
		v = number_at(e, at, 2, abi->big_endian);
		break;
	case 2 * 4:
		v = number_at(e, at, 4, abi->big_endian);
		break;
	case 2 * 8:
		v = number_at(e, at, 8, abi->big_endian);
		break;
	default:
		break;
	}
	if (s->table_enc & DW_EH_PE_signed)
		v = ehf_sign_extend(v, s->entry_size / 2);
	if ((s->table_enc & DW_EH_PE_application) == DW_EH_PE_datarel)
		v += s->hdr;
	else if ((s->table_enc & DW_EH_PE_application) == DW_EH_PE_pcrel)
		v += addr;
	return ehf_addr(abi, v);
}

/**
 * ehf_entry_read() - read one entry of the search table
 * @ctx: memory, machine, limits, counters
 * @s: the section, which has a table
 * @index: below @s->nr_fdes
 * @entry: filled in
 *
 * Return: false where its bytes cannot be read.
 */
bool ehf_entry_read(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 index,
		    struct ehf_entry *entry)
{
	u64 addr = s->table + index * s->entry_size;
	u8 bytes[16] = { 0 };
	const struct entries e = { bytes, sizeof(bytes), 0 };
	u32 half = s->entry_size / 2;

	if (half > 8 || !ehf_read(ctx, addr, bytes, 2 * half))
		return false;
	entry->start = field(ctx->abi, s, &e, 0, addr);
	entry->fde = field(ctx->abi, s, &e, half, addr + half);
	return true;
}

/* How much of a table a source is asked to lend once the whole of it was not to be had. */
#define TABLE_LOAN	65536

/*
 * Entries [low, low + nr), if the source has them at hand or they fit in one copy. Asked for all
 * of them once, and again when what is left of the search is small.
 */
static bool take_entries(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 low, u64 nr,
			 u8 *buf, struct entries *e, bool *fault)
{
	const struct ehf_mem *mem = ctx->mem;
	const u64 size = s->entry_size;
	const u64 addr = s->table + low * size;
	const u64 bytes = nr * size;
	const u8 *p;
	u64 avail = 0;

	if (ehf_at_hand(&ctx->hand, addr, bytes)) {
		*e = (struct entries){ ctx->hand.p, ctx->hand.len, addr - ctx->hand.start };
		return true;
	}
	if (mem->direct && (nr == s->nr_fdes || (bytes <= TABLE_LOAN && bytes > TABLE_LOAN / 2) ||
			    (bytes <= EHF_PAGE && bytes > EHF_PAGE / 2))) {
		ctx->cost->reads++;
		p = mem->direct(mem, addr, bytes, &avail);
		if (p && avail >= bytes) {
			*e = (struct entries){ p, avail, 0 };
			return true;
		}
	}
	if (bytes > EHF_FETCH)
		return false;
	*e = (struct entries){ buf, EHF_FETCH, 0 };
	*fault = !ehf_read(ctx, addr, buf, (u32)bytes);
	return !*fault;
}

/*
 * The last entry of [low, low + nr), which @e holds, whose start is not above @pc, without a
 * branch that depends on the data. The table that nearly every file has, of 4-byte distances
 * from the header, gets a loop of its own.
 */
static u64 search_bytes(const struct ehf_ctx *ctx, const struct ehf_section *s,
			const struct entries *e, u64 low, u64 nr, u64 pc)
{
	const struct ehf_abi *abi = ctx->abi;
	const u64 size = s->entry_size, addr = s->table + low * size;
	u64 at = 0;

	if (s->table_enc == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && abi->addr_size == 8) {
		const bool big_endian = abi->big_endian;

		while (nr > 1) {
			u64 half = nr / 2;
			u64 v = number_at(e, e->at + (at + half) * 8, 4, big_endian);

			at += s->hdr + ehf_sign_extend(v, 4) <= pc ? half : 0;
			nr -= half;
		}
		return low + at;
	}
	while (nr > 1) {
		u64 half = nr / 2;
		u64 off = (at + half) * size;

		at += field(abi, s, e, e->at + off, addr + off) <= pc ? half : 0;
		nr -= half;
	}
	return low + at;
}

/*
 * The last entry whose start is not above @pc. A table that is not sorted gives some entry,
 * which the FDE's own range then refutes.
 */
static enum ehf_stop search(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
			    struct ehf_entry *best, struct ehf_found *found)
{
	u64 low = 0, nr = s->nr_fdes, off;
	u8 buf[EHF_FETCH] = { 0 };
	struct entries e = { buf, 0, 0 };
	bool fault = false;

	found->steps += 64 - (u64)__builtin_clzll(nr);
	while (!take_entries(ctx, s, low, nr, buf, &e, &fault)) {
		u64 half = nr / 2;

		if (fault || !ehf_entry_read(ctx, s, low + half, best))
			return EHF_STOP_SECTION_MEMORY;
		low += best->start <= pc ? half : 0;
		nr -= half;
	}
	found->index = search_bytes(ctx, s, &e, low, nr, pc);
	off = (found->index - low) * s->entry_size;
	best->start = field(ctx->abi, s, &e, e.at + off, s->table + found->index * s->entry_size);
	off += s->entry_size / 2;
	best->fde = field(ctx->abi, s, &e, e.at + off,
			  s->table + found->index * s->entry_size + s->entry_size / 2);
	return best->start <= pc ? EHF_STOP_NONE : EHF_STOP_NO_FDE;
}

static enum ehf_stop find_by_table(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
				   struct ehf_fde *fde, struct ehf_found *found)
{
	struct ehf_entry e = { 0, 0 };
	enum ehf_stop stop;
	u64 start;
	u32 k;

	found->by_table = true;
	stop = search(ctx, s, pc, &e, found);
	if (stop)
		return stop;
	start = e.start;
	for (k = 0; k < EHF_MAX_EQUAL; k++) {
		if (e.fde < s->eh_frame || e.fde >= s->eh_frame_end)
			return EHF_STOP_BAD_TABLE;
		stop = ehf_fde_parse_with(ctx, s, e.fde, &fde->cie, fde);
		if (stop)
			return stop;
		if (fde->start != start)
			return EHF_STOP_TABLE_MISMATCH;
		if (pc < fde->range_end)
			return EHF_STOP_NONE;
		/* An empty range may hide the real one behind the same start. */
		if (fde->range_end != start || !found->index)
			return EHF_STOP_NO_FDE;
		found->index--;
		found->steps++;
		if (!ehf_entry_read(ctx, s, found->index, &e))
			return EHF_STOP_SECTION_MEMORY;
		if (e.start != start)
			return EHF_STOP_NO_FDE;
	}
	return EHF_STOP_LIMIT_SCAN;
}

/* First record that covers @pc, front to back; the terminator ends it. */
static enum ehf_stop find_by_scan(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
				  struct ehf_fde *fde, struct ehf_found *found)
{
	struct ehf_record rec = { 0 };
	enum ehf_stop stop;
	u64 addr = s->eh_frame;

	while (addr < s->eh_frame_end) {
		if (found->steps++ == ctx->limits->scan_records)
			return EHF_STOP_LIMIT_SCAN;
		stop = ehf_record_parse(ctx, s, addr, &fde->cie, fde, &rec);
		if (stop == EHF_STOP_SECTION_MEMORY || rec.next == addr)
			return stop;
		/* What else is wrong with one FDE is no matter here unless it is the one. */
		if (!stop && rec.kind == EHF_RECORD_END)
			break;
		if (!stop && rec.kind == EHF_RECORD_FDE && pc >= fde->start && pc < fde->range_end)
			return EHF_STOP_NONE;
		addr = rec.next;
	}
	return EHF_STOP_NO_FDE;
}

/**
 * ehf_fde_find() - find the FDE that covers a pc
 * @ctx: memory, machine, limits, counters
 * @s: the section, as ehf_section_init() left it
 * @pc: the address to look up (for a return address: that minus 1)
 * @fde: filled in on success; @fde->cie must hold a CIE of this section or a zero address
 *	before the call, and is not read again when it is the one
 * @found: filled in: how it was found
 *
 * With a search table the FDE is that of the last entry whose start is not above @pc, as for
 * libgcc and libdw; where entries share that start, one with an empty range is passed over.
 * A miss in a table with entries is final: a gap must stay cheap.
 *
 * Return: EHF_STOP_NONE; EHF_STOP_NO_FDE; EHF_STOP_SECTION_MEMORY; EHF_STOP_BAD_TABLE;
 * EHF_STOP_TABLE_MISMATCH; EHF_STOP_LIMIT_SCAN; or as ehf_fde_parse_with().
 */
enum ehf_stop ehf_fde_find(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
			   struct ehf_fde *fde, struct ehf_found *found)
{
	*found = (struct ehf_found){ 0 };
	if (pc < s->text_start || pc >= s->text_end)
		return EHF_STOP_NO_FDE;
	if (s->table && s->nr_fdes)
		return find_by_table(ctx, s, pc, fde, found);
	if (!s->scan)
		return EHF_STOP_NO_FDE;
	return find_by_scan(ctx, s, pc, fde, found);
}
