// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* One perf record, from bytes of either byte order to a tagged struct. */

#include "harness/perf_decode.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Bounds on what a file can make us remember; perf itself writes a few hundred ids. */
#define MAX_ATTRS	4096
#define MAX_IDS		(1u << 20)

/* An attr that leaves the records of two events alike leaves ids without a purpose. */
#define ID_TYPES	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)

/* PERF_FORMAT_LOST and PERF_SAMPLE_BRANCH_COUNTERS are younger than some headers. */
#define FORMAT_LOST	(1u << 4)
#define BRANCH_COUNTERS	(1u << 19)

struct id_slot {
	u64 id;
	u32 attr;	/* index + 1; 0: free */
};

struct perf_decode {
	bool big_endian;
	bool swap;			/* the bytes are not in the host's order */
	bool alike;			/* all attrs shape records in the same way */
	size_t time_at;			/* where a sample's time is; 0: not at one place, or nowhere */
	struct perf_decode_attr *attrs;
	u32 nr_attrs;
	struct id_slot *slots;
	u32 nr_slots;			/* power of two, or 0 */
	u32 nr_ids;
	u64 unknown_ids;
	u64 chain[PERF_ABI_MAX_RECORD / 8];	/* swapped or realigned words */
};

/* A bounded view of one record; past the end it yields 0 and says so in @bad. */
struct view {
	const u8 *p;
	size_t off;
	size_t end;
	bool swap;
	bool bad;
};

static bool has(struct view *v, u64 len)
{
	if (v->bad || len > v->end - v->off) {
		v->bad = true;
		return false;
	}
	return true;
}

static u8 get8(struct view *v)
{
	return has(v, 1) ? v->p[v->off++] : 0;
}

static u16 get16(struct view *v)
{
	u16 n;

	if (!has(v, sizeof(n)))
		return 0;
	memcpy(&n, v->p + v->off, sizeof(n));
	v->off += sizeof(n);
	return v->swap ? __builtin_bswap16(n) : n;
}

static u32 get32(struct view *v)
{
	u32 n;

	if (!has(v, sizeof(n)))
		return 0;
	memcpy(&n, v->p + v->off, sizeof(n));
	v->off += sizeof(n);
	return v->swap ? __builtin_bswap32(n) : n;
}

static u64 get64(struct view *v)
{
	u64 n;

	if (!has(v, sizeof(n)))
		return 0;
	memcpy(&n, v->p + v->off, sizeof(n));
	v->off += sizeof(n);
	return v->swap ? __builtin_bswap64(n) : n;
}

static const u8 *get_bytes(struct view *v, u64 len)
{
	const u8 *p = v->p + v->off;

	if (!has(v, len))
		return NULL;
	v->off += len;
	return p;
}

/* A NUL-terminated string that must end inside the view. */
static const char *get_string(struct view *v)
{
	const u8 *p = v->p + v->off;
	const u8 *nul;

	if (v->bad)
		return NULL;
	nul = memchr(p, 0, v->end - v->off);
	if (!nul) {
		v->bad = true;
		return NULL;
	}
	v->off = (size_t)(nul - v->p) + 1;
	return (const char *)p;
}

/* @nr words, in the host's order and aligned: in place where they are so already. */
static const u64 *get_words(struct perf_decode *d, struct view *v, u64 nr)
{
	const u8 *p = v->p + v->off;

	if (v->bad || nr > (v->end - v->off) / 8) {
		v->bad = true;
		return NULL;
	}
	if (!d->swap && !((uintptr_t)p & 7)) {
		v->off += nr * 8;
		return (const u64 *)p;
	}
	for (u64 i = 0; i < nr; i++)
		d->chain[i] = get64(v);
	return d->chain;
}

/**
 * perf_decode_new() - start a decoder without events
 * @big_endian: byte order of the records
 *
 * Return: the decoder, NULL without memory.
 */
struct perf_decode *perf_decode_new(bool big_endian)
{
	struct perf_decode *d = calloc(1, sizeof(*d));

