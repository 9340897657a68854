// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Names the frames of samples, keeps them for the page and the folded stacks, and counts what
 * had no name, module by module.
 */
#include "harness/check_run_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/paint.h"
#include "harness/report_stack.h"
#include "harness/symbols_verify.h"

/* Inlined levels of one trace that are kept apart; the rest is left to the outermost. */
#define MAX_LEVELS	(4 * REPLAY_ENTRIES)

struct diff {
	char *title;
	char **ours;
	char **theirs;
	struct report_html_diff page;
};

/* What was printed for an address, so that a run of like stacks asks for each name once. */
#define PRINTED		4096		/* a power of two */

struct printed {
	u64 ip;
	u64 epoch;		/* of the mappings; 0 for nothing */
	u32 pid;
	bool exact;
	const char *name;
};

struct check_run_names {
	struct check_run_names_options opts;
	FILE *out;
	struct symbols *symbols;
	struct report_folded *stacks;
	struct symbols_verify *verify;
	struct check_run_names_module *module;
	u32 nr_modules;
	u32 room;
	u32 last;
	struct diff diff[CHECK_RUN_NAMES_DIFFS_SHOWN];
	u32 nr_diffs;
	u64 diffs_left_out;
	u64 levels_cut;
	/* the sample that is being written as JSON */
	const struct task_maps *maps;
	u32 pid;
	struct report_stack text;	/* of @opts.print */
	struct printed printed[PRINTED];
};

static void tell(void *arg, const char *path, enum debuginfo_verdict verdict, const char *text)
{
	(void)arg;
	fprintf(stderr, "debuginfo: %s: %s: %s\n", path, debuginfo_verdict_name(verdict), text);
}

/**
 * check_run_names_new() - begin; nothing is opened yet
 * @opts: copied; the strings are not
 * @out: where the stacks of @opts->print go
 *
 * Return: the names, NULL where there is no memory; check_run_names_free() gives them back.
 */
struct check_run_names *check_run_names_new(const struct check_run_names_options *opts, FILE *out)
{
	const char *const caches[] = { opts->buildid_dir, NULL };
	const struct symbols_options how = {
		.debuginfo = {
			.symfs = opts->symfs, .buildid_dirs = opts->buildid_dir ? caches : NULL,
			.log = opts->verbose ? tell : NULL,
		},
		.raw = opts->raw,
		/* perf script's layout has no lines: their tables stay shut. */
		.no_lines = opts->print && !opts->html && !opts->verify &&
			    opts->mode != CHECK_RUN_NAMES_ALL,
	};
	struct check_run_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->opts = *opts;
	n->out = out;
	n->text.out = out;
	n->symbols = symbols_new(&how);
	if (opts->html || opts->folded)
		n->stacks = report_folded_new();
	if (opts->verify)
		n->verify = symbols_verify_new(opts->verify);
	if (n->symbols && (n->stacks || !(opts->html || opts->folded)) &&
	    (n->verify || !opts->verify))
		return n;
	check_run_names_free(n);
	return NULL;
}

static void free_lines(char **line, u32 nr)
{
	for (u32 i = 0; line && i < nr; i++)
		free(line[i]);
	free(line);
}

/**
 * check_run_names_free() - give names back
 * @n: the names, or NULL
 */
void check_run_names_free(struct check_run_names *n)
{
	if (!n)
		return;
	for (u32 i = 0; i < n->nr_diffs; i++) {
		free(n->diff[i].title);
		free_lines(n->diff[i].ours, n->diff[i].page.nr_ours);
		free_lines(n->diff[i].theirs, n->diff[i].page.nr_theirs);
	}
	symbols_verify_free(n->verify);
	report_folded_free(n->stacks);
	symbols_free(n->symbols);
	free(n->module);
	free(n);
}

/**
 * check_run_names_wanted() - are a sample's frames to be named
 * @n: the names
 * @s: the sample
 *
 * Return: true by --symbols=all, or =diffs where the traces are not equal.
 */
bool check_run_names_wanted(const struct check_run_names *n, const struct report_trace_sample *s)
{
	if (n->opts.mode == CHECK_RUN_NAMES_NONE)
		return false;
	return n->opts.mode == CHECK_RUN_NAMES_ALL || n->stacks || n->opts.print || n->verify ||
	       (s->result && s->result->outcome > COMPARE_NEITHER);
}

