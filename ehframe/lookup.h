/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * From a pc to its FDE: .eh_frame_hdr, its search table, and the scan where there is none.
 */
#ifndef EHFRAME_LOOKUP_H
#define EHFRAME_LOOKUP_H

#include "ehframe/record.h"

/* Entries with one start that a lookup tries when those it meets have an empty range. */
#define EHF_MAX_EQUAL	16

/* How a lookup found its FDE, for the curious. */
struct ehf_found {
	bool by_table;
	u64 index;	/* entry of the search table */
	u64 steps;	/* probes of the table, or records scanned */
};

/* One entry of the search table: addresses in the target. */
struct ehf_entry {
	u64 start;
	u64 fde;
};

enum ehf_stop ehf_section_init(const struct ehf_ctx *ctx, struct ehf_section *s);
bool ehf_entry_read(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 index,
		    struct ehf_entry *entry);
enum ehf_stop ehf_fde_find(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 pc,
			   struct ehf_fde *fde, struct ehf_found *found);

#endif /* EHFRAME_LOOKUP_H */
