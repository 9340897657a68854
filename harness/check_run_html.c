// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The figures of a run as the tables of its page; the same numbers as in the JSON.
 */
#include "harness/check_run_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/module_cover.h"

#define MAX_TABLES	8

/* Cells of all tables; freed together. */
struct cells {
	char **cell;
	u32 nr;
	u32 room;
	struct report_html_table table[MAX_TABLES];
	u32 first[MAX_TABLES];
	u32 nr_tables;
};

static void begin(struct cells *c, const char *title, const char *note, const char *const *head,
		  u32 columns, u32 numbers)
{
	c->first[c->nr_tables] = c->nr;
	c->table[c->nr_tables++] = (struct report_html_table){
		.title = title, .note = note, .head = head, .columns = columns, .numbers = numbers,
	};
}

static void add(struct cells *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct cells *c, const char *format, ...)
{
	va_list args;

	if (c->nr == c->room) {
		u32 room = c->room ? 2 * c->room : 256;
		char **grown = reallocarray(c->cell, room, sizeof(*grown));

		if (!grown)
			return;
		c->cell = grown;
		c->room = room;
	}
	va_start(args, format);
	if (vasprintf(&c->cell[c->nr], format, args) < 0)
		c->cell[c->nr] = NULL;
	va_end(args);
	c->nr++;
}

static double percent(u64 a, u64 b)
{
	return b ? 100.0 * (double)a / (double)b : 0;
}

static void add_outcomes(struct cells *c, const struct report_trace *f)
{
	static const char *const head[] = { "outcome", "samples", "share" };

	begin(c, "Samples by outcome", NULL, head, 3, 6);
	for (u32 k = 0; k < COMPARE_NR_OUTCOMES; k++) {
		add(c, "%s", compare_outcome_name(k));
		add(c, "%" PRIu64, f->outcome[k]);
		add(c, "%.1f%%", percent(f->outcome[k], f->samples));
	}
	add(c, "of those with another length: unexplained");
	add(c, "%" PRIu64, f->unexplained);
	add(c, "%.1f%%", percent(f->unexplained, f->samples));
}

static void add_stops(struct cells *c, const struct report_trace *f)
{
	static const char *const head[] = { "stop reason", "class", "traces", "share", "meaning" };
	u64 testable = report_trace_testable(f);

	begin(c, "Why traces end", NULL, head, 5, 4 | 8);
	for (u32 k = 1; k < EHF_NR_STOPS; k++) {
		if (!f->stop[k])
			continue;
		add(c, "%s", ehf_stop_name(k));
		add(c, "%s", ehf_class_name(ehf_stop_class(k)));
		add(c, "%" PRIu64, f->stop[k]);
		add(c, "%.1f%%", percent(f->stop[k], testable));
		add(c, "%s", ehf_stop_text(k));
	}
}

/* Names of a module: those of all processes that map it. */
static struct check_run_names_module sum_names(const struct check_run_names_module *names, u32 nr,
					       const struct module *m, char *why, size_t size)
{
	struct check_run_names_module sum = { .module = m };
	const char *state;

	*why = '\0';
	for (u32 i = 0; i < nr; i++) {
		if (names[i].module != m || !names[i].frames)
			continue;
		/* The first one has the most frames. */
		if (!sum.frames)
			check_run_names_why(&names[i], &state, why, size);
		sum.frames += names[i].frames;
		sum.no_function += names[i].no_function;
		sum.no_line += names[i].no_line;
		sum.guesses += names[i].guesses;
	}
	return sum;
}

/* One that nobody has to know of: without frames, and nothing is wrong with it. */
static bool is_quiet(const struct module *m)
{
	return !m->frames && (module_usable(m) || m->status == MODULE_ANON ||
			      m->status == MODULE_SPECIAL || m->status == MODULE_NOT_ELF);
}

static int more_frames(const void *a, const void *b)
{
	const struct module *x = *(struct module *const *)a, *y = *(struct module *const *)b;

	return x->frames < y->frames ? 1 : x->frames > y->frames ? -1 : strcmp(x->path, y->path);
}