static struct symbols_module *open_module(struct check_run_names *n, const struct module *m,
					  u32 pid)
{
	struct symbols_key key = {
		.path = m->path, .pid = n->opts.live ? (pid_t)pid : 0,
		.host_path = m->by_exe ? m->file_path : NULL,
		.build_id = m->build_id, .build_id_len = m->build_id_len,
		.bytes = m->memory, .size = m->memory_size,
	};

	if (m->status == MODULE_ANON)
		key = (struct symbols_key){ .jit = true, .pid = (pid_t)pid };
	else if (!module_usable(m))
		return NULL;
	return symbols_module(n->symbols, &key);
}

/* Modules are few and frames come in runs of one: the last one is tried first. */
static struct check_run_names_module *module_of(struct check_run_names *n, const struct module *m,
						u32 pid)
{
	struct check_run_names_module *slot;
	struct symbols_module *symbols = NULL;

	if (n->last < n->nr_modules && n->module[n->last].module == m &&
	    !(m && m->status == MODULE_ANON))
		return &n->module[n->last];
	if (m && m->status == MODULE_ANON)
		symbols = open_module(n, m, pid);
	for (u32 i = 0; i < n->nr_modules; i++) {
		if (n->module[i].module != m || (symbols && n->module[i].symbols != symbols))
			continue;
		n->last = i;
		return &n->module[i];
	}
	if (n->nr_modules == n->room) {
		u32 room = n->room ? 2 * n->room : 64;

		slot = reallocarray(n->module, room, sizeof(*slot));
		if (!slot)
			return NULL;
		n->module = slot;
		n->room = room;
	}
	n->last = n->nr_modules++;
	slot = &n->module[n->last];
	*slot = (struct check_run_names_module){
		.module = m, .symbols = symbols || !m ? symbols : open_module(n, m, pid),
	};
	return slot;
}

static struct check_run_names_module *look_up(struct check_run_names *n,
					      const struct task_maps *maps, u32 pid, u64 ip, bool exact,
					      struct check_run_names_frame *frame)
{
	const struct task_range *range = task_range_at(maps, exact || !ip ? ip : ip - 1);
	struct check_run_names_module *m = module_of(n, range ? range->module : NULL, pid);

	frame->module = range ? range->module : NULL;
	frame->symbols = m ? m->symbols : NULL;
	frame->addr = range && range->place ? ip - range->place->bias : ip;
	if (range && !range->place && range->module->status != MODULE_ANON)
		frame->symbols = NULL;
	if (n->opts.mode == CHECK_RUN_NAMES_NONE)
		frame->symbols = NULL;
	frame->answer = symbols_lookup(frame->symbols, frame->addr, exact);
	frame->no_place = range && !range->place && module_usable(range->module);
	return m;
}

/**
 * check_run_names_frame() - name one frame
 * @n: the names
 * @maps: of the process, as they were at the sample
 * @pid: the process
 * @ip: its pc
 * @exact: @ip is no return address
 * @frame: filled in
 */
