// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Records of several CPUs put in order of time, with a bound on memory.
 *
 * Each CPU's ring is in order, the file is not: perf writes what it finds in one ring after
 * the other, then FINISHED_ROUND. A record that is still in a ring when a round ends is
 * younger than all that was read in the round before. So when a round ends, everything up
 * to the greatest time of the round before is complete and may leave.
 */

#include "harness/perf_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A copy of a record. Most of a sample is stack area that the kernel did not fill: bytes
 * [gap, gap + gap_size) of the record are not kept.
 */
struct kept {
	u32 gap;
	u32 gap_size;
	_Alignas(8) u8 raw[];
};

/* A record that waits: where it stays, or a copy. */
struct item {
	u64 time;
	u64 seq;	/* keeps records of one time in their order */
	u64 pos;
	const u8 *raw;
	struct kept *kept;
	u32 size;	/* of the record */
	bool decoded;	/* it was found to be decodable */
};

/* So many records that may leave wait outside of the heap: what comes next is then known. */
#define LEAVING		16	/* a power of two */

struct perf_order {
	struct item leaving[LEAVING];	/* a ring */
	u32 left;		/* those that left it */
	u32 entered;		/* and those that came into it */
	struct item *heap;	/* heap[0] is the oldest */
	size_t nr;
	size_t room;
	size_t bytes;
	size_t max_bytes;
	u64 seq;
	u64 newest;		/* greatest time pushed */
	u64 due;		/* items up to this time may leave */
	u64 due_next;		/* and up to this one when the round ends */
	u64 last;		/* time of the item that left last */
	bool finished;
	int result;		/* how the file ended, for perf_order_next() */
	struct perf_order_stats stats;
	struct kept *held;	/* what the caller looks at */
	_Alignas(8) u8 out[PERF_ABI_MAX_RECORD];	/* or this, where it had a gap */
};

/**
 * perf_order_new() - start a queue
 * @max_bytes: memory for waiting records; when it is reached the oldest leave early
 *
 * Return: the queue, NULL without memory.
 */
struct perf_order *perf_order_new(size_t max_bytes)
{
	struct perf_order *q = calloc(1, sizeof(*q));

	if (q)
		q->max_bytes = max_bytes;
	return q;
}

/**
 * perf_order_free() - end a queue with what it holds
 * @q: queue or NULL
 */
void perf_order_free(struct perf_order *q)
{
	if (!q)
		return;
	while (q->left != q->entered)
		free(q->leaving[q->left++ % LEAVING].kept);
	while (q->nr)
		free(q->heap[--q->nr].kept);
	free(q->heap);
	free(q->held);
	free(q);
}

static bool before(const struct item *a, const struct item *b)
{
	return a->time != b->time ? a->time < b->time : a->seq < b->seq;
}

static void sift_up(struct perf_order *q, size_t i)
{
	struct item item = q->heap[i];

	while (i && before(&item, &q->heap[(i - 1) / 2])) {
		q->heap[i] = q->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap[i] = item;
}

static void sift_down(struct perf_order *q)
{
	struct item item = q->heap[0];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->nr)
			break;
		if (child + 1 < q->nr && before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!before(&q->heap[child], &item))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = item;
}

static size_t bytes_of(const struct item *item)
{
	return sizeof(*item) + (item->kept ? sizeof(struct kept) + item->size - item->kept->gap_size : 0);
}

/* What is read first of a sample: it is on its way while others before it are walked. */
static void fetch_ahead(const struct item *item)
{
	if (item->kept || item->size < 1024)
		return;
	for (u32 k = 0; k < 384; k += 64)
		ehf_prefetch(item->raw + k);
	ehf_prefetch(item->raw + item->size - 8);
}

static void take_oldest(struct perf_order *q)
{
	struct item *item = &q->leaving[q->entered++ % LEAVING];

	*item = q->heap[0];
	q->heap[0] = q->heap[--q->nr];
	if (q->nr)
		sift_down(q);
	q->bytes -= bytes_of(item);
	fetch_ahead(item);
}

/* Lets those leave that may; one in any case where memory is short. */
static bool let_leave(struct perf_order *q)
{
	while (q->nr && q->entered - q->left < LEAVING &&
	       (q->finished || q->heap[0].time <= q->due))
		take_oldest(q);
	if (q->left == q->entered && q->nr && q->bytes > q->max_bytes) {
		take_oldest(q);
		q->stats.early++;
	}
	return q->left != q->entered;
}

/* The bytes of a record: where it is, as it was kept where all of it was, else put together. */
static const u8 *bytes_at(struct perf_order *q, const struct item *item)
{
	const struct kept *k = item->kept;
	u32 end;

	free(q->held);
	q->held = item->kept;
	if (!k || !k->gap_size)
		return item->raw;
	end = k->gap + k->gap_size;
	memcpy(q->out, k->raw, k->gap);
	memset(q->out + k->gap, 0, k->gap_size);
	memcpy(q->out + end, k->raw + k->gap, item->size - end);
	return q->out;
}

static struct kept *keep(const struct perf_event_rec *rec)
{
	const u8 *raw = rec->raw;
	u32 gap = rec->raw_size, gap_size = 0;
	struct kept *kept;

