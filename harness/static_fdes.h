/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every FDE of an image: what the search table lists and what a scan finds, and where the two
 * disagree.
 */
#ifndef HARNESS_STATIC_FDES_H
#define HARNESS_STATIC_FDES_H

#include "harness/image.h"

#define STATIC_FDE_TABLE	0x01	/* the search table lists it */
#define STATIC_FDE_SCAN		0x02	/* a scan up to the terminator meets it */
#define STATIC_FDE_BEHIND	0x04	/* it stands behind a terminator */
#define STATIC_FDE_DUPLICATE	0x08	/* another one has the same, not empty, range start */
#define STATIC_FDE_OVERLAPS	0x10	/* another one covers some of its range */
#define STATIC_FDE_DEAD		0x20	/* it starts at 0, where the file has no code */

/**
 * struct static_fde - one FDE
 * @addr: address of its record
 * @start: first address of its range; of the table's entry where the FDE cannot be read
 * @end: one past the last
 * @stop: why it cannot be read, EHF_STOP_NONE where it can
 * @flags: STATIC_FDE_*
 */
struct static_fde {
	u64 addr;
	u64 start;
	u64 end;
	enum ehf_stop stop;
	u32 flags;
};

/**
 * struct static_fdes - all of them, ordered by start, then by record
 * @fde: @nr of them
 * @by_table: how many the table lists; @by_scan a scan meets; @behind stand behind a terminator
 * @table_misses: that a scan meets and the table does not list
 * @behind_by_table: listed by the table, behind a terminator
 * @unlisted: FDEs behind a terminator that the table does not list; they are not in @fde, as
 *	no lookup finds them
 * @unsorted: table entries below their predecessor
 * @wrong_start: table entries whose start is not their FDE's
 * @same_start: table entries with the start of their predecessor
 * @terminator: addresses of the first few terminators with bytes behind them
 * @nr_terminators: how many there are
 * @bytes_behind: bytes behind the first one
 * @bad_record: address of a record whose length is bad, which ends the scan; 0 for none
 * @bad_stop: what is wrong with it
 * @overlapping, @zero_length, @dead, @unreadable: FDEs of that kind
 */
struct static_fdes {
	struct static_fde *fde;
	size_t nr;
	size_t room;
	u64 by_table;
	u64 by_scan;
	u64 behind;
	u64 table_misses;
	u64 behind_by_table;
	u64 unlisted;
	u64 unsorted;
	u64 wrong_start;
	u64 same_start;
	u64 terminator[4];
	u64 nr_terminators;
	u64 bytes_behind;
	u64 bad_record;
	enum ehf_stop bad_stop;
	u64 overlapping;
	u64 zero_length;
	u64 dead;
	u64 unreadable;
};

bool static_fdes_read(struct static_fdes *f, const struct image *img, const struct ehf_ctx *ctx);
void static_fdes_free(struct static_fdes *f);

#endif /* HARNESS_STATIC_FDES_H */
