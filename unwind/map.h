/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Sections by text range: the interface that a walk asks, and a plain sorted map in storage
 * that the caller gives.
 */
#ifndef UNWIND_MAP_H
#define UNWIND_MAP_H

#include "ehframe/record.h"

/**
 * struct ehu_sections - who knows which section describes an address
 * @find: the section whose text covers @addr, or NULL. It stays valid until the walk is over
 * @corrupt: optional; told once when a stop of class corrupt showed that @s is wrong, so that
 *	it can be removed. Not called for anything else, a fault on its bytes included
 * @generation: names the present state: whoever changes what @find answers draws a new number,
 *	never 0, from one counter for all tasks, after the change. 0 forbids caching
 *
 * A user embeds it in its own structure and finds that from the pointer.
 */
struct ehu_sections {
	const struct ehf_section *(*find)(const struct ehu_sections *sections, u64 addr);
	void (*corrupt)(const struct ehu_sections *sections, const struct ehf_section *s,
			enum ehf_stop stop);
	unsigned long generation;
};

/*
 * The state that answers belong to which are asked for after this call. Another thread may change
 * it at any time; what is found under a number that is over is never asked for again.
 */
static inline u64 ehu_generation(const struct ehu_sections *sections)
{
	return __atomic_load_n(&sections->generation, __ATOMIC_ACQUIRE);
}

/* One text range: [start, end) is described by @section. */
struct ehu_range {
	u64 start;
	u64 end;
	const struct ehf_section *section;
};

/**
 * struct ehu_map - text ranges in order
 * @sections: for struct ehu_walk
 * @range: storage of the caller, sorted by start, without overlaps
 * @nr: ranges in use
 * @max: ranges that @range has room for
 */
struct ehu_map {
	struct ehu_sections sections;
	struct ehu_range *range;
	u32 nr;
	u32 max;
};

void ehu_map_init(struct ehu_map *map, struct ehu_range *storage, u32 max);
int ehu_map_add(struct ehu_map *map, u64 start, u64 end, const struct ehf_section *section);
void ehu_map_remove(struct ehu_map *map, u64 start, u64 end);
const struct ehu_range *ehu_map_find(const struct ehu_map *map, u64 addr);

#endif /* UNWIND_MAP_H */
