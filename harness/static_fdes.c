// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Collects the FDEs of an image: scans .eh_frame, reads the search table, and merges the two.
 */
#include "harness/static_fdes.h"

#include <stdlib.h>
#include <string.h>

static struct static_fde *append(struct static_fdes *f)
{
	if (f->nr == f->room) {
		size_t room = f->room ? f->room + f->room / 2 : 1024;
		struct static_fde *grown = reallocarray(f->fde, room, sizeof(*grown));

		if (!grown)
			return NULL;
		f->fde = grown;
		f->room = room;
	}
	f->fde[f->nr] = (struct static_fde){ 0 };
	return &f->fde[f->nr++];
}

static bool add_fde(struct static_fdes *f, const struct ehf_ctx *ctx, const struct ehf_section *s,
		    u64 addr, u32 flags, struct ehf_fde *parsed)
{
	struct static_fde *fde = append(f);

	if (!fde)
		return false;
	fde->addr = addr;
	fde->flags = flags;
	fde->stop = ehf_fde_parse_with(ctx, s, addr, &parsed->cie, parsed);
	if (!fde->stop) {
		fde->start = parsed->start;
		fde->end = parsed->range_end;
	}
	return true;
}

/*
 * A terminator with records behind it: of a run of zero words the first one. Zero words up to the
 * end are padding.
 */
static void note_terminator(struct static_fdes *f, const struct ehf_section *s, u64 at)
{
	if (f->nr_terminators < EHF_ARRAY_SIZE(f->terminator))
		f->terminator[f->nr_terminators] = at;
	if (!f->nr_terminators++)
		f->bytes_behind = s->eh_frame_end - at - 4;
}

/*
 * Every record up to the section's end. A terminator ends what a scan by libgcc or libdw can
 * see; what stands behind it is collected with a mark, as the table may list it. Where the true
 * end of the section is not known the first terminator ends this scan too.
 */
static bool scan(struct static_fdes *f, const struct ehf_ctx *ctx, const struct ehf_section *s)
{
	struct ehf_fde parsed = { 0 };
	struct ehf_record rec = { 0 };
	u64 addr = s->eh_frame, zero = 0;

	/* Fewer than 4 bytes are padding, not a record. */
	for (; addr < s->eh_frame_end && s->eh_frame_end - addr >= 4; addr = rec.next) {
		enum ehf_stop stop = ehf_record_head(ctx, s, addr, &rec);

		if (!stop && rec.kind == EHF_RECORD_END) {
			if (!s->scan)
				break;
			if (!zero)
				zero = addr;
			continue;
		}
		if (zero)
			note_terminator(f, s, zero);
		zero = 0;
		if (stop && rec.next == addr) {
			if (!f->nr_terminators) {
				f->bad_record = addr;
				f->bad_stop = stop;
			}
			break;
		}
		if ((stop || rec.kind == EHF_RECORD_FDE) &&
		    !add_fde(f, ctx, s, addr, f->nr_terminators ? STATIC_FDE_BEHIND :
								  STATIC_FDE_SCAN, &parsed))
			return false;
	}
	return true;
}

/* The FDE at @addr among the first @nr, which are ordered by address; @hint is tried first. */
static struct static_fde *find(struct static_fdes *f, size_t nr, u64 addr, size_t hint)
{
	size_t low = 0, high = nr;