void check_run_names_frame(struct check_run_names *n, const struct task_maps *maps, u32 pid, u64 ip,
			   bool exact, struct check_run_names_frame *frame)
{
	look_up(n, maps, pid, ip, exact, frame);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What to call a frame: its function, or where it is. */
static const char *frame_name(const struct check_run_names_frame *f, char *text, size_t size)
{
	const char *name = symbols_function(f->answer);

	if (name)
		return name;
	if (!f->module)
		snprintf(text, size, "[unmapped]");
	else if (f->module->status == MODULE_ANON)
		snprintf(text, size, "[jit]");
	else
		snprintf(text, size, "[%s+%#" PRIx64 "]", base_name(f->module->path), f->addr);
	return text;
}

static void count(struct check_run_names_module *m, const struct check_run_names_frame *f)
{
	const struct symbols_answer *a = f->answer;

	if (!m)
		return;
	m->frames++;
	m->no_function += !symbols_function(a);
	m->no_line += !a->nr_places || !a->place[0].file || !a->place[0].line;
	m->guesses += a->guess;
	m->no_place += f->no_place;
}

static void add_stack(struct check_run_names *n, const struct report_trace_sample *s,
		      const struct task_maps *maps)
{
	static struct report_folded_frame level[MAX_LEVELS];
	static char text[REPLAY_ENTRIES][64];
	const char *stop = NULL;
	u32 nr = 0;

	for (u32 i = 0; i < s->ours->nr && i < REPLAY_ENTRIES; i++) {
		const struct ehu_entry *e = &s->ours->entry[i];
		struct check_run_names_frame f;
		unsigned int flags = e->via == EHU_VIA_FP ? REPORT_FOLDED_FALLBACK : 0;
		const char *module;

		check_run_names_frame(n, maps, s->rec->pid, e->ip, e->flags & EHU_ENTRY_EXACT, &f);
		module = f.module ? f.module->path : "";
		for (u32 k = 0; k + 1 < f.answer->nr_places; k++) {
			if (nr >= MAX_LEVELS - s->ours->nr) {
				n->levels_cut++;
				continue;
			}
			level[nr++] = (struct report_folded_frame){
				f.answer->place[k].name ? f.answer->place[k].name : "??", module,
				flags | REPORT_FOLDED_INLINED,
			};
		}
		if (!symbols_function(f.answer))
			flags |= REPORT_FOLDED_UNKNOWN;
		else if (f.answer->guess && !f.answer->nr_places)
			flags |= REPORT_FOLDED_GUESSED;
		level[nr++] = (struct report_folded_frame){
			frame_name(&f, text[i], sizeof(text[i])), module, flags,
		};
	}
	if (ehf_stop_class(s->ours->stop) != EHF_CLASS_COMPLETE)
		stop = ehf_stop_name(s->ours->stop);
	report_folded_add(n->stacks, s->task->comm, level, nr, stop, 1);
}

static char *describe(struct check_run_names *n, const struct report_trace_sample *s,
		      const struct task_maps *maps, u64 ip, u64 sp, bool exact)
{
	struct check_run_names_frame f;
	char text[64], *line;

	check_run_names_frame(n, maps, s->rec->pid, ip, exact, &f);
	if (asprintf(&line, "%#" PRIx64 " %s%s sp %#" PRIx64, ip, frame_name(&f, text, sizeof(text)),
		     f.answer->guess ? " (guess)" : "", sp) < 0)
		return NULL;
	return line;
}

static void keep_diff(struct check_run_names *n, const struct report_trace_sample *s,
		      const struct task_maps *maps, u64 number)
{
	struct diff *d = &n->diff[n->nr_diffs];

	if (n->nr_diffs == CHECK_RUN_NAMES_DIFFS_SHOWN) {
		n->diffs_left_out++;
		return;
	}
	d->page.nr_ours = s->ours->nr;
	d->page.nr_theirs = s->oracle->nr;
	d->ours = calloc(s->ours->nr + 1, sizeof(*d->ours));
	d->theirs = calloc(s->oracle->nr + 1, sizeof(*d->theirs));
	if (asprintf(&d->title, "Sample %" PRIu64 ", pid %u, %s: %s", number, s->rec->pid, s->task->comm,
		     compare_outcome_name(s->result->outcome)) < 0)
		d->title = NULL;
	n->nr_diffs++;
	for (u32 i = 0; d->ours && i < s->ours->nr; i++) {
		const struct ehu_entry *e = &s->ours->entry[i];

		d->ours[i] = describe(n, s, maps, e->ip, e->sp, e->flags & EHU_ENTRY_EXACT);
	}
	for (u32 i = 0; d->theirs && i < s->oracle->nr; i++) {
		const struct compare_frame *e = &s->oracle->frame[i];

		d->theirs[i] = describe(n, s, maps, e->pc, e->sp, e->exact);
	}
	d->page.title = d->title ? d->title : "";
	d->page.ours = (const char *const *)d->ours;
	d->page.theirs = (const char *const *)d->theirs;
	d->page.parted = s->result->at;
	d->page.ours_end = ehf_stop_text(s->ours->stop);
	d->page.theirs_end = s->oracle->full ? "not yet at its end" : "";
	if (!d->ours)
		d->page.nr_ours = 0;
	if (!d->theirs)
		d->page.nr_theirs = 0;
}

/* The place for a frame's name; without one where it is not known yet. */
static struct printed *was_printed(struct check_run_names *n, const struct task_maps *maps, u32 pid,
				   const struct ehu_entry *e)
{
	struct printed *p = &n->printed[(e->ip ^ e->ip >> 12) & (PRINTED - 1)];
	bool exact = e->flags & EHU_ENTRY_EXACT;

	if (p->ip != e->ip || p->epoch != maps->epoch || p->pid != pid || p->exact != exact)
		*p = (struct printed){ e->ip, maps->epoch, pid, exact, NULL };
	return p;
}

/*
 * As perf script -F comm,pid,time,ip,sym has it, but for the addresses: those of the process, and
 * return addresses as they are. Inlined functions are shown with --symbols=all only.
 */
static void print_stack(struct check_run_names *n, const struct report_trace_sample *s,
			const struct task_maps *maps)
{
	report_stack_begin(&n->text, s->task->comm, s->rec->pid, s->rec->time);
	for (u32 i = 0; i < s->ours->nr; i++) {
		const struct ehu_entry *e = &s->ours->entry[i];
		struct check_run_names_frame f;
		struct printed *known;

		if (n->opts.mode == CHECK_RUN_NAMES_NONE) {
			report_stack_frame(&n->text, e->ip);
			continue;
		}
		known = was_printed(n, maps, s->rec->pid, e);
		if (known->name) {
			report_stack_named(&n->text, e->ip, known->name, false);
			continue;
		}
		check_run_names_frame(n, maps, s->rec->pid, e->ip, e->flags & EHU_ENTRY_EXACT, &f);
		if (f.symbols && module_usable(f.module) && f.answer->nr_places < 2)
			known->name = symbols_function(f.answer);
		for (u32 k = 0; k + 1 < f.answer->nr_places; k++)
			report_stack_named(&n->text, e->ip, f.answer->place[k].name, true);
		report_stack_named(&n->text, e->ip, symbols_function(f.answer), false);
	}
	report_stack_end(&n->text);
	/* A live run is read while it goes on. */
	if (n->opts.live)
		report_stack_flush(&n->text);
}

static void add_verify(struct check_run_names *n, const struct check_run_names_frame *f, bool exact)
{
	const struct debuginfo_file *file = f->symbols ? symbols_module_file(f->symbols) : NULL;

	if (file && file->fd >= 0)
		symbols_verify_add(n->verify, file->host_path, f->addr - (exact ? 0 : 1), f->answer);
}

/**
 * check_run_names_sample() - take a sample
 * @n: the names
 * @s: the sample with its trace; its result is NULL where it was not compared
 * @maps: of its process, as they are now
 * @number: of the sample, counted from 1
 */
void check_run_names_sample(struct check_run_names *n, const struct report_trace_sample *s,
			    const struct task_maps *maps, u64 number)
{
	n->maps = maps;
	n->pid = s->rec->pid;
	if (n->stacks)
		add_stack(n, s, maps);
	if (n->opts.html && s->result && s->result->outcome > COMPARE_NEITHER)
		keep_diff(n, s, maps, number);
	if (n->opts.print)
		print_stack(n, s, maps);
	/* Whose names were printed, the report does not tell: it is the stacks. */
	if (!check_run_names_wanted(n, s) || (n->opts.print && !n->verify))
		return;
	for (u32 i = 0; i < s->ours->nr; i++) {
		const struct ehu_entry *e = &s->ours->entry[i];
		bool exact = e->flags & EHU_ENTRY_EXACT;
		struct check_run_names_frame f;
		struct check_run_names_module *m = look_up(n, maps, n->pid, e->ip, exact, &f);

		count(m, &f);
		if (n->verify)
			add_verify(n, &f, exact);
	}
}

/**
 * check_run_names_json() - add the names of a frame to its object
 * @arg: the names; the sample is the one last given to check_run_names_sample()
 * @j: inside of the object
 * @e: the frame
 */
void check_run_names_json(void *arg, struct json *j, const struct ehu_entry *e)
{
	struct check_run_names *n = arg;
	struct check_run_names_frame f;
	const struct symbols_answer *a;

	check_run_names_frame(n, n->maps, n->pid, e->ip, e->flags & EHU_ENTRY_EXACT, &f);
	a = f.answer;
	if (f.module) {
		json_text(j, "module", f.module->path);
		json_addr(j, "addr", f.addr);
	}
	if (symbols_function(a))
		json_text(j, "function", symbols_function(a));
	if (a->name) {
		json_text(j, "symbol", a->name);
		json_number(j, "offset", a->offset);
		json_text(j, "table", symbols_table_name(a->table));
		if (a->guess)
			json_bool(j, "guess", true);
		if (a->disagrees)
			json_bool(j, "disagrees", true);
	}
	if (!a->nr_places)
		return;
	json_open_list(j, "places");
	for (u32 i = 0; i < a->nr_places; i++) {
		json_open(j, NULL);
		if (a->place[i].name)
			json_text(j, "function", a->place[i].name);
		if (a->place[i].file)
			json_text(j, "file", a->place[i].file);
		json_number(j, "line", a->place[i].line);
		json_number(j, "column", a->place[i].column);
		json_close(j);
	}
	json_close_list(j);
}

/**
 * check_run_names_at() - say what symbol an address is in
 * @arg: the names; the sample is the one last given to check_run_names_sample()
 * @lookup: the address that is looked up, not a return address
 * @off: filled in with its distance from the symbol's start
 *
 * Return: the symbol, NULL where there is none.
 */
const char *check_run_names_at(void *arg, u64 lookup, u64 *off)
{
	struct check_run_names *n = arg;
	struct check_run_names_frame f;

	check_run_names_frame(n, n->maps, n->pid, lookup, true, &f);
	*off = f.answer->offset;
	return f.answer->name;
}

/**
 * check_run_names_debuginfo() - the search for debug files, for others who need one
 * @n: the names
 *
 * Return: the search; valid as long as the names.
 */
struct debuginfo *check_run_names_debuginfo(struct check_run_names *n)
{
	return symbols_debuginfo(n->symbols);
}

static const char *module_path(const struct check_run_names_module *m)
{
	return m->module ? m->module->path : "[unmapped]";
}

/**
 * check_run_names_why() - why frames of a module have no name
 * @m: the module
 * @state: filled in with how its file was reached; a constant string
 * @text: filled in with the reason, "" where nothing is missing
 * @size: room there
 */
void check_run_names_why(const struct check_run_names_module *m, const char **state, char *text,
			 size_t size)
{
	const char *why = "", *gap = "";

	*state = "none";
	if (m->symbols)
		*state = symbols_state_name(symbols_module_state(m->symbols, &why));
	if (!m->module) {
		why = "nothing is mapped there";
	} else if (!m->symbols && !module_usable(m->module)) {
		*state = module_status_name(m->module->status);
		snprintf(text, size, "%s%s%s", module_status_text(m->module->status),
			 m->module->why[0] ? ": " : "", m->module->why);
		return;
	} else if (m->no_place && m->no_place == m->no_function) {
		gap = "no segment of it belongs there";
	} else if (m->no_function && m->symbols && symbols_module_file(m->symbols)) {
		gap = "no symbol covers them";
	}
	if (!*why && m->no_line && m->symbols && symbols_module_file(m->symbols))
		why = "no unit of .debug_info has a line for them";
	snprintf(text, size, "%s%s%s", gap, *gap && *why ? "; " : "", why);
}

/* Most frames first; what was met first where they are as many. */
static int more_frames(const void *a, const void *b)
{
	const struct check_run_names_module *x = a, *y = b;

	if (x->frames != y->frames)
		return x->frames < y->frames ? 1 : -1;
	return strcmp(module_path(x), module_path(y));
}

/* Nothing is looked up after this. */
static void sort_modules(struct check_run_names *n)
{
	if (n->nr_modules)
		qsort(n->module, n->nr_modules, sizeof(*n->module), more_frames);
	n->last = n->nr_modules;
}

/**
 * check_run_names_json_end() - the lines about names at the end of a run
 * @n: the names
 * @out: where to
 */
void check_run_names_json_end(struct check_run_names *n, FILE *out)
{
	const struct symbols_stats *st = symbols_stats(n->symbols);
	const struct debuginfo *di = symbols_debuginfo(n->symbols);
	struct json j;

	sort_modules(n);
	for (u32 i = 0; i < n->nr_modules; i++) {
		const struct check_run_names_module *m = &n->module[i];
		const char *state;
		char why[512];

		if (!m->frames)
			continue;
		check_run_names_why(m, &state, why, sizeof(why));
		json_begin(&j, out, "symbols-module");
		json_text(&j, "path", module_path(m));
		json_text(&j, "state", state);
		if (*why)
			json_text(&j, "why", why);
		json_number(&j, "frames", m->frames);
		json_number(&j, "no_function", m->no_function);
		json_number(&j, "no_line", m->no_line);
		json_number(&j, "guesses", m->guesses);
		json_end(&j);
	}
	json_begin(&j, out, "symbols");
	json_number(&j, "tables_opened", st->tables);
	json_number(&j, "debug_files", st->debug_files);
	json_number(&j, "dwarfs_opened", st->dwarfs);
	json_number(&j, "lookups", st->lookups);
	json_open(&j, "by_table");
	for (u32 k = 0; k < SYMBOLS_NR_TABLES; k++)
		json_number(&j, symbols_table_name(k), st->by_table[k]);
	json_close(&j);
	json_number(&j, "guesses", st->guesses);
	json_number(&j, "disagreements", st->disagreements);
	json_number(&j, "names_cut", st->names_cut);
	json_number(&j, "not_demangled", st->not_demangled);
	json_number(&j, "units_damaged", st->units_damaged);
	json_number(&j, "dwarfs_faulted", st->dwarfs_faulted);
	json_number(&j, "perf_map_lines_bad", st->map_lines_bad);
	json_number(&j, "levels_left_out", n->levels_cut);
	json_open(&j, "candidates");
	for (u32 k = 0; k < DEBUGINFO_NR_VERDICTS; k++)
		json_number(&j, debuginfo_verdict_name(k), di->nr[k]);
	json_close(&j);
	json_end(&j);
	if (n->verify)
		symbols_verify_json(n->verify, out);
}

static double percent(u64 a, u64 b)
{
	return b ? 100.0 * (double)a / (double)b : 0;
}

/**
 * check_run_names_text() - what a person is told about names at the end of a run
 * @n: the names
 * @out: where to
 */
void check_run_names_text(struct check_run_names *n, FILE *out)
{
	const struct symbols_stats *st = symbols_stats(n->symbols);

	sort_modules(n);
	if (n->nr_modules) {
		paint_head(out, "Names: %" PRIu64 " symbol tables, %" PRIu64 " separate debug files; %"
			   PRIu64 " guesses, %" PRIu64 " where .debug_info says otherwise", st->tables,
			   st->debug_files, st->guesses, st->disagreements);
		for (u32 i = 0; i < n->nr_modules; i++) {
			const struct check_run_names_module *m = &n->module[i];
			const char *state;
			char why[512];

			if (!m->frames || !(m->no_function || m->no_line))
				continue;
			check_run_names_why(m, &state, why, sizeof(why));
			fprintf(out, "  %10" PRIu64 " frames  %5.1f%% without a function  %5.1f%% without a "
				"line  %s%s%s%s\n", m->frames, percent(m->no_function, m->frames),
				percent(m->no_line, m->frames), module_path(m), *why ? " (" : "", why,
				*why ? ")" : "");
		}
	}
	if (n->verify)
		symbols_verify_text(n->verify, out);
}

static bool write_to(const char *path, const char **failed, bool (*write)(void *arg, FILE *out),
		     void *arg)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "we") : stdout;
	bool ok;

	*failed = path;
	if (!f)
		return false;
	ok = write(arg, f);
	return (f == stdout || !fclose(f)) && ok;
}

