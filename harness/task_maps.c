// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The mappings of a process: one mapping after the other laid over those before it.
 *
 * perf records mappings of text only. The segments beside it (.eh_frame is in one) follow from
 * the program headers at the load bias of the text.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/task.h"

static u64 page_down(u64 v)
{
	return v & ~(u64)(PAGER_PAGE - 1);
}

static u64 page_up(u64 v)
{
	return v > ~(u64)(PAGER_PAGE - 1) ? page_down(v) : page_down(v + PAGER_PAGE - 1);
}

static void on_corrupt(const struct ehu_sections *sections, const struct ehf_section *s,
		       enum ehf_stop stop)
{
	(void)sections;
	module_corrupt(s, stop);
}

static void text_changes(struct task_maps *maps)
{
	maps->text_old = true;
	maps->generation = ++maps->table->last_number;
}

static void new_epoch(struct task_maps *maps)
{
	maps->epoch = ++maps->table->last_number;
	maps->shared_epoch = false;
}

/**
 * task_maps_new() - no mappings, in an epoch of their own
 * @table: the table of their process
 *
 * Return: the maps, with a reference for the caller; NULL where memory is short.
 */
struct task_maps *task_maps_new(struct task_table *table)
{
	struct task_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->table = table;
	maps->refs = 1;
	ehu_map_init(&maps->text, NULL, 0);
	maps->text.sections.corrupt = on_corrupt;
	new_epoch(maps);
	text_changes(maps);
	return maps;
}

/**
 * task_maps_hold() - take a reference
 * @maps: the maps
 *
 * While more than one reference is held they do not change: a process that maps something gets
 * a copy of its own.
 *
 * Return: @maps.
 */
struct task_maps *task_maps_hold(struct task_maps *maps)
{
	maps->refs++;
	return maps;
}

/**
 * task_maps_put() - give a reference back
 * @maps: the maps, or NULL; gone with the last reference
 */
void task_maps_put(struct task_maps *maps)
{
	if (!maps || --maps->refs)
		return;
	for (u32 k = 0; k < maps->nr; k++) {
		if (maps->range[k].place)
			module_place_put(maps->range[k].place);
	}
	maps->table->nr_ranges -= maps->nr;
	free(maps->text.range);
	free(maps->place);
	free(maps->range);
	free(maps);
}

/* Makes *@maps one that may be changed; the copy is of the same epoch until that differs too. */
static int make_own(struct task_maps **maps)
{
	struct task_maps *old = *maps, *own;

	if (old->refs == 1)
		return 0;
	own = task_maps_new(old->table);
	if (!own)
		return -ENOMEM;
	own->range = malloc((old->nr + 16) * sizeof(*own->range));
	if (!own->range) {
		task_maps_put(own);
		return -ENOMEM;
	}
	own->max = old->nr + 16;
	own->nr = old->nr;
	if (old->nr)
		memcpy(own->range, old->range, old->nr * sizeof(*own->range));
	for (u32 k = 0; k < own->nr; k++) {
		if (own->range[k].place)
			own->range[k].place->refs++;
	}
	own->table->nr_ranges += own->nr;
	own->epoch = old->epoch;
	own->shared_epoch = true;
	old->shared_epoch = true;
	own->arch = old->arch;
	own->main = old->main;
	task_maps_put(old);
	*maps = own;
	return 0;
}