	if (hint < nr && f->fde[hint].addr == addr)
		return &f->fde[hint];
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->fde[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr && f->fde[low].addr == addr ? &f->fde[low] : NULL;
}

static bool read_table(struct static_fdes *f, const struct ehf_ctx *ctx,
		       const struct ehf_section *s)
{
	struct ehf_fde parsed = { 0 };
	struct ehf_entry e = { 0, 0 };
	size_t scanned = f->nr, hint = 0;
	u64 last = 0;

	for (u64 i = 0; i < s->nr_fdes; i++) {
		struct static_fde *fde;

		if (!ehf_entry_read(ctx, s, i, &e))
			return true;
		if (i && e.start < last)
			f->unsorted++;
		else if (i && e.start == last)
			f->same_start++;
		last = e.start;
		fde = find(f, scanned, e.fde, hint);
		if (!fde) {
			if (!add_fde(f, ctx, s, e.fde, 0, &parsed))
				return false;
			fde = &f->fde[f->nr - 1];
		} else {
			hint = (size_t)(fde - f->fde) + 1;
		}
		if (fde->stop)
			fde->start = fde->end = e.start;
		else if (fde->start != e.start)
			f->wrong_start++;
		if (!(fde->flags & STATIC_FDE_TABLE))
			f->by_table++;
		fde->flags |= STATIC_FDE_TABLE;
	}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct static_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void sort(struct static_fdes *f)
{
	size_t i;

	for (i = 1; i < f->nr; i++) {
		if (by_start(&f->fde[i - 1], &f->fde[i]) > 0)
			break;
	}
	if (i < f->nr)
		qsort(f->fde, f->nr, sizeof(*f->fde), by_start);
}

/* Behind a terminator only what the table lists can be found by anybody. */
static void drop_unlisted(struct static_fdes *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nr; i++) {
		if (f->fde[i].flags & STATIC_FDE_BEHIND) {
			f->behind++;
			if (!(f->fde[i].flags & STATIC_FDE_TABLE)) {
				f->unlisted++;
				continue;
			}
			f->behind_by_table++;
		}
		f->fde[kept++] = f->fde[i];
	}
	f->nr = kept;
}

static bool has_code(const struct image *img, u64 addr)
{
	for (u32 i = 0; i < img->nr_exec; i++) {
		if (addr >= img->exec[i].addr && addr < img->exec[i].end)
			return true;
	}
	return false;
}

static void mark(struct static_fdes *f, const struct image *img)
{
	bool zero_has_code = has_code(img, 0);
	struct static_fde *widest = NULL;	/* of those before, the one that reaches farthest */

	for (size_t i = 0; i < f->nr; i++) {
		struct static_fde *fde = &f->fde[i];

		if (fde->flags & STATIC_FDE_SCAN)
			f->by_scan++;
		if (fde->stop) {
			f->unreadable++;
			continue;
		}
		if (fde->flags & STATIC_FDE_SCAN && !(fde->flags & STATIC_FDE_TABLE))
			f->table_misses++;
		if (!fde->start && !zero_has_code) {
			fde->flags |= STATIC_FDE_DEAD;
			f->dead++;
		}
		if (fde->start == fde->end) {
			f->zero_length++;
			continue;
		}
		if (widest && fde->start < widest->end) {
			fde->flags |= STATIC_FDE_OVERLAPS;
			widest->flags |= STATIC_FDE_OVERLAPS;
			if (fde->start == widest->start)
				fde->flags |= STATIC_FDE_DUPLICATE;
		}
		if (!widest || fde->end > widest->end)
			widest = fde;
	}
	for (size_t i = 0; i < f->nr; i++)
		f->overlapping += !!(f->fde[i].flags & STATIC_FDE_OVERLAPS);
}

/**
 * static_fdes_read() - collect the FDEs of an image
 * @f: filled in
 * @img: the image
 * @ctx: its memory, with limits for a file
 *
 * Return: false when memory runs out; @f is to be freed in any case.
 */
bool static_fdes_read(struct static_fdes *f, const struct image *img, const struct ehf_ctx *ctx)
{
	const struct ehf_section *s = &img->section;

	*f = (struct static_fdes){ 0 };
	if (!scan(f, ctx, s))
		return false;
	if (s->table && !read_table(f, ctx, s))
		return false;
	drop_unlisted(f);
	sort(f);
	mark(f, img);
	return true;
}

/**
 * static_fdes_free() - give the list back
 * @f: the list
 */
void static_fdes_free(struct static_fdes *f)
{
	free(f->fde);
	f->fde = NULL;
	f->nr = 0;
}
