// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferred callchains of a recording: samples wait for the records with their user part, and what
 * the kernel found is compared with what we find.
 *
 * A sample and its record belong together by thread and cookie. A record ends the waiting of all
 * samples of its thread: there is one walk before a return to user space, so one with another
 * cookie has lost its own. Buffers of several CPUs may bring a record before its sample.
 */
#include "harness/defer_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/paint.h"

#define NR_BUCKETS	1024	/* a power of two */

/* A sample that waits, or a record that came early. */
struct item {
	struct item *next;	/* in its bucket */
	struct item *older;
	struct item *newer;
	u32 tid;
	u64 cookie;
	bool known;		/* @ip is a trace, not the lack of one */
	u32 nr;
	u64 ip[];
};

struct list {
	struct item *bucket[NR_BUCKETS];
	struct item *oldest;
	struct item *newest;
	u32 nr;
};

struct defer_merge {
	struct list waiting;
	struct list early;
	struct defer_merge_figures figures;
};

/**
 * defer_merge_new() - begin
 *
 * Return: the state, NULL without memory.
 */
struct defer_merge *defer_merge_new(void)
{
	return calloc(1, sizeof(struct defer_merge));
}

static struct item **bucket_of(struct list *l, u32 tid)
{
	return &l->bucket[(tid ^ tid >> 10) & (NR_BUCKETS - 1)];
}

static void drop(struct list *l, struct item *item)
{
	struct item **at = bucket_of(l, item->tid);

	while (*at != item)
		at = &(*at)->next;
	*at = item->next;
	if (item->older)
		item->older->newer = item->newer;
	else
		l->oldest = item->newer;
	if (item->newer)
		item->newer->older = item->older;
	else
		l->newest = item->older;
	l->nr--;
	free(item);
}

static struct item *add(struct list *l, u32 tid, u64 cookie, u32 nr)
{
	struct item *item = calloc(1, sizeof(*item) + nr * sizeof(item->ip[0]));

	if (!item)
		return NULL;
	item->tid = tid;
	item->cookie = cookie;
	item->nr = nr;
	item->next = *bucket_of(l, tid);
	*bucket_of(l, tid) = item;
	item->older = l->newest;
	if (l->newest)
		l->newest->newer = item;
	else
		l->oldest = item;
	l->newest = item;
	l->nr++;
	return item;
}

static struct item *find(struct list *l, u32 tid, u64 cookie)
{
	struct item *item = *bucket_of(l, tid);

	while (item && (item->tid != tid || item->cookie != cookie))
		item = item->next;
	return item;
}

/**
 * defer_merge_free() - end
 * @m: the state, or NULL
 */
void defer_merge_free(struct defer_merge *m)
{
	if (!m)
		return;
	while (m->waiting.oldest)
		drop(&m->waiting, m->waiting.oldest);
	while (m->early.oldest)
		drop(&m->early, m->early.oldest);
	free(m);
}

/* What the kernel found against what we find. */
static void compare(struct defer_merge_figures *f, const struct item *ours, const u64 *ips, u32 nr)
{
	u32 common = ours->nr < nr ? ours->nr : nr;

	f->merged++;
	if (!ours->known)
		f->uncompared++;
	else if (common && memcmp(ours->ip, ips, common * sizeof(*ips)))
		f->different++;
	else if (ours->nr == nr)
		f->equal++;
	else if (ours->nr < nr)
		f->ours_shorter++;
	else
		f->ours_longer++;
}

/**
 * defer_merge_sample() - a sample has been walked
 * @m: the state
 * @rec: the sample; one without a cookie is none of ours
 * @ours: our trace of it, NULL where it has no registers or no stack
 *
 * Return: 0, -ENOMEM.
 */
int defer_merge_sample(struct defer_merge *m, const struct perf_event_rec *rec,
		       const struct ehu_trace *ours)
{
	struct defer_merge_figures *f = &m->figures;
	struct item *item, *record;

	if (!rec->sample.has_cookie)
		return 0;
	f->samples++;
	if (m->waiting.nr >= DEFER_MERGE_WAITING) {
		drop(&m->waiting, m->waiting.oldest);
		f->dropped++;
	}
	item = add(&m->waiting, rec->tid, rec->sample.cookie, ours ? ours->nr : 0);
	if (!item)
		return -ENOMEM;
	item->known = ours;
	for (u32 k = 0; k < item->nr; k++)
		item->ip[k] = ours->entry[k].ip;
	record = find(&m->early, rec->tid, rec->sample.cookie);
	if (!record)
		return 0;
	/* It stays: other events' samples may have the same cookie. */
	record->known = true;
	f->early++;
	compare(f, item, record->ip, record->nr);
	drop(&m->waiting, item);
	return 0;
}

