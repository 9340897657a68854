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
 * Most of a sample is stack area that the kernel did not fill: bytes [gap, gap + gap_size) of
 * the record are not kept.
 */
struct item {
	u64 time;
	u64 seq;	/* keeps records of one time in their order */
	u64 pos;
	u32 size;	/* of the record */
	u32 gap;
	u32 gap_size;
	_Alignas(8) u8 raw[];
};

struct perf_order {
	struct item **heap;	/* heap[0] is the oldest */
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
	struct item *held;	/* the item that the caller looks at */
	_Alignas(8) u8 out[PERF_ABI_MAX_RECORD];	/* what the caller looks at */
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
	while (q->nr)
		free(q->heap[--q->nr]);
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
	struct item *item = q->heap[i];

	while (i && before(item, q->heap[(i - 1) / 2])) {
		q->heap[i] = q->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap[i] = item;
}

static void sift_down(struct perf_order *q)
{
	struct item *item = q->heap[0];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->nr)
			break;
		if (child + 1 < q->nr && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (!before(q->heap[child], item))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = item;
}

static size_t bytes_of(const struct item *item)
{
	return sizeof(*item) + item->size - item->gap_size;
}

/* The oldest record: as it was kept where all of it was, else put together in q->out. */
static const u8 *take_oldest(struct perf_order *q, size_t *size, u64 *time, u64 *pos)
{
	struct item *item = q->heap[0];
	u32 end = item->gap + item->gap_size;

	*size = item->size;
	*time = item->time;
	*pos = item->pos;
	q->heap[0] = q->heap[--q->nr];
	if (q->nr)
		sift_down(q);
	q->bytes -= bytes_of(item);
	free(q->held);
	q->held = item;
	if (!item->gap_size)
		return item->raw;
	memcpy(q->out, item->raw, item->gap);
	memset(q->out + item->gap, 0, item->gap_size);
	memcpy(q->out + end, item->raw + item->gap, *size - end);
	return q->out;
}

/**
 * perf_order_push() - take a record in
 * @q: queue
 * @rec: decoded record; its bytes are copied, but for those of a stack area beyond dyn_size,
 *	which come out as 0
 *
 * A record without a time (perf's own description of running processes has 0) may leave at
 * once: those come before all others, in their order.
 *
 * Return: 0, -ENOMEM.
 */
int perf_order_push(struct perf_order *q, const struct perf_event_rec *rec)
{
	const u8 *raw = rec->raw;
	struct item *item;
	u32 gap = rec->raw_size;
	u32 gap_size = 0;

	if (rec->type == PERF_RECORD_SAMPLE && rec->sample.stack_size > rec->sample.dyn_size) {
		gap = (u32)(rec->sample.stack - raw) + rec->sample.dyn_size;
		gap_size = rec->sample.stack_size - rec->sample.dyn_size;
	}
	item = malloc(sizeof(*item) + rec->raw_size - gap_size);
	if (!item)
		return -ENOMEM;
	if (q->nr == q->room) {
		size_t room = q->room ? q->room * 2 : 256;
		struct item **heap = realloc(q->heap, room * sizeof(struct item *));

		if (!heap) {
			free(item);
			return -ENOMEM;
		}
		q->heap = heap;
		q->room = room;
	}
	item->time = rec->time == UINT64_MAX ? 0 : rec->time;
	item->seq = q->seq++;
	item->pos = rec->pos;
	item->size = rec->raw_size;
	item->gap = gap;
	item->gap_size = gap_size;
	memcpy(item->raw, raw, gap);
	memcpy(item->raw + gap, raw + gap + gap_size, rec->raw_size - gap - gap_size);

	if (item->time > q->newest)
		q->newest = item->time;
	q->bytes += bytes_of(item);
	q->heap[q->nr++] = item;
	sift_up(q, q->nr - 1);
	q->stats.pushed++;
	if (q->bytes > q->stats.most_bytes)
		q->stats.most_bytes = q->bytes;
	return 0;
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
	const char *why;

	while (q->nr) {
		bool due = q->finished || q->heap[0]->time <= q->due;
		const u8 *raw;
		size_t size;
		u64 time;
		u64 pos;

		if (!due && q->bytes <= q->max_bytes)
			return 0;
		q->stats.early += !due;
		raw = take_oldest(q, &size, &time, &pos);
		if (time && time < q->last)
			q->stats.late++;
		else if (time)
			q->last = time;
		/* It was decoded before it was pushed, so it decodes now. */
		if (perf_decode_record(d, raw, size, pos, out, &why) > 0)
			return 1;
	}
	return 0;
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
		if (perf_order_pop(q, perf_data_decoder(pd), out))
			return 1;
		if (q->finished)
			return q->result;
		q->result = perf_data_next(pd, out);
		if (q->result <= 0)
			perf_order_finish(q);
		else if (out->type == PERF_ABI_FINISHED_ROUND)
			perf_order_round(q);
		else if (perf_order_push(q, out)) {
			q->result = -1;
			perf_order_finish(q);
		}
	}
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