	if (d) {
		d->big_endian = big_endian;
		d->swap = big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		d->alike = true;
	}
	return d;
}

/**
 * perf_decode_free() - end a decoder
 * @d: decoder or NULL
 */
void perf_decode_free(struct perf_decode *d)
{
	if (!d)
		return;
	free(d->attrs);
	free(d->slots);
	free(d);
}

/* Bitfields start at the top of the word on big-endian machines: flag n is bit 63 - n there. */
static u64 flags_of(u64 word, bool be)
{
	u64 flags = 0;

	if (!be)
		return word;
	for (int i = 0; i < 64; i++)
		flags |= (word >> (63 - i) & 1) << i;
	return flags;
}

static size_t time_place(const struct perf_decode_attr *a)
{
	u64 t = a->sample_type;

	if (!(t & PERF_SAMPLE_TIME))
		return 0;
	return 8 + 8 * (!!(t & PERF_SAMPLE_IDENTIFIER) + !!(t & PERF_SAMPLE_IP) +
			!!(t & PERF_SAMPLE_TID));
}

static bool same_shape(const struct perf_decode_attr *a, const struct perf_decode_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_type == b->branch_type && a->regs_user == b->regs_user &&
	       a->sample_id_all == b->sample_id_all;
}

/**
 * perf_decode_add_attr() - add an event
 * @d: decoder
 * @attr: struct perf_event_attr as written, in the records' byte order
 * @size: bytes of it; a shorter attr of an older perf reads as zeros behind its end, a longer
 *	one of a newer perf is taken up to the fields known here
 *
 * Return: its index, -EINVAL if it is shorter than the first published attr (64 bytes),
 *         -E2BIG for too many events, -ENOMEM.
 */
int perf_decode_add_attr(struct perf_decode *d, const void *attr, size_t size)
{
	enum { FLAG_SAMPLE_ID_ALL = 18, FLAG_USE_CLOCKID = 25 };
	struct perf_decode_attr *a;
	u8 bytes[112] = { 0 };
	struct view v = { .p = bytes, .end = sizeof(bytes), .swap = d->swap };
	u64 flags;

	if (size < 64)
		return -EINVAL;
	if (d->nr_attrs >= MAX_ATTRS)
		return -E2BIG;
	memcpy(bytes, attr, size < sizeof(bytes) ? size : sizeof(bytes));

	if (!(d->nr_attrs & (d->nr_attrs - 1))) {	/* full at powers of two */
		u32 room = d->nr_attrs ? d->nr_attrs * 2 : 1;

		a = realloc(d->attrs, room * sizeof(*a));
		if (!a)
			return -ENOMEM;
		d->attrs = a;
	}
	a = &d->attrs[d->nr_attrs];
	a->type = get32(&v);
	get32(&v);			/* size */
	a->config = get64(&v);
	get64(&v);			/* period or frequency */
	a->sample_type = get64(&v);
	a->read_format = get64(&v);
	flags = flags_of(get64(&v), d->big_endian);
	a->sample_id_all = flags >> FLAG_SAMPLE_ID_ALL & 1;
	v.off = 72;
	a->branch_type = get64(&v);
	a->regs_user = get64(&v);
	a->stack_user = get32(&v);
	a->clockid = (s32)get32(&v);
	if (!(flags >> FLAG_USE_CLOCKID & 1))
		a->clockid = -1;

	d->alike = d->alike && same_shape(a, &d->attrs[0]);
	d->time_at = d->alike ? time_place(a) : 0;
	return (int)d->nr_attrs++;
}

static struct id_slot *find_slot(const struct perf_decode *d, u64 id)
{
	u64 at = id * 0x9e3779b97f4a7c15ull >> 32;

	if (!d->nr_slots)
		return NULL;
	/* Never full: at most half of the slots are taken. */
	for (;; at++) {
		struct id_slot *s = &d->slots[at & (d->nr_slots - 1)];

		if (!s->attr || s->id == id)
			return s;
	}
}