	if (rec->type == PERF_RECORD_SAMPLE && rec->sample.stack_size > rec->sample.dyn_size) {
		gap = (u32)(rec->sample.stack - raw) + rec->sample.dyn_size;
		gap_size = rec->sample.stack_size - rec->sample.dyn_size;
	}
	kept = malloc(sizeof(*kept) + rec->raw_size - gap_size);
	if (!kept)
		return NULL;
	kept->gap = gap;
	kept->gap_size = gap_size;
	memcpy(kept->raw, raw, gap);
	memcpy(kept->raw + gap, raw + gap + gap_size, rec->raw_size - gap - gap_size);
	return kept;
}

static int push(struct perf_order *q, const struct perf_event_rec *rec, bool decoded)
{
	struct item *item;

	if (q->nr == q->room) {
		size_t room = q->room ? q->room * 2 : 256;
		struct item *heap = realloc(q->heap, room * sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		q->heap = heap;
		q->room = room;
	}
	item = &q->heap[q->nr];
	*item = (struct item){
		.time = rec->time == UINT64_MAX ? 0 : rec->time, .seq = q->seq++, .pos = rec->pos,
		.raw = rec->raw, .size = rec->raw_size, .decoded = decoded,
	};
	/* Names are looked at more than once, and a mapped file may change. */
	if (!rec->stays || rec->type != PERF_RECORD_SAMPLE) {
		item->kept = keep(rec);
		if (!item->kept)
			return -ENOMEM;
		item->raw = item->kept->raw;
	}
	if (item->time > q->newest)
		q->newest = item->time;
	q->bytes += bytes_of(item);
	sift_up(q, q->nr++);
	q->stats.pushed++;
	if (q->bytes > q->stats.most_bytes)
		q->stats.most_bytes = q->bytes;
	return 0;
}

/**
 * perf_order_push() - take a record in
 * @q: queue
 * @rec: decoded record; where it does not stay its bytes are copied, but for those of a stack area
 *	beyond dyn_size, which come out as 0
 *
 * A record without a time (perf's own description of running processes has 0) may leave at
 * once: those come before all others, in their order.
 *
 * Return: 0, -ENOMEM.
 */
int perf_order_push(struct perf_order *q, const struct perf_event_rec *rec)
{
	return push(q, rec, true);
}

/**
 * perf_order_round() - all rings have been read once more
 * @q: queue
 */
void perf_order_round(struct perf_order *q)
{
	q->due = q->due_next;
	q->due_next = q->newest;
}

/**
 * perf_order_finish() - no more records come: all may leave
 * @q: queue
 */
void perf_order_finish(struct perf_order *q)
{
	q->finished = true;
}

/* @pd: is told of a record that was not decoded before and cannot be; NULL where there is none */
static int pop(struct perf_order *q, struct perf_decode *d, struct perf_data *pd,
	       struct perf_event_rec *out)
{
	const char *why;

	while (let_leave(q)) {
		const struct item *item = &q->leaving[q->left++ % LEAVING];
		const u8 *raw = bytes_at(q, item);

		if (item->time && item->time < q->last)
			q->stats.late++;
		else if (item->time)
			q->last = item->time;
		if (perf_decode_record(d, raw, item->size, item->pos, out, &why) > 0)
			return 1;
		if (pd && !item->decoded)
			perf_data_bad(pd, item->size, item->pos, why);
	}
	return 0;
}

/**
 * perf_order_pop() - the oldest record, if it may leave
 * @q: queue
 * @d: decoder that the record is decoded with again
 * @out: the record; its pointers hold until the next call for @q or @d
 *
 * Return: 1 with a record, 0 if none may leave yet.
 */
int perf_order_pop(struct perf_order *q, struct perf_decode *d, struct perf_event_rec *out)
{
	return pop(q, d, NULL, out);
}

/**
 * perf_order_next() - the next record of a file by time
 * @q: queue
 * @pd: reader
 * @out: the record; its pointers hold until the next call
 *
 * FINISHED_ROUND records are used up here. A damaged file yields everything before the
 * damage, in order, then the error.
 *
 * Return: 1 with a record, 0 at the end, -1 on error (perf_data_error(); if that has status 0,
 *         memory ran out).
 */
int perf_order_next(struct perf_order *q, struct perf_data *pd, struct perf_event_rec *out)
{
	for (;;) {
		if (pop(q, perf_data_decoder(pd), pd, out))
			return 1;
		/* What left the queue since may have shown that the file shrank. */
		if (q->finished)
			return q->result ? q->result : perf_data_next(pd, out);
		q->result = perf_data_next_outline(pd, out);
		if (q->result <= 0)
			perf_order_finish(q);
		else if (out->type == PERF_ABI_FINISHED_ROUND)
			perf_order_round(q);
		else if (push(q, out, out->type != PERF_RECORD_SAMPLE || !out->stays)) {
			q->result = -1;
			perf_order_finish(q);
		}
	}
}

/**
 * perf_order_ahead() - a record that will leave soon, as far as that is known
 * @q: queue
 * @nr: 0 for the next, 1 for the one behind it
 * @size: filled in
 *
 * Return: its bytes, as they are in the file; NULL where there is none, or only a copy of it.
 */
const u8 *perf_order_ahead(const struct perf_order *q, u32 nr, u32 *size)
{
	const struct item *item = &q->leaving[(q->left + nr) % LEAVING];

	if (nr >= q->entered - q->left || item->kept)
		return NULL;
	*size = item->size;
	return item->raw;
}

/**
 * perf_order_stats() - how well ordering worked
 * @q: queue
 *
 * Return: the counters.
 */
const struct perf_order_stats *perf_order_stats(const struct perf_order *q)
{
	return &q->stats;
}
