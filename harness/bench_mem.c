// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Opens and maps the files of an address space, and answers reads from them and from a stack.
 */
#include "harness/bench_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Addresses above the copy of a stack are asked for at the end of most walks: between two spans. */
static const u8 *at(struct bench_mem *m, u64 addr, u64 *avail)
{
	u32 lo = 0, hi = m->nr;

	if (addr - m->sp < m->size) {
		*avail = m->size - (addr - m->sp);
		return m->stack + (addr - m->sp);
	}
	if (addr - m->gap < m->gap_size)
		return NULL;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (addr >= m->span[mid].end)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == m->nr || addr < m->span[lo].start) {
		m->gap = lo ? m->span[lo - 1].end : 0;
		m->gap_size = (lo == m->nr ? ~0ULL : m->span[lo].start) - m->gap;
		return NULL;
	}
	*avail = m->span[lo].end - addr;
	return m->span[lo].p + (addr - m->span[lo].start);
}

static bool mem_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	u64 avail;
	const u8 *p = at((struct bench_mem *)(uintptr_t)mem, addr, &avail);

	if (!p || avail < len)
		return false;
	memcpy(dst, p, len);
	return true;
}

static const u8 *mem_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	const u8 *p = at((struct bench_mem *)(uintptr_t)mem, addr, avail);

	if (p && *avail > len)
		*avail = len;
	return p;
}

/* The place's number among those that were opened, or their count. */
static u32 opened(const struct bench_mem *m, const struct module_place *const *place,
		  const struct module *mod)
{
	u32 k = 0;

	while (k < m->nr_images && place[k]->module != mod)
		k++;
	return k;
}

/* What is mapped, as the files have it: ascending, as the ranges are. */
static bool add_spans(struct bench_mem *m, const struct task_maps *maps,
		      const struct module_place *const *place)
{
	m->span = calloc(maps->nr + 1, sizeof(*m->span));
	if (!m->span)
		return false;
	for (u32 k = 0; k < maps->nr; k++) {
		const struct task_range *r = &maps->range[k];
		u32 n = opened(m, place, r->module);
		u64 len = r->end - r->start;

		if (n == m->nr_images || !m->image[n] || r->pos >= m->image[n]->size)
			continue;
		if (len > m->image[n]->size - r->pos)
			len = m->image[n]->size - r->pos;
		m->span[m->nr++] = (struct bench_span){ r->start, r->start + len,
							m->image[n]->bytes + r->pos };
	}
	return true;
}

static void move_section(struct ehf_section *s, const struct image *img, u64 bias)
{
	*s = img->section;
	s->text_start += bias;
	s->text_end += bias;
	if (s->hdr) {
		s->hdr += bias;
		s->hdr_end += bias;
	}
	if (s->eh_frame) {
		s->eh_frame += bias;
		s->eh_frame_end += bias;
	}
}

static bool open_place(struct bench_mem *m, const struct module_place *pl)
{
	struct module *mod = pl->module;
	struct image_error err;
	struct image **img = &m->image[m->nr_images];
	enum image_status status;

	if (mod->memory)
		status = image_open_memory(mod->memory, mod->memory_size, mod->path, img, &err);
	else
		status = image_open(mod->file_path, img, &err);
	m->nr_images++;
	/* What cannot be opened has no CFI for us, as it has none for the module table. */
	if (status && mod->status != MODULE_NO_CFI) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	if (status)
		return true;
	move_section(&m->section[m->nr_images - 1], *img, pl->bias);
	return true;
}

static bool init_section(struct bench_mem *m, struct ehf_section *s, const struct ehf_abi *abi)
{
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &m->mem, .abi = abi, .limits = &ehf_limits_walk, .cost = &cost,
	};

	return !s->eh_frame || !ehf_section_init(&ctx, s);
}

/* Text ranges by the place that describes them; each place is opened when it is met first. */
static bool add_text(struct bench_mem *m, const struct task_maps *maps,
		     const struct module_place **place)
{
	const struct ehu_map *text = &maps->text;

	for (u32 k = 0; k < text->nr; k++) {
		u32 p = 0, n = 0;

		while (p < maps->nr_places && &maps->place[p]->section != text->range[k].section)
			p++;
		if (p == maps->nr_places)
			return false;
		while (n < m->nr_images && place[n] != maps->place[p])
			n++;
		if (n == m->nr_images) {
			place[n] = maps->place[p];
			if (!open_place(m, place[n]))
				return false;
		}
		if (ehu_map_add(&m->text, text->range[k].start, text->range[k].end,
				&m->section[n]))
			return false;
	}
	return true;
}

static bool open_files(struct bench_mem *m, const struct task_maps *maps)
{
	struct ehu_range *range = calloc(maps->text.nr + 1, sizeof(*range));
	const struct module_place **place = calloc(maps->nr_places + 1, sizeof(*place));
	bool good;

	m->image = calloc(maps->nr_places + 1, sizeof(struct image *));
	m->section = calloc(maps->nr_places + 1, sizeof(*m->section));
	ehu_map_init(&m->text, range, maps->text.nr + 1);
	good = range && place && m->image && m->section && add_text(m, maps, place) &&
	       add_spans(m, maps, place);
	for (u32 k = 0; good && k < m->nr_images; k++) {
		good = init_section(m, &m->section[k], &maps->arch->abi);
		if (!good)
			fprintf(stderr, "%s: its CFI cannot be used\n", place[k]->module->path);
	}
	free(place);
	return good;
}

static bool open_made(struct bench_mem *m, const struct bench_space *space)
{
	struct ehu_range *range = calloc(1, sizeof(*range));

	m->section = calloc(1, sizeof(*m->section));
	m->span = calloc(1, sizeof(*m->span));
	if (!range || !m->section || !m->span)
		return false;
	ehu_map_init(&m->text, range, 1);
	*m->section = space->section;
	m->span[m->nr++] = (struct bench_span){
		space->section.eh_frame, space->section.eh_frame + space->made_size, space->made,
	};
	return init_section(m, m->section, &space->arch->abi) &&
	       !ehu_map_add(&m->text, m->section->text_start, m->section->text_end, m->section);
}

/**
 * bench_mem_open() - open and map all files of a space
 * @m: filled in; to be closed whatever is returned
 * @space: the space
 * @generation: of its sections, for caches; not 0
 *
 * Files are opened by name, again each time: what it costs is part of a cold pass.
 *
 * Return: false where a file that has CFI could not be opened, or memory ran out.
 */
bool bench_mem_open(struct bench_mem *m, const struct bench_space *space, u64 generation)
{
	*m = (struct bench_mem){ .mem = { .read = mem_read, .direct = mem_direct } };
	if (!(space->maps ? open_files(m, space->maps) : open_made(m, space)))
		return false;
	m->text.sections.generation = generation;
	return true;
}

/**
 * bench_mem_close() - unmap it all
 * @m: what bench_mem_open() filled in
 */
void bench_mem_close(struct bench_mem *m)
{
	for (u32 k = 0; k < m->nr_images; k++)
		image_close(m->image[k]);
	free(m->image);
	free(m->section);
	free(m->span);
	free(m->text.range);
}
