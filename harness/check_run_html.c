// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The figures of a run as the tables of its page; the same numbers as in the JSON.
 */
#include "harness/check_run_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

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

static void add_modules(struct cells *c, const struct report_trace_context *context)
{
	static const char *const head[] = { "file", "frames", "state of its CFI", "identity", "remark" };
	struct module *m;

	begin(c, "Modules", "Frames by the file that their pc is in.", head, 5, 2);
	for (m = module_first(context->modules); m; m = m->next) {
		if (!m->frames && module_usable(m))
			continue;
		if (!m->frames && (m->status == MODULE_ANON || m->status == MODULE_SPECIAL ||
				   m->status == MODULE_NOT_ELF))
			continue;
		add(c, "%s", m->path);
		add(c, "%" PRIu64, m->frames);
		add(c, "%s", module_status_name(m->status));
		add(c, "%s", module_identity_name(m->identity));
		add(c, "%s%s", m->why, m->has_debug_frame ? " .debug_frame is there and not used" : "");
	}
}

static void add_names(struct cells *c, const struct check_run_names_module *module, u32 nr)
{
	static const char *const head[] = { "file", "frames", "no function", "", "no line", "",
					    "guesses", "why" };

	begin(c, "Names", "What could not be named, by module.", head, 8, 2 | 4 | 8 | 16 | 32 | 64);
	for (u32 i = 0; i < nr; i++) {
		const struct check_run_names_module *m = &module[i];
		const char *why = m->module ? m->module->why : "nothing is mapped there";

		if (!m->frames)
			continue;
		if (m->symbols)
			symbols_module_state(m->symbols, &why);
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
	add_modules(&cells, c);
	if (named)
		add_names(&cells, module, nr_modules);
	add_cost(&cells, f);
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
