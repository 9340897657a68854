// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What deferral costs and what it saves: the same stops by a copied window and by a deferred walk.
 */
#include "harness/defer_report.h"

#include <inttypes.h>
#include <string.h>

#include "harness/paint.h"

static double per(u64 a, u64 b)
{
	return b ? (double)a / (double)b : 0;
}

static void side(FILE *out, const char *name, u64 bytes, const char *what,
		 const struct defer_side *s, u64 pairs)
{
	fprintf(out, "  %-5s  %8.0f bytes %-7s  %5.1f%% complete  %5.1f%% cut by the window  ",
		name, per(bytes, pairs), what, 100 * per(s->complete, pairs),
		100 * per(s->cut, pairs));
	fprintf(out, "%5.1f%% full  %6.1f frames, %u at most\n", 100 * per(s->full, pairs),
		per(s->frames, pairs), s->deepest);
}

static void text_missing(const struct live_result *l, FILE *out)
{
	if (l->blocked)
		fprintf(out, "  not sampled: %" PRIu64 " threads that block SIGTRAP, the first: "
			"%s\n", l->blocked, l->blocked_name);
	if (l->late || l->vanished)
		fprintf(out, "  not walked: %" PRIu64 " stops that came late, as SIGTRAP was "
			"blocked, %" PRIu64 " threads that were gone\n", l->late, l->vanished);
	if (l->no_event)
		fprintf(out, "  not sampled: %" PRIu64 " threads without an event: %s\n",
			l->no_event, strerror(l->no_event_error));
	if (l->undetached)
		fprintf(out, "  %" PRIu64 " threads did not stop to be let go\n", l->undetached);
}

/**
 * defer_report_text() - for a person
 * @f: figures
 * @out: where to
 */
void defer_report_text(const struct defer_figures *f, FILE *out)
{
	const struct live_result *l = &f->live;

	paint_head(out, "Copy against defer: %" PRIu64 " stops, each walked both ways", f->pairs);
	if (f->pairs) {
		side(out, "copy", f->copied_bytes, "copied", &f->copy, f->pairs);
		side(out, "defer", f->read_bytes, "read", &f->defer, f->pairs);
		fprintf(out, "  copied: of the stack, %u bytes at most; read: %.0f bytes of stack "
			"and data, the rest of CFI\n", f->window, per(f->live_bytes, f->pairs));
	}
	fprintf(out, "\nStops: %" PRIu64 " of %" PRIu64 " threads in %" PRIu64 " processes; ",
		l->overflows, l->threads, l->processes);
	fprintf(out, "%" PRIu64 " requests, %" PRIu64 " walks, %" PRIu64 " callbacks\n",
		f->requests, f->walks, f->callbacks);
	fprintf(out, "  mappings read %" PRIu64 " times, changed %" PRIu64 " times, files unmapped "
		"%" PRIu64 " times; %" PRIu64 " signals passed on\n", f->maps_reads,
		f->maps_changes, f->maps_resets, l->signals);
	text_missing(l, out);
	if (f->bad)
		fprintf(out, "  %" PRIu64 " requests, cookies or callbacks were not as they must "
			"be\n", f->bad);
}

static void put_side(struct json *j, const char *key, const struct defer_side *s)
{
	json_open(j, key);
	json_number(j, "complete", s->complete);
	json_number(j, "cut_by_window", s->cut);
	json_number(j, "full", s->full);
	json_number(j, "frames", s->frames);
	json_number(j, "deepest", s->deepest);
	json_close(j);
}

/**
 * defer_report_json() - one object
 * @f: figures
 * @out: where to
 */
void defer_report_json(const struct defer_figures *f, FILE *out)
{
	const struct live_result *l = &f->live;
	struct json j;

	json_begin(&j, out, "copy-against-defer");
	json_number(&j, "pairs", f->pairs);
	json_number(&j, "window", f->window);
	json_number(&j, "copied_bytes", f->copied_bytes);
	json_number(&j, "read_bytes", f->read_bytes);
	json_number(&j, "live_bytes", f->live_bytes);
	put_side(&j, "copy", &f->copy);
	put_side(&j, "defer", &f->defer);
	json_end(&j);
	json_begin(&j, out, "stops");
	json_number(&j, "overflows", l->overflows);
	json_number(&j, "late", l->late);
	json_number(&j, "vanished", l->vanished);
	json_number(&j, "threads", l->threads);
	json_number(&j, "processes", l->processes);
	json_number(&j, "execs", l->execs);
	json_number(&j, "signals", l->signals);
	json_number(&j, "blocked", l->blocked);
	if (l->blocked)
		json_text(&j, "blocked_first", l->blocked_name);
	json_number(&j, "no_event", l->no_event);
	json_number(&j, "undetached", l->undetached);
	json_number(&j, "requests", f->requests);
	json_number(&j, "walks", f->walks);
	json_number(&j, "callbacks", f->callbacks);
	json_number(&j, "bad", f->bad);
	json_number(&j, "maps_reads", f->maps_reads);
	json_number(&j, "maps_changes", f->maps_changes);
	json_number(&j, "maps_resets", f->maps_resets);
	json_end(&j);
}
