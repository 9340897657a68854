// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A sorted map of text ranges, without locks: one user at a time, or many readers of a map
 * that nobody changes.
 */
#include "unwind/map.h"

/* Index of the first range that ends above @addr; map->nr where there is none. */
static u32 first_above(const struct ehu_map *map, u64 addr)
{
	u32 low = 0, high = map->nr;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (map->range[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/**
 * ehu_map_find() - the range that covers an address
 * @map: the map
 * @addr: an address in the target
 *
 * Return: the range, or NULL.
 */
const struct ehu_range *ehu_map_find(const struct ehu_map *map, u64 addr)
{
	u32 k = first_above(map, addr);

	return k < map->nr && map->range[k].start <= addr ? &map->range[k] : NULL;
}

static const struct ehf_section *find_section(const struct ehu_sections *sections, u64 addr)
{
	const struct ehu_map *map = (const struct ehu_map *)(const void *)sections;
	const struct ehu_range *r = ehu_map_find(map, addr);

	return r ? r->section : NULL;
}

/**
 * ehu_map_init() - make an empty map
 * @map: the map
 * @storage: room for @max ranges; belongs to the map from now on
 * @max: how many
 */
void ehu_map_init(struct ehu_map *map, struct ehu_range *storage, u32 max)
{
	map->sections.find = find_section;
	map->sections.corrupt = NULL;
	map->sections.generation = 0;
	map->range = storage;
	map->nr = 0;
	map->max = max;
}

/**
 * ehu_map_add() - add a text range
 * @map: the map
 * @start: first address
 * @end: one past the last address
 * @section: what describes it; must outlive its place in the map
 *
 * Return: 0, -EINVAL for an empty range, -EEXIST where it overlaps one that is there, -ENOSPC
 * where the storage is full.
 */
int ehu_map_add(struct ehu_map *map, u64 start, u64 end, const struct ehf_section *section)
{
	u32 k, at;

	if (start >= end)
		return -EINVAL;
	at = first_above(map, start);
	if (at < map->nr && map->range[at].start < end)
		return -EEXIST;
	if (map->nr == map->max)
		return -ENOSPC;
	for (k = map->nr; k > at; k--)
		map->range[k] = map->range[k - 1];
	map->range[at] = (struct ehu_range){ start, end, section };
	map->nr++;
	return 0;
}

/**
 * ehu_map_remove() - remove what lies in a range of addresses
 * @map: the map
 * @start: first address
 * @end: one past the last address
 *
 * Every text range that overlaps it goes, whole: part of a mapping is as good as none to what
 * was registered for all of it. An empty range overlaps nothing.
 */
void ehu_map_remove(struct ehu_map *map, u64 start, u64 end)
{
	u32 k, to = 0;

	if (start >= end)
		return;
	for (k = 0; k < map->nr; k++)
		if (map->range[k].end <= start || map->range[k].start >= end)
			map->range[to++] = map->range[k];
	map->nr = to;
}
