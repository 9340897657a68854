// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Modules in a task: the load bias that a mapping implies, and the CFI at that bias.
 */
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "harness/module.h"

static u64 page_down(u64 v)
{
	return v & ~(u64)(PAGER_PAGE - 1);
}

static u64 page_up(u64 v)
{
	return v > ~(u64)(PAGER_PAGE - 1) ? page_down(v) : page_down(v + PAGER_PAGE - 1);
}

/*
 * How well a segment explains a mapping; 0 where it does not. Its flags and where it begins say
 * most; where two segments share a page of the file (lld, mold), only they and the length tell
 * which one it is.
 */
static u32 fit(const struct image_segment *s, const struct perf_rec_mmap *map)
{
	u64 end = s->pos + (s->file_end - s->addr);
	u64 from = page_down(s->pos);
	bool exec = map->has_prot && map->prot ? map->prot & PROT_EXEC : !map->data;
	u32 score = 1;

	if (s->file_end <= s->addr || end < s->pos)
		return 0;
	/* Some page of the segment must be in the mapping. */
	if (map->pgoff >= page_up(end) ||
	    (from > map->pgoff && from - map->pgoff >= map->len))
		return 0;
	if (!!(s->flags & PF_X) == exec)
		score += 4;
	if (map->has_prot && map->prot && !!(s->flags & PF_W) == !!(map->prot & PROT_WRITE))
		score += 1;
	if (map->pgoff == from) {
		score += 2;
		if (map->len == page_up(end) - from)
			score += 5;
	}
	return score;
}

/**
 * module_segment() - the PT_LOAD that a mapping is of, and the load bias that this implies
 * @m: a usable module
 * @map: a mapping of it
 * @there: what the module's place is at the mapping's address already; NULL where it has none
 * @bias: filled in: target address minus ELF virtual address
 *
 * A place that is there wins over all else: data that are made read-only after relocation look
 * like a mapping of whichever segment shares their page of the file.
 *
 * Return: the segment; NULL where none explains the mapping.
 */
const struct image_segment *module_segment(const struct module *m, const struct perf_rec_mmap *map,
					   const struct module_place *there, u64 *bias)
{
	const struct image_segment *best = NULL;
	u32 most = 0;

	*bias = 0;
	for (u32 k = 0; k < m->nr_segs; k++) {
		const struct image_segment *s = &m->seg[k];
		/* The vDSO's mapping has no offset that says anything. */
		u64 pos = m->memory ? 0 : map->pgoff;
		u64 moved = map->addr - (s->addr + (pos - s->pos));
		u32 score = m->memory ? k == 0 : fit(s, map);

		/* Address and position of a segment agree within a page. */
		if (!score || moved & (PAGER_PAGE - 1))
			continue;
		if (there && there->bias == moved)
			score += 100;
		if (score > most) {
			most = score;
			best = s;
			*bias = moved;
		}
	}
	return best;
}

/* A place's file as target memory: its segments by address, nothing else. */
struct place_mem {
	struct ehf_mem mem;
	const struct module_place *place;
};

static bool place_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	const struct module_place *pl = ((const struct place_mem *)(const void *)mem)->place;
	const struct module *m = pl->module;
	u64 vaddr = ehf_addr(&m->arch->abi, addr - pl->bias);

	for (u32 k = 0; k < m->nr_segs; k++) {
		const struct image_segment *s = &m->seg[k];

		if (vaddr >= s->addr && vaddr < s->file_end)
			return len <= s->file_end - vaddr &&
			       pager_read(m->file, s->pos + (vaddr - s->addr), dst, len);
	}
	return false;
}

static u64 moved(const struct module_place *pl, u64 addr)
{
	return ehf_addr(&pl->module->arch->abi, addr + pl->bias);
}

static void init_section(struct module_place *pl)
{
	const struct module *m = pl->module;
	struct place_mem mem = { .mem = { .read = place_read }, .place = pl };
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &mem.mem, .abi = &m->arch->abi, .limits = &ehf_limits_walk, .cost = &cost,
	};
	struct ehf_section *s = &pl->section;

	s->text_start = moved(pl, m->exec_start);
	s->text_end = moved(pl, m->exec_end);
	/* A section without records: each lookup in the text finds no FDE. */
	if (m->status == MODULE_NO_CFI)
		return;
	s->hdr = m->section.hdr ? moved(pl, m->section.hdr) : 0;
	s->hdr_end = m->section.hdr ? moved(pl, m->section.hdr_end) : 0;
	s->eh_frame = moved(pl, m->section.eh_frame);
	s->eh_frame_end = moved(pl, m->section.eh_frame_end);
	s->scan = m->section.scan;
	pl->stop = ehf_section_init(&ctx, s);
}

/**
 * module_place_get() - a module at a bias
 * @m: a usable module
 * @bias: target address minus ELF virtual address
 *
 * Its .eh_frame_hdr is read when it is met first, page by page as a walk does.
 *
 * Return: the place, with a reference for the caller; NULL where memory is short.
 */
struct module_place *module_place_get(struct module *m, u64 bias)
{
	struct module_place *pl;

	for (pl = m->places; pl; pl = pl->next) {
		if (pl->bias == bias) {
			pl->refs++;
			return pl;
		}
	}
	pl = calloc(1, sizeof(*pl));
	if (!pl)
		return NULL;
	pl->module = m;
	pl->bias = bias;
	pl->refs = 1;
	init_section(pl);
	pl->next = m->places;
	m->places = pl;
	return pl;
}

/**
 * module_place_put() - give a reference back
 * @pl: the place; gone with its last reference
 */
void module_place_put(struct module_place *pl)
{
	struct module_place **at;

	if (--pl->refs)
		return;
	for (at = &pl->module->places; *at != pl; at = &(*at)->next)
		;
	*at = pl->next;
	free(pl);
}

/**
 * module_corrupt() - a walk met corrupt CFI
 * @s: a section that is part of a struct module_place
 * @stop: what is wrong
 */
void module_corrupt(const struct ehf_section *s, enum ehf_stop stop)
{
	const char *at = (const char *)s - offsetof(struct module_place, section);
	struct module *m = ((const struct module_place *)(const void *)at)->module;

	if (!m->corrupt++)
		m->corrupt_stop = stop;
}