static bool grow_slots(struct perf_decode *d)
{
	struct id_slot *old = d->slots;
	u32 nr = d->nr_slots;
	struct id_slot *slots = calloc(nr ? nr * 2 : 64, sizeof(*slots));

	if (!slots)
		return false;
	d->slots = slots;
	d->nr_slots = nr ? nr * 2 : 64;
	for (u32 i = 0; i < nr; i++) {
		if (old[i].attr)
			*find_slot(d, old[i].id) = old[i];
	}
	free(old);
	return true;
}

/**
 * perf_decode_add_ids() - tell which ids belong to an event
 * @d: decoder
 * @idx: index of the event
 * @ids: array of u64 in the records' byte order, of any alignment
 * @nr: their number
 *
 * Return: 0, -EINVAL for a wrong @idx, -E2BIG for too many ids, -ENOMEM.
 */
int perf_decode_add_ids(struct perf_decode *d, u32 idx, const void *ids, size_t nr)
{
	struct view v = { .p = ids, .end = nr * 8, .swap = d->swap };

	if (idx >= d->nr_attrs)
		return -EINVAL;
	if (nr > MAX_IDS - d->nr_ids)
		return -E2BIG;
	for (size_t i = 0; i < nr; i++) {
		u64 id = get64(&v);
		struct id_slot *s;

		if (d->nr_ids >= d->nr_slots / 2 && !grow_slots(d))
			return -ENOMEM;
		s = find_slot(d, id);
		d->nr_ids += !s->attr;
		*s = (struct id_slot){ .id = id, .attr = idx + 1 };
	}
	return 0;
}

/**
 * perf_decode_nr_attrs() - number of events
 * @d: decoder
 *
 * Return: how many were added.
 */
u32 perf_decode_nr_attrs(const struct perf_decode *d)
{
	return d->nr_attrs;
}

/**
 * perf_decode_attr() - one event
 * @d: decoder
 * @idx: its index
 *
 * Return: the event, NULL if there is none of that index. Holds until the next is added.
 */
const struct perf_decode_attr *perf_decode_attr(const struct perf_decode *d, u32 idx)
{
	return idx < d->nr_attrs ? &d->attrs[idx] : NULL;
}

/**
 * perf_decode_unknown_ids() - records whose id belongs to no event
 * @d: decoder
 *
 * Return: their number so far.
 */
u64 perf_decode_unknown_ids(const struct perf_decode *d)
{
	return d->unknown_ids;
}

/* Words before the id in a sample, or behind it in a sample_id; -1: it has none. */
static int id_place(const struct perf_decode_attr *a, bool sample)
{
	u64 t = a->sample_type;

	if (t & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(t & PERF_SAMPLE_ID))
		return -1;
	if (sample)
		return !!(t & PERF_SAMPLE_IP) + !!(t & PERF_SAMPLE_TID) +
		       !!(t & PERF_SAMPLE_TIME) + !!(t & PERF_SAMPLE_ADDR);
	return !!(t & PERF_SAMPLE_CPU) + !!(t & PERF_SAMPLE_STREAM_ID);
}

/*
 * Which event a record belongs to. perf writes ids only where there are several events, and
 * puts them at the same place in all of them; the records that it makes up itself carry 0.
 */
static const struct perf_decode_attr *find_attr(struct perf_decode *d, const struct view *rec,
						bool sample)
{
	const struct perf_decode_attr *first = d->attrs;
	struct view v = *rec;
	struct id_slot *s;
	int words;
	u64 id;

	if (!d->nr_attrs)
		return NULL;
	if (d->nr_attrs == 1 || (!sample && !first->sample_id_all))
		return first;
	words = id_place(first, sample);
	if (words < 0)
		return d->alike ? first : NULL;
	if (sample)
		v.off = 8 + (size_t)words * 8;
	else if (v.end < 16 + (size_t)words * 8)
		return NULL;
	else
		v.off = v.end - 8 - (size_t)words * 8;
	if (v.off > v.end)
		return NULL;
	id = get64(&v);
	if (v.bad)
		return NULL;
	if (!id)
		return first;
	s = find_slot(d, id);
	if (s && s->attr)
		return &d->attrs[s->attr - 1];
	d->unknown_ids++;
	return d->alike ? first : NULL;
}

