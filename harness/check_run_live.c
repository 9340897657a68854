// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Two threads: one empties the rings of a capture, the other gets its records in order of time.
 *
 * Unwinding takes longer than the kernel's rings have patience for, now and then: first touch of
 * a big program's symbols, say. So a queue lies between; only when it is full does the capturing
 * thread wait, and the kernel counts what it then loses.
 */
#include "harness/check_run_live.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "harness/perf_write.h"

/* Bytes of records that may wait. */
#define QUEUE_BYTES	(96u << 20)

/* A record, or with size 0 a mark: all rings were read once more. */
struct item {
	struct item *next;
	size_t size;
	u64 bytes[];
};

struct check_run_live {
	const struct check_run_live_opts *opts;
	struct perf_write *file;
	int (*consume)(struct check_run_live *live, void *arg);
	void *arg;
	int status;

	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t emptied;
	struct item *first;
	struct item **last;
	size_t bytes;
	bool ended;		/* nothing more comes */
	bool gone;		/* nobody takes anything any more */
	bool started;
	struct perf_event_attr attr;
	u64 *ids;
	u32 nr_ids;

	/* the consumer's own */
	struct perf_decode *decode;
	struct perf_order *order;
	struct item *held;
	u64 pos;
	u64 bad;
};

static int put(struct check_run_live *live, const void *record, size_t size)
{
	struct item *item = malloc(sizeof(*item) + size);
	int rc = 0;

	if (!item)
		return -ENOMEM;
	item->next = NULL;
	item->size = size;
	if (size)
		memcpy(item->bytes, record, size);
	pthread_mutex_lock(&live->lock);
	while (live->bytes > QUEUE_BYTES && !live->gone)
		pthread_cond_wait(&live->emptied, &live->lock);
	if (live->gone) {
		free(item);
		rc = -EPIPE;
	} else {
		*live->last = item;
		live->last = &item->next;
		live->bytes += sizeof(*item) + size;
		pthread_cond_signal(&live->filled);
	}
	pthread_mutex_unlock(&live->lock);
	return rc;
}

static struct item *get(struct check_run_live *live)
{
	struct item *item;

	pthread_mutex_lock(&live->lock);
	while (!live->first && !live->ended)
		pthread_cond_wait(&live->filled, &live->lock);
	item = live->first;
	if (item) {
		live->first = item->next;
		if (!live->first)
			live->last = &live->first;
		live->bytes -= sizeof(*item) + item->size;
		pthread_cond_signal(&live->emptied);
	}
	pthread_mutex_unlock(&live->lock);
	return item;
}

static void end(struct check_run_live *live)
{
	pthread_mutex_lock(&live->lock);
	live->ended = true;
	pthread_cond_signal(&live->filled);
	pthread_mutex_unlock(&live->lock);
}

static int on_start(void *arg, const struct perf_event_attr *attr, const u64 *ids, u32 nr_ids)
{
	struct check_run_live *live = arg;
	int rc = 0;

	if (live->file)
		rc = perf_write_begin(live->file, attr, ids, nr_ids);
	if (rc)
		return rc;
	pthread_mutex_lock(&live->lock);
	live->attr = *attr;
	live->ids = malloc((nr_ids ? nr_ids : 1) * sizeof(*ids));
	if (live->ids) {
		memcpy(live->ids, ids, nr_ids * sizeof(*ids));
		live->nr_ids = nr_ids;
		live->started = true;
	}
	pthread_mutex_unlock(&live->lock);
	return live->started ? 0 : -ENOMEM;
}

static int on_record(void *arg, const void *record, size_t size)
{
	struct check_run_live *live = arg;
	int rc = live->file ? perf_write_record(live->file, record, size) : 0;

	return rc ? rc : put(live, record, size);
}

static int on_round(void *arg)
{
	struct check_run_live *live = arg;
	int rc = live->file ? perf_write_round(live->file) : 0;

	return rc ? rc : put(live, NULL, 0);
}

static void on_note(void *arg, const char *text)
{
	struct check_run_live *live = arg;

	if (live->opts->note)
		live->opts->note(live->opts->arg, text);
}

