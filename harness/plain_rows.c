// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rows of the short way: what they say has to be what the general way says, and all of a section,
 * where that gives those that are not plain.
 */
#include "harness/plain_rows.h"

static bool cfa_same(const struct ehf_abi *abi, struct ehf_plain is, const struct ehf_cfa *cfa)
{
	const bool load = is.word & EHF_PLAIN_CFA_LOAD;

	if (load ? cfa->kind != EHF_CFA_AT_REG || cfa->add :
		   cfa->kind != EHF_CFA_REG && cfa->kind != EHF_CFA_VAL_EXPR)
		return false;
	return cfa->reg == (is.word & EHF_PLAIN_CFA_FP ? abi->reg_fp : abi->reg_sp) &&
	       (u64)cfa->off == ehf_plain_cfa_off(is, abi->word_size);
}

static bool fp_same(const struct ehf_abi *abi, struct ehf_plain is, const struct ehf_rule *fp)
{
	const u64 off = ehf_plain_fp_off(is, abi->word_size);

	switch (is.word & EHF_PLAIN_FP_KIND) {
	case EHF_PLAIN_FP_SAVED:
		return fp->kind == EHF_RULE_AT_CFA && (u64)fp->off == off;
	case EHF_PLAIN_FP_LOST:
		return (fp->kind == EHF_RULE_UNDEF || fp->kind == EHF_RULE_STOP) && !off;
	case EHF_PLAIN_FP_AT_FP:
		return fp->kind == EHF_RULE_AT_REG && fp->reg == abi->reg_fp && !fp->off && !off;
	default:
		return (fp->kind == EHF_RULE_UNSPEC || fp->kind == EHF_RULE_SAME) && !off;
	}
}

static bool ra_same(const struct ehf_abi *abi, struct ehf_plain is, const struct ehf_rule *ra)
{
	switch (is.word & EHF_PLAIN_RA) {
	case 0:
		return ra->kind == EHF_RULE_UNSPEC;
	case EHF_PLAIN_RA_UNDEF:
		return ra->kind == EHF_RULE_UNDEF;
	default:
		return ra->kind == EHF_RULE_AT_CFA &&
		       (u64)ra->off == ehf_plain_ra_off(is, abi->word_size);
	}
}

static bool sp_same(const struct ehf_abi *abi, struct ehf_plain is, const struct ehf_rule *sp)
{
	if (!(is.word & EHF_PLAIN_SP_SAVED))
		return sp->kind == EHF_RULE_UNSPEC;
	return sp->kind == EHF_RULE_AT_CFA && abi->sp_slot && sp->off == abi->sp_slot;
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
	if (is->start != row->start)
		return false;
	if (is->row.word & EHF_PLAIN_STOP)
		return ehf_plain_stop(is->row) == EHF_STOP_NONE;
	return !row->stop && !(row->flags & EHF_ROW_SIGNAL) &&
	       !(is->row.word & ((1ULL << EHF_PLAIN_FREE_BITS) - 1)) &&
	       cfa_same(abi, is->row, &row->cfa) && ra_same(abi, is->row, &row->rule[EHF_RA]) &&
	       fp_same(abi, is->row, &row->rule[EHF_FP]) &&
	       sp_same(abi, is->row, &row->rule[EHF_SP]);
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
	u64 nr = 0, bad = 0;

	ehf_pass_start(&pass, ctx, s);
	for (;;) {
		while (ehf_pass_next(&pass, &stop)) {
			if (stop)
				bad = pass.rec.addr;
			else
				nr += read_fde(&pass, sum);
		}
		/* A section may go on behind a terminator, not behind a record without a length. */
		if (pass.rec.kind != EHF_RECORD_END || pass.rec.addr == bad ||
		    pass.rec.addr >= s->eh_frame_end - 4)
			return nr;
		pass.rec = (struct ehf_record){ .kind = EHF_RECORD_CIE, .next = pass.rec.addr + 4 };
	}
}
