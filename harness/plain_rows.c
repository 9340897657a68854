// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rows of the short way: what they say has to be what the general way says, and all of a section,
 * where that gives those that are not plain.
 */
#include "harness/plain_rows.h"

/* A row without a place for the RA is no plain one by itself: any place makes it one. */
static bool same_but_for_ra(const struct ehf_abi *abi, struct ehf_plain is,
			    const struct ehf_row *row)
{
	struct ehf_row other = *row;
	struct ehf_plain plain;

	if (!(is.word & EHF_PLAIN_RA) && row->rule[EHF_RA].kind != EHF_RULE_UNSPEC)
		return false;
	other.flags &= (u16)~EHF_ROW_OUTERMOST;
	other.rule[EHF_RA] = (struct ehf_rule){ .kind = EHF_RULE_AT_CFA, .off = abi->word_size };
	return ehf_plain_pack(abi, &other, &plain) &&
	       !((plain.word ^ is.word) & ~EHF_PLAIN_RA);
}

/**
 * plain_row_same() - compare a row of ehf_pass_rows() with one of ehf_program_next()
 * @abi: the machine
 * @is: the first
 * @row: the second
 *
 * A row with EHF_PLAIN_STOP says where the short way ends and no more: only its start counts.
 *
 * Return: whether both say the same.
 */
bool plain_row_same(const struct ehf_abi *abi, const struct ehf_plain_row *is,
		    const struct ehf_row *row)
{
	const u64 ra = is->row.word & EHF_PLAIN_RA;
	const bool outermost = row->flags & EHF_ROW_OUTERMOST;
	struct ehf_plain plain;

	if (is->start != row->start)
		return false;
	if (is->row.word & EHF_PLAIN_STOP)
		return ehf_plain_stop(is->row) == EHF_STOP_NONE;
	if (row->stop || outermost != (ra == EHF_PLAIN_RA_UNDEF))
		return false;
	if (!ra || outermost)
		return same_but_for_ra(abi, is->row, row);
	return ehf_plain_pack(abi, row, &plain) && plain.word == is->row.word;
}

/* The rows of an FDE from @start on, which are not plain or follow one that is not. */
static u64 read_others(const struct ehf_ctx *ctx, const struct ehf_fde *fde, u64 start, u64 *sum)
{
	struct ehf_program p;
	struct ehf_row row;
	u64 nr = 0;

	ehf_program_start(&p, ctx, fde);
	while (ehf_program_next(&p, &row)) {
		if (row.start < start)
			continue;
		*sum += row.start ^ (u64)row.cfa.off;
		nr++;
	}
	return nr;
}

/* All rows of the FDE that a pass has got to. */
static u64 read_fde(struct ehf_pass *pass, u64 *sum)
{
	struct ehf_plain_row row[64];
	u64 nr = 0;
	u32 n;

	while ((n = ehf_pass_rows(pass, row, EHF_ARRAY_SIZE(row))) != 0) {
		for (u32 k = 0; k < n; k++)
			*sum += row[k].start ^ row[k].row.word;
		nr += n;
		if (row[n - 1].row.word & EHF_PLAIN_STOP)
			nr += read_others(pass->ctx, &pass->fde, row[n - 1].start, sum) - 1;
	}
	return nr;
}

/**
 * plain_rows_read() - read all rows of a section, front to back
 * @ctx: memory, machine, limits, counters; with .eh_frame at hand most of it takes the short way
 * @s: the section
 * @sum: something of each row is added, so that none is read in vain
 *
 * FDEs that cannot be read are passed over, and so are terminators.
 *
 * Return: how many there are.
 */
u64 plain_rows_read(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 *sum)
{
	struct ehf_pass pass;
	enum ehf_stop stop;
	u64 nr = 0;

	ehf_pass_start(&pass, ctx, s);
	for (;;) {
		while (ehf_pass_next(&pass, &stop))
			if (!stop)
				nr += read_fde(&pass, sum);
		/* A section may go on behind a terminator. */
		if (pass.rec.kind != EHF_RECORD_END || pass.rec.addr >= s->eh_frame_end - 4)
			return nr;
		pass.rec = (struct ehf_record){ .kind = EHF_RECORD_CIE, .next = pass.rec.addr + 4 };
	}
}
