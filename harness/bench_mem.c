// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Opens and maps the files of an address space, and answers reads from them and from a stack.
 */
#include "harness/bench_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Opens a file where that has not been tried; what it has is at hand from then on. */
static void open_file(struct bench_mem *m, u32 n)
{
	struct bench_mapped *f = &m->file[n];
	struct ehf_section *s = &m->section[n];
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &m->mem, .abi = m->abi, .limits = &ehf_limits_walk, .cost = &cost,
	};
	struct module *mod = f->place->module;
	struct image_error err;
	enum image_status status;

	if (f->tried)
		return;
	f->tried = true;
	if (mod->memory)
		status = image_open_memory(mod->memory, mod->memory_size, mod->path, &f->image,
					   &err);
	else
		status = image_open(mod->file_path, &f->image, &err);
	/* What cannot be opened has no CFI for us, as it has none for the module table. */
	if (status && mod->status != MODULE_NO_CFI)
		fprintf(stderr, "%s\n", err.text);
	if (status)
		return;
	for (u32 k = 0; k < m->nr; k++) {
		struct bench_span *span = &m->span[k];

		if (span->file != n || span->pos >= f->image->size)
			continue;
		if (span->end - span->start > f->image->size - span->pos)
			span->end = span->start + (f->image->size - span->pos);
		span->p = f->image->bytes + span->pos;
	}
	move_section(s, f->image, f->place->bias);
	if (s->eh_frame && ehf_section_init(&ctx, s))
		fprintf(stderr, "%s: its CFI cannot be used\n", mod->path);
}

/* Addresses above the copy of a stack are asked for at the end of most walks: between two spans. */
static inline const u8 *at(struct bench_mem *m, u64 addr, u64 *avail)
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
	if (!m->span[lo].p) {
		open_file(m, m->span[lo].file);
		if (!m->span[lo].p || addr >= m->span[lo].end)
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

/* The section of an address, of a file that may have to be opened first. */
static const struct ehf_section *find_section(const struct ehu_sections *sections, u64 addr)
{
	struct bench_mem *m = (struct bench_mem *)((uintptr_t)sections -
						   offsetof(struct bench_mem, text.sections));
	const struct ehu_range *r = ehu_map_find(&m->text, addr);
	u32 n;

	if (!r)
		return NULL;
	n = (u32)(r->section - m->section);
	if (m->file && !m->file[n].tried)
		open_file(m, n);
	return r->section->eh_frame ? r->section : NULL;
}

/* The number of a place's file, added where it is new. */
static u32 file_of(struct bench_mem *m, const struct module_place *place)
{
	u32 k = 0;

	while (k < m->nr_files && m->file[k].place != place)
		k++;
	if (k == m->nr_files)
		m->file[m->nr_files++].place = place;
	return k;
}

/* Text ranges by the place that describes them. */
static bool add_text(struct bench_mem *m, const struct task_maps *maps)
{
	const struct ehu_map *text = &maps->text;

	for (u32 k = 0; k < text->nr; k++) {
		u32 p = 0;

		while (p < maps->nr_places && &maps->place[p]->section != text->range[k].section)
			p++;
		if (p == maps->nr_places ||
		    ehu_map_add(&m->text, text->range[k].start, text->range[k].end,
				&m->section[file_of(m, maps->place[p])]))
			return false;
	}
	return true;
}

/* What is mapped of those files: ascending, as the ranges are. */
static bool add_spans(struct bench_mem *m, const struct task_maps *maps)
{
	m->span = calloc(maps->nr + 1, sizeof(*m->span));
	if (!m->span)
		return false;
	for (u32 k = 0; k < maps->nr; k++) {
		const struct task_range *r = &maps->range[k];
		u32 n = 0;

		while (n < m->nr_files && m->file[n].place->module != r->module)
			n++;
		if (n < m->nr_files)
			m->span[m->nr++] = (struct bench_span){ r->start, r->end, r->pos, NULL, n };
	}
	return true;
}

static bool list_files(struct bench_mem *m, const struct task_maps *maps)
{
	struct ehu_range *range = calloc(maps->text.nr + 1, sizeof(*range));

	m->abi = &maps->arch->abi;
	m->file = calloc(maps->nr_places + 1, sizeof(*m->file));
	m->section = calloc(maps->nr_places + 1, sizeof(*m->section));
	ehu_map_init(&m->text, range, maps->text.nr + 1);
	m->text.sections.find = find_section;
	return range && m->file && m->section && add_text(m, maps) && add_spans(m, maps);
}

static bool open_made(struct bench_mem *m, const struct bench_space *space)
{
	struct ehu_range *range = calloc(1, sizeof(*range));
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &m->mem, .abi = &space->arch->abi, .limits = &ehf_limits_walk,
		.cost = &cost,
	};

	m->section = calloc(1, sizeof(*m->section));
	m->span = calloc(1, sizeof(*m->span));
	if (!range || !m->section || !m->span)
		return false;
	ehu_map_init(&m->text, range, 1);
	*m->section = space->section;
	m->span[m->nr++] = (struct bench_span){
		.start = space->section.eh_frame, .p = space->made,
		.end = space->section.eh_frame + space->made_size,
	};
	return !ehf_section_init(&ctx, m->section) &&
	       !ehu_map_add(&m->text, m->section->text_start, m->section->text_end, m->section);
}

/**
 * bench_mem_open() - make a space's memory ready
 * @m: filled in; to be closed whatever is returned
 * @space: the space
 * @generation: of its sections, for caches; not 0
 *
 * Files are opened by name, each when an address in it is asked for first: what that costs is part
 * of a cold pass.
 *
 * Return: false where memory ran out, or a made-up section cannot be used.
 */
bool bench_mem_open(struct bench_mem *m, const struct bench_space *space, u64 generation)
{
	*m = (struct bench_mem){ .mem = { .read = mem_read, .direct = mem_direct } };
	if (!(space->maps ? list_files(m, space->maps) : open_made(m, space)))
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
	for (u32 k = 0; k < m->nr_files; k++)
		image_close(m->file[k].image);
	free(m->file);
	free(m->section);
	free(m->span);
	free(m->text.range);
}
