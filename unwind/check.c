// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Validation of a search table: sorted, and each entry names the FDE that starts there.
 */
#include "unwind/check.h"

/**
 * ehu_check_table() - read every entry of a search table and the FDE that it names
 * @ctx: memory, machine, limits, counters
 * @s: the section, as ehf_section_init() left it
 *
 * Entries that share a start are fine (a zero-length FDE hides behind another), and so are FDEs
 * outside the section's text. An FDE that is malformed or outside our subset is one FDE's
 * matter and passes. A section without a table passes.
 *
 * Return: EHF_STOP_NONE; EHF_STOP_BAD_TABLE for one that is not sorted or names something that
 * is no FDE with that start; EHF_STOP_LIMIT_SCAN where it has more than EHU_CHECK_MAX entries;
 * EHF_STOP_SECTION_MEMORY; or what is corrupt about a record, as ehf_fde_parse_with().
 */
enum ehf_stop ehu_check_table(const struct ehf_ctx *ctx, const struct ehf_section *s)
{
	struct ehf_fde fde = { 0 };
	struct ehf_entry e;
	enum ehf_stop stop;
	u64 last = 0;
	u64 k;

	if (!s->table)
		return EHF_STOP_NONE;
	if (s->nr_fdes > EHU_CHECK_MAX)
		return EHF_STOP_LIMIT_SCAN;
	for (k = 0; k < s->nr_fdes; k++) {
		if (!ehf_entry_read(ctx, s, k, &e))
			return EHF_STOP_SECTION_MEMORY;
		if (e.start < last || e.fde < s->eh_frame || e.fde >= s->eh_frame_end)
			return EHF_STOP_BAD_TABLE;
		last = e.start;
		stop = ehf_fde_parse_with(ctx, s, e.fde, &fde.cie, &fde);
		if (stop == EHF_STOP_SECTION_MEMORY ||
		    ehf_stop_class(stop) == EHF_CLASS_CORRUPT)
			return stop;
		if (!stop && fde.start != e.start)
			return EHF_STOP_BAD_TABLE;
	}
	return EHF_STOP_NONE;
}
