// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Overlapping ranges to disjoint ones, by a sweep with a heap: n log n whatever a file holds.
 */
#include "harness/symbols_ranges.h"

#include <stdlib.h>

/**
 * symbols_ranges_add() - add a range
 * @r: the set; zeroed at first
 * @start: first address
 * @end: one past the last; a range without bytes is left out
 * @prio: see struct symbols_range
 * @item: the caller's number
 *
 * Return: false where there is no memory.
 */
bool symbols_ranges_add(struct symbols_ranges *r, u64 start, u64 end, u64 prio, u32 item)
{
	if (start >= end)
		return true;
	if (r->nr_in == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		struct symbols_range *grown;

		if (room > UINT32_MAX)
			return false;
		grown = reallocarray(r->in, room, sizeof(*grown));
		if (!grown)
			return false;
		r->in = grown;
		r->room = room;
	}
	r->in[r->nr_in++] = (struct symbols_range){ start, end, prio, item };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct symbols_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->prio < y->prio ? -1 : x->prio > y->prio;
}

/* A heap of indexes into in[], highest prio at the top. */
struct heap {
	const struct symbols_range *in;
	u32 *at;
	size_t nr;
};

static u64 prio(const struct heap *h, size_t i)
{
	return h->in[h->at[i]].prio;
}

static void swap(struct heap *h, size_t a, size_t b)
{
	u32 t = h->at[a];

	h->at[a] = h->at[b];
	h->at[b] = t;
}

static void push(struct heap *h, u32 item)
{
	size_t i = h->nr++;

	h->at[i] = item;
	for (; i && prio(h, (i - 1) / 2) < prio(h, i); i = (i - 1) / 2)
		swap(h, i, (i - 1) / 2);
}

static void drop_top(struct heap *h)
{
	size_t i = 0;

	h->at[0] = h->at[--h->nr];
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->nr)
			return;
		if (child + 1 < h->nr && prio(h, child + 1) > prio(h, child))
			child++;
		if (prio(h, child) <= prio(h, i))
			return;
		swap(h, i, child);
		i = child;
	}
}

static void emit(struct symbols_ranges *r, u64 start, u64 end, const struct symbols_range *of)
{
	struct symbols_range *last = r->nr ? &r->flat[r->nr - 1] : NULL;

	if (last && last->end == start && last->item == of->item)
		last->end = end;
	else
		r->flat[r->nr++] = (struct symbols_range){ start, end, of->prio, of->item };
}

/**
 * symbols_ranges_flatten() - make the map that symbols_ranges_find() reads
 * @r: the set; can be flattened again after more was added
 *
 * Return: false where there is no memory: then nothing is found.
 */
bool symbols_ranges_flatten(struct symbols_ranges *r)
{
	struct heap h = { 0 };
	size_t next = 0;
	u64 at = 0;

	free(r->flat);
	r->flat = NULL;
	r->nr = 0;
	if (!r->nr_in)
		return true;
	/* Each start and each end begins at most one range. */
	r->flat = reallocarray(NULL, r->nr_in, 2 * sizeof(*r->flat));
	h.at = reallocarray(NULL, r->nr_in, sizeof(*h.at));
	if (!r->flat || !h.at) {
		free(h.at);
		free(r->flat);
		r->flat = NULL;
		return false;
	}
	qsort(r->in, r->nr_in, sizeof(*r->in), by_start);
	h.in = r->in;
	while (next < r->nr_in || h.nr) {
		const struct symbols_range *top;
		u64 stop;

		if (!h.nr)
			at = r->in[next].start;
		while (next < r->nr_in && r->in[next].start == at)
			push(&h, (u32)next++);
		while (h.nr && h.in[h.at[0]].end <= at)
			drop_top(&h);
		if (!h.nr)
			continue;
		top = &h.in[h.at[0]];
		stop = top->end;
		if (next < r->nr_in && r->in[next].start < stop)
			stop = r->in[next].start;
		emit(r, at, stop, top);
		at = stop;
	}
	free(h.at);
	return true;
}

/**
 * symbols_ranges_find() - find the owner of an address
 * @r: a flattened set
 * @addr: the address
 *
 * Return: the range around @addr that its owner has, NULL where there is none.
 */
const struct symbols_range *symbols_ranges_find(const struct symbols_ranges *r, u64 addr)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->flat[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->nr && r->flat[low].start <= addr ? &r->flat[low] : NULL;
}

/**
 * symbols_ranges_free() - give the memory back
 * @r: the set; empty afterwards
 */
void symbols_ranges_free(struct symbols_ranges *r)
{
	free(r->in);
	free(r->flat);
	*r = (struct symbols_ranges){ 0 };
}