struct page {
	struct check_run_names *n;
	const struct report_trace *figures;
	const struct report_trace_context *context;
	struct report_html html;
};

static bool write_page(void *arg, FILE *out)
{
	struct page *p = arg;

	return check_run_html(p->figures, p->context, p->n->module, p->n->nr_modules,
			      p->n->opts.mode != CHECK_RUN_NAMES_NONE, &p->html, out);
}

static bool write_folded(void *arg, FILE *out)
{
	return report_folded_write(arg, out);
}

/**
 * check_run_names_flush() - write out what is printed so far
 * @n: the names
 */
void check_run_names_flush(struct check_run_names *n)
{
	report_stack_flush(&n->text);
}

/**
 * check_run_names_end() - write the page, the folded stacks, and what is left to print
 * @n: the names
 * @figures: of the run
 * @context: of the run
 * @about: lines for the page
 * @nr_about: of them
 * @failed: filled in with the file that could not be written
 *
 * Return: false where one could not be written, with errno set.
 */
bool check_run_names_end(struct check_run_names *n, const struct report_trace *figures,
			 const struct report_trace_context *context, const char *const *about,
			 u32 nr_about, const char **failed)
{
	struct report_html_diff diff[CHECK_RUN_NAMES_DIFFS_SHOWN];
	struct page page = {
		.n = n, .figures = figures, .context = context,
		.html = {
			.title = "ehunwind-check", .about = about, .nr_about = nr_about, .diff = diff,
			.nr_diffs = n->nr_diffs, .diffs_left_out = n->diffs_left_out,
			.stacks = n->stacks,
		},
	};

	for (u32 i = 0; i < n->nr_diffs; i++)
		diff[i] = n->diff[i].page;
	report_stack_flush(&n->text);
	if (n->opts.html && !write_to(n->opts.html, failed, write_page, &page))
		return false;
	return !n->opts.folded || write_to(n->opts.folded, failed, write_folded, n->stacks);
}