/* Index of the first range that ends above @addr. */
static u32 first_above(const struct task_maps *maps, u64 addr)
{
	u32 low = 0, high = maps->nr;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (maps->range[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/**
 * task_range_at() - what is mapped at an address
 * @maps: the mappings
 * @addr: address in the target
 *
 * Return: the range, which holds until the next record of the process; NULL where nothing is
 * known to be mapped.
 */
const struct task_range *task_range_at(const struct task_maps *maps, u64 addr)
{
	u32 k = first_above(maps, addr);

	return k < maps->nr && maps->range[k].start <= addr ? &maps->range[k] : NULL;
}

static bool make_room(struct task_maps *maps, u32 more)
{
	struct task_range *range;
	u32 max = maps->max;

	if (maps->nr > TASK_MAX_RANGES - more)
		return false;
	while (max < maps->nr + more)
		max = max ? 2 * max : 32;
	if (max == maps->max)
		return true;
	range = realloc(maps->range, max * sizeof(*range));
	if (!range)
		return false;
	maps->range = range;
	maps->max = max;
	return true;
}

/* Replaces @gone ranges at @at by @nr new ones; there is room. */
static void splice(struct task_maps *maps, u32 at, u32 gone, const struct task_range *with, u32 nr)
{
	for (u32 k = 0; k < nr; k++) {
		if (with[k].place) {
			with[k].place->refs++;
			text_changes(maps);
		}
	}
	for (u32 k = at; k < at + gone; k++) {
		if (maps->range[k].place) {
			module_place_put(maps->range[k].place);
			text_changes(maps);
		}
	}
	memmove(&maps->range[at + nr], &maps->range[at + gone],
		(maps->nr - at - gone) * sizeof(*maps->range));
	if (nr)
		memcpy(&maps->range[at], with, nr * sizeof(*with));
	maps->nr += nr;
	maps->nr -= gone;
	maps->table->nr_ranges += nr;
	maps->table->nr_ranges -= gone;
}

/* Takes all ranges of a place away. */
static void drop_place(struct task_maps *maps, const struct module_place *pl)
{
	u32 to = 0;

	for (u32 k = 0; k < maps->nr; k++) {
		if (maps->range[k].place == pl)
			module_place_put(maps->range[k].place);
		else
			maps->range[to++] = maps->range[k];
	}
	maps->table->nr_ranges -= maps->nr - to;
	maps->nr = to;
	text_changes(maps);
}

/*
 * Addresses of a place are taken by something else: one session of an unwinder that cannot
 * forget modules no longer fits. A file's segment there means that the old file is unmapped,
 * all of it; anything else (text copied to huge pages, say) replaces what it covers.
 */
static void displace(struct task_maps *maps, u64 start, u64 end, const struct module_place *by)
{
	bool found = false;
	u32 k;

	for (;;) {
		struct module_place *pl = NULL;

		k = first_above(maps, start);
		for (; k < maps->nr && maps->range[k].start < end; k++) {
			const struct task_range *r = &maps->range[k];

			/* The zeros behind a module's data are a mapping without a file. */
			if (r->place && r->place != by && (by || !(r->flags & TASK_WRITABLE)))
				pl = r->place;
		}
		found |= pl != NULL;
		if (!pl || !by)
			break;
		drop_place(maps, pl);
	}
	if (found) {
		new_epoch(maps);
		maps->table->stats.epochs++;
	}
}

static bool continues(const struct task_range *a, const struct task_range *b)
{
	return a->end == b->start && a->module == b->module && a->place == b->place &&
	       a->flags == b->flags && (!a->place || b->pos - a->pos == b->start - a->start);
}

/* Lays one range over those that are there. */
static void lay(struct task_maps *maps, struct task_range new)
{
	struct task_range with[3];
	u32 first, last, at, nr = 0;

	if (new.start >= new.end)
		return;
	if (!make_room(maps, 2)) {
		maps->table->stats.dropped_ranges++;
		return;
	}
	displace(maps, new.start, new.end, new.place);
	first = first_above(maps, new.start);
	for (last = first; last < maps->nr && maps->range[last].start < new.end; last++) {
		/* What could be written to once does not become the file's again. */
		if (new.place && maps->range[last].place == new.place &&
		    (maps->range[last].flags & (TASK_WRITABLE | TASK_IMPLIED)) == TASK_WRITABLE)
			new.flags |= TASK_WRITABLE;
	}
	at = first;
	if (first < last && maps->range[first].start < new.start) {
		with[nr] = maps->range[first];
		with[nr++].end = new.start;
	} else if (first && continues(&maps->range[first - 1], &new)) {
		/* Generated code comes in thousands of small mappings, side by side. */
		at = first - 1;
		new.start = maps->range[at].start;
		new.pos = maps->range[at].pos;
	}
	if (nr && continues(&with[0], &new))
		with[0].end = new.end;
	else
		with[nr++] = new;
	if (first < last && maps->range[last - 1].end > new.end) {
		struct task_range tail = maps->range[last - 1];

		tail.pos += new.end - tail.start;
		tail.start = new.end;
		if (continues(&with[nr - 1], &tail))
			with[nr - 1].end = tail.end;
		else
			with[nr++] = tail;
	}
	splice(maps, at, last - at, with, nr);
}

static bool has_place(const struct task_maps *maps, const struct module_place *pl)
{
	for (u32 k = 0; k < maps->nr; k++) {
		if (maps->range[k].place == pl)
			return true;
	}
	return false;
}

/*
 * A second mapping of part of a segment, away from where the module is: an alias of some bytes
 * (V8 maps its builtins again, near the code it makes), not the module loaded once more.
 */
static bool is_alias(const struct task_maps *maps, const struct module *m,
		     const struct image_segment *seg, const struct perf_rec_mmap *map, u64 bias)
{
	bool placed = false;

	if (m->memory || map->pgoff <= page_down(seg->pos))
		return false;
	for (u32 k = 0; k < maps->nr; k++) {
		const struct task_range *r = &maps->range[k];

		if (!r->place || r->module != m)
			continue;
		if (r->place->bias == bias)
			return false;
		placed = true;
	}
	return placed;
}

/* The pages that a segment takes up at a bias. A page shared with data is data. */
static struct task_range segment_range(struct module_place *pl, const struct image_segment *s)
{
	u64 from = page_down(s->addr);
	u64 end = page_up(s->flags & PF_W ? s->end : s->file_end);

	for (u32 k = 0; k < pl->module->nr_segs; k++) {
		u64 data = page_down(pl->module->seg[k].addr);

		if (pl->module->seg[k].flags & PF_W && data > from && data < end)
			end = data;
	}
	return (struct task_range){
		.start = from + pl->bias,
		.end = end + pl->bias,
		.pos = s->pos - (s->addr - from),
		.module = pl->module,
		.place = pl,
		.flags = TASK_IMPLIED | (s->flags & PF_X ? TASK_TEXT : 0) |
			 (s->flags & PF_W ? TASK_WRITABLE : 0),
	};
}

static void add_usable(struct task_maps *maps, struct module_place *pl,
		       const struct image_segment *seg, struct task_range r)
{
	struct task_range s = segment_range(pl, seg);

	/*
	 * Where perf records code only, the code tells where the rest is. A file that is mapped as data
	 * (as a linker or readelf does) tells nothing: its segments are not laid out.
	 */
	if (r.flags & TASK_TEXT && !has_place(maps, pl)) {
		for (u32 k = 0; k < pl->module->nr_segs; k++)
			lay(maps, segment_range(pl, &pl->module->seg[k]));
	}
	/*
	 * A loader may map all of a file's span with the first segment's protection and the others
	 * over it, of which perf tells nothing: only the segment is what the mapping says.
	 */
	if (r.start < s.start) {
		r.pos += s.start - r.start;
		r.start = s.start;
	}
	if (r.end > s.end)
		r.end = s.end;
	r.place = pl;
	lay(maps, r);
}

/**
 * task_maps_add() - a mapping is made
 * @maps: the process's maps; replaced by a copy of their own where others hold them
 * @map: the mapping, of user space; not empty, and does not wrap around
 *
 * Return: 0, -ENOMEM.
 */
int task_maps_add(struct task_maps **maps, const struct perf_rec_mmap *map)
{
	struct task_range r = { .start = map->addr, .end = map->addr + map->len,
				.pos = map->pgoff };
	const struct image_segment *seg = NULL;
	const struct task_range *at;
	struct module_place *pl;
	struct module *m;
	u64 bias = 0;
	bool known = map->has_prot && map->prot;

	m = module_find((*maps)->table->mods, map, (*maps)->arch);
	if (!m || make_own(maps))
		return -ENOMEM;
	m->mappings++;
	r.module = m;
	r.flags = ((known ? map->prot & PROT_EXEC : !map->data) ? TASK_TEXT : 0) |
		  (known && map->prot & PROT_WRITE ? TASK_WRITABLE : 0);
	m->text_mappings += !!(r.flags & TASK_TEXT);
	if (!(*maps)->main && *m->path == '/' && m->status != MODULE_ANON)
		(*maps)->main = m;
	if (module_usable(m)) {
		if (!(*maps)->arch && !m->memory)
			(*maps)->arch = m->arch;
		at = task_range_at(*maps, map->addr);
		/* Ours is the vDSO of our own word size. */
		if ((*maps)->arch == m->arch || !m->memory) {
			seg = module_segment(m, map, at && at->module == m ? at->place : NULL,
					     &bias);
			if (seg && is_alias(*maps, m, seg, map, bias))
				seg = NULL;
			m->no_segment += !seg;
		}
	}
	if (seg) {
		pl = module_place_get(m, bias);
		if (!pl)
			return -ENOMEM;
		/* A child's modules are no longer its parent's. */
		if ((*maps)->shared_epoch && !has_place(*maps, pl)) {
			new_epoch(*maps);
			(*maps)->table->stats.epochs++;
		}
		add_usable(*maps, pl, seg, r);
		module_place_put(pl);
	} else {
		lay(*maps, r);
	}
	return 0;
}

static bool more_text(struct task_maps *maps)
{
	u32 max = maps->text.max ? 2 * maps->text.max : 16;
	struct ehu_range *range = realloc(maps->text.range, max * sizeof(*range));

	if (!range)
		return false;
	maps->text.range = range;
	maps->text.max = max;
	return true;
}

static bool more_places(struct task_maps *maps)
{
	u32 max = maps->max_places ? 2 * maps->max_places : 16;
	struct module_place **place = realloc(maps->place, max * sizeof(struct module_place *));

	if (!place)
		return false;
	maps->place = place;
	maps->max_places = max;
	return true;
}

/**
 * task_text() - the text ranges that have a section, as a walk needs them
 * @maps: the mappings
 *
 * Brings @maps->text and @maps->place up to date, which costs something only after a change.
 *
 * Return: &@maps->text.
 */
const struct ehu_map *task_text(struct task_maps *maps)
{
	if (!maps->text_old)
		return &maps->text;
	maps->text.nr = 0;
	maps->nr_places = 0;
	maps->text.sections.generation = maps->generation;
	for (u32 k = 0; k < maps->nr; k++) {
		const struct task_range *r = &maps->range[k];
		struct ehu_range *last = maps->text.nr ? &maps->text.range[maps->text.nr - 1] :
							 NULL;

		if (!r->place)
			continue;
		if (r->place->mark != maps->generation) {
			if (maps->nr_places == maps->max_places && !more_places(maps))
				break;
			r->place->mark = maps->generation;
			maps->place[maps->nr_places++] = r->place;
		}
		if (!(r->flags & TASK_TEXT) || r->place->stop)
			continue;
		if (last && last->end == r->start && last->section == &r->place->section) {
			last->end = r->end;
			continue;
		}
		if (maps->text.nr == maps->text.max && !more_text(maps))
			break;
		maps->text.range[maps->text.nr++] =
			(struct ehu_range){ r->start, r->end, &r->place->section };
	}
	maps->text_old = false;
	return &maps->text;
}