static void add_module(struct cells *c, struct module *m, u64 frames,
		       const struct check_run_names_module *names, const char *why)
{
	const struct module_cover *cover = m->frames ? module_cover_read(m) : NULL;
	bool named = names && names->frames;

	add(c, "%s", m->path);
	add(c, "%" PRIu64, m->frames);
	add(c, "%.1f%%", percent(m->frames, frames));
	if (cover && cover->exec) {
		add(c, "%" PRIu64 " of %" PRIu64, cover->supported, cover->exec);
		add(c, "%.1f%%", percent(cover->supported, cover->exec));
	} else {
		add(c, "%s", "");
		add(c, "%s", "");
	}
	if (named) {
		add(c, "%.1f%%", percent(names->no_function, names->frames));
		add(c, "%.1f%%", percent(names->no_line, names->frames));
	} else {
		add(c, "%s", "");
		add(c, "%s", "");
	}
	add(c, "%s", module_status_name(m->status));
	add(c, "%s", module_identity_name(m->identity));
	/* Of a file that cannot be used, the reason is one and the same. */
	add(c, "%s%s%s%s%s%s", m->why, m->has_debug_frame ? " .debug_frame is there and not used" : "",
	    cover && cover->why && cover->exec ? " coverage: " : "",
	    cover && cover->why && cover->exec ? cover->why : "",
	    named && *why && module_usable(m) ? " names: " : "",
	    named && module_usable(m) ? why : "");
}

static void add_modules(struct cells *c, const struct report_trace *f,
			const struct report_trace_context *context,
			const struct check_run_names_module *names, u32 nr_names, bool named)
{
	static const char *const head[] = { "file", "frames", "share", "bytes of code with a supported row",
					    "", "no function", "no line", "state of its CFI",
					    "identity", "remark" };
	struct module **list;
	struct module *m;
	size_t nr = 0;

	begin(c, "Modules", "Frames by the file that their pc is in. Coverage is that of all code of the "
	      "file, PLT and padding included.", head, 10, 2 | 4 | 8 | 16 | 32 | 64);
	for (m = module_first(context->modules); m; m = m->next)
		nr++;
	list = calloc(nr ? nr : 1, sizeof(*list));
	if (!list)
		return;
	nr = 0;
	for (m = module_first(context->modules); m; m = m->next)
		if (!is_quiet(m))
			list[nr++] = m;
	qsort(list, nr, sizeof(*list), more_frames);
	for (size_t i = 0; i < nr; i++) {
		char why[512];
		struct check_run_names_module sum = sum_names(names, named ? nr_names : 0, list[i],
							      why, sizeof(why));

		add_module(c, list[i], f->frames, &sum, why);
	}
	free(list);
}

static void add_names(struct cells *c, const struct check_run_names_module *module, u32 nr)
{
	static const char *const head[] = { "file", "frames", "no function", "", "no line", "",
					    "guesses", "why" };

	begin(c, "Names", "What could not be named, by module.", head, 8, 2 | 4 | 8 | 16 | 32 | 64);
	for (u32 i = 0; i < nr; i++) {
		const struct check_run_names_module *m = &module[i];
		const char *state;
		char why[512];

		if (!m->frames)
			continue;
		check_run_names_why(m, &state, why, sizeof(why));
		add(c, "%s", m->module ? m->module->path : "[unmapped]");
		add(c, "%" PRIu64, m->frames);
		add(c, "%" PRIu64, m->no_function);
		add(c, "%.1f%%", percent(m->no_function, m->frames));
		add(c, "%" PRIu64, m->no_line);
		add(c, "%.1f%%", percent(m->no_line, m->frames));
		add(c, "%" PRIu64, m->guesses);
		add(c, "%s", why);
	}
}

static void add_cost(struct cells *c, const struct report_trace *f)
{
	static const char *const head[] = { "what", "in all", "each" };
	u64 testable = report_trace_testable(f);
	const struct { const char *name; u64 all, per; const char *unit; } rows[] = {
		{ "reads of target memory", f->cost.reads, f->frames, "a frame" },
		{ "bytes read", f->cost.bytes, f->frames, "a frame" },
		{ "CFI instructions", f->cost.insns, f->frames, "a frame" },
		{ "pages touched", f->cost.pages, testable, "a trace" },
		{ "frames of ours", f->frames, testable, "a trace" },
		{ "frames of libdw", f->frames_oracle, testable, "a trace" },
	};

	begin(c, "Cost", "What a kernel would pay for the same walks.", head, 3, 6);
	for (u32 i = 0; i < EHF_ARRAY_SIZE(rows); i++) {
		add(c, "%s", rows[i].name);
		add(c, "%" PRIu64, rows[i].all);
		add(c, "%.2f %s", rows[i].per ? (double)rows[i].all / (double)rows[i].per : 0,
		    rows[i].unit);
	}
}

