/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Address ranges that overlap, made a map in which each address has one owner. */
#ifndef HARNESS_SYMBOLS_RANGES_H
#define HARNESS_SYMBOLS_RANGES_H

#include "ehframe/base.h"

/**
 * struct symbols_range - [start, end) belongs to item
 * @start: first address
 * @end: one past the last
 * @prio: of two ranges that cover an address, the one with the higher value wins
 * @item: the caller's number
 */
struct symbols_range {
	u64 start;
	u64 end;
	u64 prio;
	u32 item;
};

/**
 * struct symbols_ranges - a set of them
 * @in: as added, @nr_in of them
 * @flat: disjoint and ascending, @nr of them, after symbols_ranges_flatten()
 */
struct symbols_ranges {
	struct symbols_range *in;
	size_t nr_in;
	size_t room;
	struct symbols_range *flat;
	size_t nr;
};

bool symbols_ranges_add(struct symbols_ranges *r, u64 start, u64 end, u64 prio, u32 item);
bool symbols_ranges_flatten(struct symbols_ranges *r);
const struct symbols_range *symbols_ranges_find(const struct symbols_ranges *r, u64 addr);
void symbols_ranges_free(struct symbols_ranges *r);

#endif /* HARNESS_SYMBOLS_RANGES_H */