/* The sample_id at the end of a record that is no sample; moves the view's end before it. */
static void take_sample_id(struct perf_event_rec *rec, struct view *v)
{
	u64 t = rec->attr->sample_type;
	struct view id = *v;
	size_t len = 0;

	if (!rec->attr->sample_id_all)
		return;
	for (u64 bits = t & (ID_TYPES | PERF_SAMPLE_IDENTIFIER); bits; bits &= bits - 1)
		len += 8;
	if (!has(v, len))
		return;
	v->end -= len;
	id.off = v->end;

	rec->has = t & ID_TYPES;
	if (t & PERF_SAMPLE_TID) {
		rec->pid = get32(&id);
		rec->tid = get32(&id);
	}
	if (t & PERF_SAMPLE_TIME)
		rec->time = get64(&id);
	if (t & PERF_SAMPLE_ID)
		rec->id = get64(&id);
	if (t & PERF_SAMPLE_STREAM_ID)
		rec->stream_id = get64(&id);
	if (t & PERF_SAMPLE_CPU) {
		rec->cpu = get32(&id);
		get32(&id);
	}
	if (t & PERF_SAMPLE_IDENTIFIER) {
		rec->id = get64(&id);
		rec->has |= PERF_SAMPLE_ID;
	}
}

static void skip_read(struct view *v, u64 format)
{
	u64 each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	u64 times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	u64 nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = get64(v);
	if (nr > PERF_ABI_MAX_RECORD / 8)
		v->bad = true;
	else
		get_bytes(v, (times + nr * each) * 8);
}

static void skip_branches(struct view *v, u64 branch_type)
{
	u64 nr = get64(v);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		get64(v);
	if (nr > PERF_ABI_MAX_RECORD / 24)
		v->bad = true;
	else
		get_bytes(v, nr * (branch_type & BRANCH_COUNTERS ? 32 : 24));
}

