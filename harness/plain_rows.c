// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a row of the short way says has to be what the general way says.
 */
#include "harness/plain_rows.h"

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
	struct ehf_row other = *row;
	struct ehf_plain plain;

	if (is->start != row->start)
		return false;
	if (is->row.word & EHF_PLAIN_STOP)
		return ehf_plain_stop(is->row) == EHF_STOP_NONE;
	if (row->stop || outermost != (ra == EHF_PLAIN_RA_UNDEF))
		return false;
	/* Such a row is no plain one by itself: the others' place for the RA makes it one. */
	if (!ra || outermost) {
		if (!ra && row->rule[EHF_RA].kind != EHF_RULE_UNSPEC)
			return false;
		other.flags &= (u16)~EHF_ROW_OUTERMOST;
		other.rule[EHF_RA] = (struct ehf_rule){ .kind = EHF_RULE_AT_CFA,
							.off = abi->word_size };
		if (!ehf_plain_pack(abi, &other, &plain))
			return false;
		plain.word = (plain.word & ~EHF_PLAIN_RA) | ra;
	} else if (!ehf_plain_pack(abi, &other, &plain)) {
		return false;
	}
	return plain.word == is->row.word;
}