/* Keeps a record for a sample that may come. */
static int keep(struct defer_merge *m, const struct perf_event_rec *rec)
{
	struct item *item;

	if (m->early.nr >= DEFER_MERGE_EARLY) {
		m->figures.orphans += !m->early.oldest->known;
		drop(&m->early, m->early.oldest);
	}
	item = add(&m->early, rec->tid, rec->deferred.cookie, rec->deferred.nr);
	if (!item)
		return -ENOMEM;
	if (item->nr)
		memcpy(item->ip, rec->deferred.ips, item->nr * sizeof(item->ip[0]));
	return 0;
}

/**
 * defer_merge_record() - a user part has come
 * @m: the state
 * @rec: a record of type PERF_ABI_CALLCHAIN_DEFERRED
 *
 * Return: 0, -ENOMEM.
 */
int defer_merge_record(struct defer_merge *m, const struct perf_event_rec *rec)
{
	struct defer_merge_figures *f = &m->figures;
	struct item *item, *next;
	bool wanted = false;

	f->records++;
	f->empty += !rec->deferred.nr;
	if (rec->deferred.nr > f->longest)
		f->longest = rec->deferred.nr;
	if (!(rec->has & PERF_SAMPLE_TID)) {
		f->no_tid++;
		f->orphans++;
		return 0;
	}
	for (item = *bucket_of(&m->waiting, rec->tid); item; item = next) {
		next = item->next;
		if (item->tid != rec->tid)
			continue;
		if (item->cookie == rec->deferred.cookie) {
			compare(f, item, rec->deferred.ips, rec->deferred.nr);
			wanted = true;
		} else {
			f->mismatched++;
		}
		drop(&m->waiting, item);
	}
	return wanted ? 0 : keep(m, rec);
}

/**
 * defer_merge_end() - nothing more comes
 * @m: the state
 *
 * What still waits is counted.
 */
void defer_merge_end(struct defer_merge *m)
{
	while (m->waiting.oldest) {
		m->figures.left++;
		drop(&m->waiting, m->waiting.oldest);
	}
	while (m->early.oldest) {
		m->figures.orphans += !m->early.oldest->known;
		drop(&m->early, m->early.oldest);
	}
}

/**
 * defer_merge_figures() - what came out
 * @m: the state, after defer_merge_end()
 *
 * Return: the figures.
 */
const struct defer_merge_figures *defer_merge_figures(const struct defer_merge *m)
{
	return &m->figures;
}

/**
 * defer_merge_text() - for a person; nothing where there are no deferred callchains
 * @f: figures
 * @out: where to
 */
void defer_merge_text(const struct defer_merge_figures *f, FILE *out)
{
	if (!f->samples && !f->records)
		return;
	paint_head(out, "Deferred callchains: %" PRIu64 " samples, %" PRIu64 " records, %" PRIu64
		" merged", f->samples, f->records, f->merged);
	if (f->samples - f->merged)
		fprintf(out, "  samples without a user part: %" PRIu64 " ended by another cookie, "
			"%" PRIu64 " at the end, %" PRIu64 " for lack of room\n", f->mismatched,
			f->left, f->dropped);
	if (f->orphans)
		fprintf(out, "  records without a sample: %" PRIu64 ", %" PRIu64
			" of them without a thread\n", f->orphans, f->no_tid);
	if (f->early || f->empty)
		fprintf(out, "  records before their sample: %" PRIu64 "; without any address: "
			"%" PRIu64 "\n", f->early, f->empty);
	if (f->merged - f->uncompared)
		fprintf(out, "  the kernel's addresses against ours: %" PRIu64 " equal, %" PRIu64
			" differ; the same as far as they go: %" PRIu64 " of ours shorter, %" PRIu64
			" longer\n", f->equal, f->different, f->ours_shorter, f->ours_longer);
	if (f->uncompared)
		fprintf(out, "  not compared: %" PRIu64 " samples without registers or stack\n",
			f->uncompared);
}

/**
 * defer_merge_json() - one object; nothing where there are no deferred callchains
 * @f: figures
 * @out: where to
 */
void defer_merge_json(const struct defer_merge_figures *f, FILE *out)
{
	struct json j;

	if (!f->samples && !f->records)
		return;
	json_begin(&j, out, "deferred-callchains");
	json_number(&j, "samples", f->samples);
	json_number(&j, "records", f->records);
	json_number(&j, "merged", f->merged);
	json_number(&j, "early", f->early);
	json_number(&j, "mismatched", f->mismatched);
	json_number(&j, "left", f->left);
	json_number(&j, "dropped", f->dropped);
	json_number(&j, "orphans", f->orphans);
	json_number(&j, "no_tid", f->no_tid);
	json_number(&j, "empty", f->empty);
	json_number(&j, "longest", f->longest);
	json_number(&j, "uncompared", f->uncompared);
	json_number(&j, "equal", f->equal);
	json_number(&j, "ours_shorter", f->ours_shorter);
	json_number(&j, "ours_longer", f->ours_longer);
	json_number(&j, "different", f->different);
	json_end(&j);
}