static void take_regs(struct perf_rec_sample *s, struct view *v, u64 mask)
{
	u32 nr = (u32)__builtin_popcountll(mask);

	s->abi = get64(v);
	if (s->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	s->regs_mask = mask;
	if (!v->swap && has(v, 8 * nr)) {
		memcpy(s->regs, get_bytes(v, 8 * nr), 8 * nr);
		s->nr_regs = nr;
		return;
	}
	for (; mask; mask &= mask - 1)
		s->regs[s->nr_regs++] = get64(v);
}

static void take_stack(struct perf_rec_sample *s, struct view *v)
{
	u64 size = get64(v);
	u64 dyn;

	if (!size)
		return;		/* then there is no dyn_size either */
	s->stack = get_bytes(v, size);
	dyn = get64(v);
	if (dyn > size)
		v->bad = true;
	if (v->bad)
		return;
	s->stack_size = (u32)size;
	s->dyn_size = (u32)dyn;
}

static void take_chain(struct perf_decode *d, struct perf_rec_sample *s, struct view *v)
{
	u64 nr = get64(v);

	s->chain = get_words(d, v, nr);
	if (v->bad)
		return;
	s->nr_chain = (u32)nr;
	for (u32 i = 0; i + 1 < s->nr_chain; i++) {
		if (s->chain[i] == PERF_ABI_CONTEXT_USER_DEFERRED) {
			s->has_cookie = true;
			s->cookie = s->chain[i + 1];
			return;
		}
	}
}

/* Order of the fields: include/uapi/linux/perf_event.h, at PERF_RECORD_SAMPLE. */
static void decode_sample(struct perf_decode *d, struct perf_event_rec *rec, struct view *v)
{
	const struct perf_decode_attr *a = rec->attr;
	struct perf_rec_sample *s = &rec->sample;
	u64 t = a->sample_type;

	rec->has = t & ID_TYPES;
	if (t & PERF_SAMPLE_IDENTIFIER) {
		rec->id = get64(v);
		rec->has |= PERF_SAMPLE_ID;
	}
	if (t & PERF_SAMPLE_IP)
		s->ip = get64(v);
	if (t & PERF_SAMPLE_TID) {
		rec->pid = get32(v);
		rec->tid = get32(v);
	}
	if (t & PERF_SAMPLE_TIME)
		rec->time = get64(v);
	if (t & PERF_SAMPLE_ADDR)
		s->addr = get64(v);
	if (t & PERF_SAMPLE_ID)
		rec->id = get64(v);
	if (t & PERF_SAMPLE_STREAM_ID)
		rec->stream_id = get64(v);
	if (t & PERF_SAMPLE_CPU) {
		rec->cpu = get32(v);
		get32(v);
	}
	if (t & PERF_SAMPLE_PERIOD)
		s->period = get64(v);
	if (t & PERF_SAMPLE_READ)
		skip_read(v, a->read_format);
	if (t & PERF_SAMPLE_CALLCHAIN)
		take_chain(d, s, v);
	if (t & PERF_SAMPLE_RAW)
		get_bytes(v, get32(v));
	if (t & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(v, a->branch_type);
	if (t & PERF_SAMPLE_REGS_USER)
		take_regs(s, v, a->regs_user);
	if (t & PERF_SAMPLE_STACK_USER)
		take_stack(s, v);
}

static void decode_mmap(struct perf_event_rec *rec, struct view *v)
{
	struct perf_rec_mmap *m = &rec->mmap;
	u32 pid = get32(v);
	u32 tid = get32(v);

	m->data = rec->misc & PERF_RECORD_MISC_MMAP_DATA;
	m->addr = get64(v);
	m->len = get64(v);
	m->pgoff = get64(v);
	if (rec->type == PERF_RECORD_MMAP2) {
		if (rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			u8 len = get8(v);
			const u8 *id;

			get_bytes(v, 3);
			id = get_bytes(v, PERF_ABI_BUILD_ID_LEN);
			if (len > PERF_ABI_BUILD_ID_LEN)
				v->bad = true;
			if (!v->bad) {
				memcpy(m->build_id, id, len);
				m->build_id_size = len;
			}
		} else {
			m->has_inode = true;
			m->maj = get32(v);
			m->min = get32(v);
			m->ino = get64(v);
			m->generation = get64(v);
		}
		m->has_prot = true;
		m->prot = get32(v);
		m->flags = get32(v);
	}
	m->name = get_string(v);
	m->pid = pid;
	rec->pid = pid;
	rec->tid = tid;
}

/* Returns false for a type that has no member in struct perf_event_rec. */
static bool decode_other(struct perf_decode *d, struct perf_event_rec *rec, struct view *v)
{
	u64 nr;

	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(rec, v);
		return true;
	case PERF_RECORD_COMM:
		rec->pid = get32(v);
		rec->tid = get32(v);
		rec->comm.exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
		rec->comm.name = get_string(v);
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		rec->pid = get32(v);
		rec->task.ppid = get32(v);
		rec->tid = get32(v);
		rec->task.ptid = get32(v);
		rec->task.time = get64(v);
		return true;
	case PERF_RECORD_LOST:
		get64(v);		/* id */
		rec->lost.nr = get64(v);
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		rec->lost.nr = get64(v);
		return true;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		rec->throttle.time = get64(v);
		rec->throttle.id = get64(v);
		rec->throttle.stream_id = get64(v);
		return true;
	case PERF_ABI_CALLCHAIN_DEFERRED:
		rec->deferred.cookie = get64(v);
		nr = get64(v);
		rec->deferred.ips = get_words(d, v, nr);
		rec->deferred.nr = v->bad ? 0 : (u32)nr;
		return true;
	default:
		return false;
	}
}

/* All zeros, but for registers, of which only those that are there are looked at. */
static void clear(struct perf_event_rec *rec)
{
	const size_t from = offsetof(struct perf_event_rec, sample.regs);
	const size_t to = offsetof(struct perf_event_rec, sample.stack);

	memset(rec, 0, from);
	memset((u8 *)rec + to, 0, sizeof(*rec) - to);
}

/**
 * perf_decode_outline() - what is needed to put a sample in order
 * @d: decoder with its events
 * @bytes: the record, of any alignment
 * @len: bytes at @bytes, all of the record's
 * @pos: kept in the result
 * @rec: the result: @type, @misc, @pos, @raw, @raw_size and @time, all else as it was
 *
 * Return: false where it is no sample, or where the place of its time is not known.
 */
bool perf_decode_outline(const struct perf_decode *d, const void *bytes, size_t len, u64 pos,
			 struct perf_event_rec *rec)
{
	struct view v = { .p = bytes, .end = len, .swap = d->swap };

	rec->type = get32(&v);
	rec->misc = get16(&v);
	if (rec->type != PERF_RECORD_SAMPLE || !d->time_at || d->time_at + 8 > len)
		return false;
	rec->pos = pos;
	rec->raw = bytes;
	rec->raw_size = (u32)len;
	v.off = d->time_at;
	rec->time = get64(&v);
	return true;
}

/**
 * perf_decode_record() - decode one record
 * @d: decoder with its events
 * @bytes: the record, of any alignment
 * @len: bytes at @bytes
 * @pos: kept in the result, for messages
 * @rec: the result
 * @why: on -EINVAL what is wrong with it
 *
 * Return: 1 with @rec filled; 0 for a type that is not decoded (@rec holds type, misc, raw);
 *         -EINVAL if a field does not fit in the record or contradicts another.
 */
int perf_decode_record(struct perf_decode *d, const void *bytes, size_t len, u64 pos,
		       struct perf_event_rec *rec, const char **why)
{
	struct view v = { .p = bytes, .end = len, .swap = d->swap };
	const struct perf_decode_attr *a = NULL;
	u32 type = get32(&v);
	u16 misc = get16(&v);
	size_t size = get16(&v);
	bool known;

	clear(rec);
	rec->type = type;
	rec->misc = misc;
	rec->pos = pos;
	rec->raw = bytes;
	*why = "";
	if (v.bad || size < 8 || size > len) {
		*why = "record longer than the bytes at hand";
		rec->raw_size = 0;
		return -EINVAL;
	}
	v.end = size;
	rec->raw_size = (u32)size;

	if (type == PERF_ABI_FINISHED_ROUND)
		return 1;
	if (type >= PERF_ABI_HEADER_ATTR)
		return 0;

	a = find_attr(d, &v, type == PERF_RECORD_SAMPLE);
	if (!a) {
		*why = d->nr_attrs ? "record of an unknown event" : "record before any event";
		return -EINVAL;
	}
	rec->attr = a;
	if (type == PERF_RECORD_SAMPLE) {
		decode_sample(d, rec, &v);
		known = true;
	} else {
		take_sample_id(rec, &v);
		known = decode_other(d, rec, &v);
	}
	if (v.bad) {
		*why = "a field does not fit in its record";
		return -EINVAL;
	}
	return known;
}

/**
 * perf_decode_user_chain() - the user part of a sample's callchain
 * @s: sample
 * @ips: where it begins
 *
 * Context markers are the values from PERF_CONTEXT_MAX up; the user part begins after
 * PERF_CONTEXT_USER and ends at the next marker.
 *
 * Return: number of entries, 0 if there is no user part.
 */
u32 perf_decode_user_chain(const struct perf_rec_sample *s, const u64 **ips)
{
	u32 i = 0;
	u32 nr = 0;

	while (i < s->nr_chain && s->chain[i] != (u64)PERF_CONTEXT_USER)
		i++;
	if (i == s->nr_chain)
		return 0;
	i++;
	*ips = s->chain + i;
	while (i + nr < s->nr_chain && s->chain[i + nr] < (u64)PERF_CONTEXT_MAX)
		nr++;
	return nr;
}
