/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Rows printed for people and as JSON: one alone, or an FDE's as a table. */
#ifndef HARNESS_DUMP_ROW_H
#define HARNESS_DUMP_ROW_H

#include <stdio.h>

#include "ehframe/program.h"
#include "harness/image.h"

/**
 * struct dump - what is printed, and where to
 * @img: the file
 * @out: where to
 * @json: JSON, one object a line, in place of text
 */
struct dump {
	struct image *img;
	FILE *out;
	bool json;
};

/**
 * struct dump_found - how the row of a pc was found
 * @fde: its FDE; an address of 0 where there is none
 * @found: by the table or a scan
 * @cost: instructions, reads and bytes of the lookup and the evaluation
 */
struct dump_found {
	struct ehf_fde fde;
	struct ehf_found found;
	struct ehf_cost cost;
};

void dump_row_json(const struct dump *d, u64 pc, const struct ehf_fde *fde,
		   const struct ehf_row *row, const struct dump_found *how);
void dump_no_row_json(const struct dump *d, u64 pc, enum ehf_stop stop,
		      const struct ehf_row *row, const struct dump_found *how);
void dump_row_table_head(const struct dump *d);
void dump_row_table_line(const struct dump *d, const struct ehf_fde *fde,
			 const struct ehf_row *row);
void dump_row_one(const struct dump *d, u64 pc, u64 lookup);
void dump_symbol(const struct dump *d, u64 addr);

#endif /* HARNESS_DUMP_ROW_H */