static void *run_consumer(void *arg)
{
	struct check_run_live *live = arg;

	live->status = live->consume(live, live->arg);
	pthread_mutex_lock(&live->lock);
	live->gone = true;
	pthread_cond_signal(&live->emptied);
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

/* The consumer has no business with signals that are meant for the capture. */
static int start_consumer(struct check_run_live *live, pthread_t *thread)
{
	sigset_t most, old;
	int rc;

	sigfillset(&most);
	sigdelset(&most, SIGSEGV);
	sigdelset(&most, SIGBUS);
	sigdelset(&most, SIGFPE);
	sigdelset(&most, SIGILL);
	sigdelset(&most, SIGABRT);
	pthread_sigmask(SIG_BLOCK, &most, &old);
	rc = pthread_create(thread, NULL, run_consumer, live);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static bool begin_decoding(struct check_run_live *live)
{
	bool ok = false;

	pthread_mutex_lock(&live->lock);
	if (live->started) {
		live->decode = perf_decode_new(false);
		live->order = perf_order_new(PERF_ORDER_BYTES);
		ok = live->decode && live->order &&
		     !perf_decode_add_attr(live->decode, &live->attr, sizeof(live->attr)) &&
		     !perf_decode_add_ids(live->decode, 0, live->ids, live->nr_ids);
	}
	pthread_mutex_unlock(&live->lock);
	return ok;
}

/**
 * check_run_live_next() - the next record by time
 * @live: the capture; for the consumer's thread
 * @rec: filled in; its pointers hold until the next call
 *
 * Waits for it.
 *
 * Return: 1 with a record, 0 at the end, -ENOMEM.
 */
int check_run_live_next(struct check_run_live *live, struct perf_event_rec *rec)
{
	const char *why;
	int rc;

	for (;;) {
		if (live->order && perf_order_pop(live->order, live->decode, rec))
			return 1;
		free(live->held);
		live->held = get(live);
		if (!live->held) {
			if (!live->order)
				return 0;
			perf_order_finish(live->order);
			return perf_order_pop(live->order, live->decode, rec);
		}
		if (!live->order && !begin_decoding(live))
			return -ENOMEM;
		if (!live->held->size) {
			perf_order_round(live->order);
			continue;
		}
		rc = perf_decode_record(live->decode, live->held->bytes, live->held->size,
					live->pos, rec, &why);
		live->pos += live->held->size;
		if (rc < 0)
			live->bad++;
		else if (rc > 0 && perf_order_push(live->order, rec))
			return -ENOMEM;
	}
}

/**
 * check_run_live_order() - how well ordering worked
 * @live: the capture; for the consumer's thread
 *
 * Return: the counters, NULL where there was no record.
 */
const struct perf_order_stats *check_run_live_order(const struct check_run_live *live)
{
	return live->order ? perf_order_stats(live->order) : NULL;
}

/**
 * check_run_live_bad() - records that could not be decoded
 * @live: the capture; for the consumer's thread
 *
 * Return: their number.
 */
u64 check_run_live_bad(const struct check_run_live *live)
{
	return live->bad;
}

static void save_close(struct check_run_live *live, struct check_run_live_result *result)
{
	if (live->file)
		perf_write_close(live->file, "ehunwind", live->opts->argv, &result->saved,
				 &result->save_err);
}

static void destroy(struct check_run_live *live)
{
	struct item *item;

	while ((item = live->first) != NULL) {
		live->first = item->next;
		free(item);
	}
	free(live->held);
	perf_order_free(live->order);
	perf_decode_free(live->decode);
	free(live->ids);
	pthread_cond_destroy(&live->filled);
	pthread_cond_destroy(&live->emptied);
	pthread_mutex_destroy(&live->lock);
}

/**
 * check_run_live() - capture a command or a process while another thread consumes the records
 * @opts: what to capture
 * @consume: called once, in a thread of its own; takes records by check_run_live_next() until
 *	that says 0
 * @arg: passed to it
 * @result: filled in
 *
 * Signals end the capture, not the consumer: what was captured is consumed.
 *
 * Return: what @consume returned; a negative errno value where there is no thread for it.
 */
int check_run_live(const struct check_run_live_opts *opts,
		   int (*consume)(struct check_run_live *live, void *arg), void *arg,
		   struct check_run_live_result *result)
{
	struct check_run_live live = { .opts = opts, .consume = consume, .arg = arg };
	const struct perf_capture_sink sink = {
		.start = on_start, .record = on_record, .round = on_round, .note = on_note,
		.arg = &live,
	};
	pthread_t thread;
	int rc;

	memset(result, 0, sizeof(*result));
	live.last = &live.first;
	pthread_mutex_init(&live.lock, NULL);
	pthread_cond_init(&live.filled, NULL);
	pthread_cond_init(&live.emptied, NULL);
	if (opts->save) {
		live.file = perf_write_open(opts->save, !opts->capture.no_io_uring,
					    &result->save_err);
		if (!live.file) {
			result->end = PERF_CAPTURE_SINK;
			destroy(&live);
			return 0;
		}
	}
	rc = start_consumer(&live, &thread);
	if (rc) {
		save_close(&live, result);
		destroy(&live);
		return -rc;
	}
	if (opts->command)
		result->end = perf_capture_command(&opts->capture, opts->command, &sink,
						   &result->capture, &result->err);
	else
		result->end = perf_capture_attach(&opts->capture, &opts->pid, 1, &sink,
						  &result->capture, &result->err);
	end(&live);
	pthread_join(thread, NULL);
	save_close(&live, result);
	rc = live.status;
	destroy(&live);
	return rc;
}