#define NOT_MEASURED	UINT64_MAX

static void add_side(struct cells *c, u64 n, u64 nr)
{
	if (n == NOT_MEASURED) {
		add(c, "%s", "not measured");
		add(c, "%s", "");
		return;
	}
	add(c, "%" PRIu64, n);
	add(c, "%.1f", nr ? (double)n / (double)nr : 0);
}

static void add_each(struct cells *c, const char *what, u64 copy, u64 defer, u64 nr)
{
	add(c, "%s", what);
	add_side(c, copy, nr);
	add_side(c, defer, nr);
}

/* Both ways to a trace of the same stop. */
static void add_modes(struct cells *c, const struct defer_figures *f)
{
	static const char *const head[] = { "of the same stops", "copy", "each", "defer", "each" };

	begin(c, "Copy against defer", "Each stop was walked both ways: from a copy of the stack, as "
	      "perf takes it today, and from the memory of the stopped task.", head, 5, 2 | 4 | 8 | 16);
	add_each(c, "stops", f->pairs, f->pairs, f->pairs);
	add_each(c, "bytes of stack copied", f->copied_bytes, 0, f->pairs);
	add_each(c, "bytes read in the walk, of stack, data and CFI", NOT_MEASURED,
		 f->read_bytes, f->pairs);
	add_each(c, "of those, stack and data", NOT_MEASURED, f->live_bytes, f->pairs);
	add_each(c, "frames", f->copy.frames, f->defer.frames, f->pairs);
	add_each(c, "complete traces", f->copy.complete, f->defer.complete, f->pairs);
	add_each(c, "traces that end with the window", f->copy.cut, f->defer.cut, f->pairs);
	add_each(c, "traces that fill all entries", f->copy.full, f->defer.full, f->pairs);
}

/* A run of copies: what was copied, against what the walks of the same samples read. */
static void add_copies(struct cells *c, const struct report_trace *f)
{
	static const char *const head[] = { "of the same samples", "copy", "each", "defer", "each" };
	u64 nr = report_trace_testable(f);

	begin(c, "Copy against defer", "This run was one of copies. A deferred walk copies nothing: it "
	      "reads what these walks read, and more where a copy ends too early (--mode=defer walks "
	      "each stop both ways).", head, 5, 2 | 4 | 8 | 16);
	add_each(c, "bytes of stack copied", f->copied_bytes, 0, nr);
	add_each(c, "bytes read in the walk, of stack, data and CFI", f->cost.bytes, f->cost.bytes, nr);
	add_each(c, "traces that end with the window", f->window_cut, 0, nr);
}

/**
 * check_run_html() - write the page of a run
 * @f: figures
 * @c: what else is known of the run
 * @module: how well names were found, @nr_modules of them
 * @nr_modules: of them
 * @named: names were looked for at all
 * @page: title, diffs and stacks are set; verdict and tables are filled in
 * @out: where to
 *
 * Return: false where it could not be written.
 */
bool check_run_html(const struct report_trace *f, const struct report_trace_context *c,
		    const struct check_run_names_module *module, u32 nr_modules, bool named,
		    struct report_html *page, FILE *out)
{
	struct cells cells = { 0 };
	char verdict[256];
	bool ok;

	report_trace_verdict(f, verdict, sizeof(verdict));
	add_outcomes(&cells, f);
	add_stops(&cells, f);
	add_modules(&cells, f, c, module, nr_modules, named);
	if (named)
		add_names(&cells, module, nr_modules);
	add_cost(&cells, f);
	if (c->defer)
		add_modes(&cells, c->defer);
	else if (!c->core)
		add_copies(&cells, f);
	for (u32 t = 0; t < cells.nr_tables; t++) {
		struct report_html_table *table = &cells.table[t];
		u32 end = t + 1 < cells.nr_tables ? cells.first[t + 1] : cells.nr;

		table->cell = (const char *const *)cells.cell + cells.first[t];
		table->rows = (end - cells.first[t]) / table->columns;
	}
	page->verdict = verdict;
	page->failed = report_trace_failed(f);
	page->table = cells.table;
	page->nr_tables = cells.nr_tables;
	ok = report_html_write(page, out);
	for (u32 i = 0; i < cells.nr; i++)
		free(cells.cell[i]);
	free(cells.cell);
	return ok;
}
