/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Names for the frames of a run: which are looked up, where they are shown, and what could not
 * be named.
 */
#ifndef HARNESS_CHECK_RUN_NAMES_H
#define HARNESS_CHECK_RUN_NAMES_H

#include "harness/json.h"
#include "harness/report_html.h"
#include "harness/report_trace.h"
#include "harness/symbols.h"

/* Whose frames are named. Where nothing of a run shows names, nothing is opened. */
enum check_run_names_mode {
	CHECK_RUN_NAMES_DIFFS,		/* those of traces that are not equal */
	CHECK_RUN_NAMES_NONE,
	CHECK_RUN_NAMES_ALL,
};

/* Traces that the HTML page has side by side; the others are counted there. */
#define CHECK_RUN_NAMES_DIFFS_SHOWN	20

/**
 * struct check_run_names_options - what a run is to name; zeros are the defaults
 * @mode: whose frames
 * @raw: leave mangled names as they are
 * @symfs: root of files and debug files, or NULL
 * @buildid_dir: perf's build-id cache, or NULL for ~/.debug
 * @html: page to write, or NULL
 * @folded: stacks to write, or NULL
 * @print: write each stack to the report
 * @verify: so many frames are also asked of addr2line
 * @verbose: tell of every candidate for a debug file, on standard error
 * @live: pids are of processes that run now, on this machine
 */
struct check_run_names_options {
	enum check_run_names_mode mode;
	bool raw;
	const char *symfs;
	const char *buildid_dir;
	const char *html;
	const char *folded;
	bool print;
	u32 verify;
	bool verbose;
	bool live;
};

/**
 * struct check_run_names_frame - one frame with what is known of its address
 * @module: what is mapped there, NULL for nothing
 * @symbols: the same for symbols, NULL where it has no file that can be used
 * @addr: in the file's address space, or the process's own where there is none
 * @no_place: the file can be used, but no segment of it belongs at the address
 * @answer: names; never NULL
 */
struct check_run_names_frame {
	const struct module *module;
	struct symbols_module *symbols;
	u64 addr;
	bool no_place;
	const struct symbols_answer *answer;
};

struct check_run_names;

struct check_run_names *check_run_names_new(const struct check_run_names_options *opts, FILE *out);
void check_run_names_free(struct check_run_names *n);
bool check_run_names_wanted(const struct check_run_names *n, const struct report_trace_sample *s);
void check_run_names_frame(struct check_run_names *n, const struct task_maps *maps, u32 pid, u64 ip,
			   bool exact, struct check_run_names_frame *frame);
void check_run_names_sample(struct check_run_names *n, const struct report_trace_sample *s,
			    const struct task_maps *maps, u64 number);
void check_run_names_json(void *arg, struct json *j, const struct ehu_entry *e);
const char *check_run_names_at(void *arg, u64 lookup, u64 *off);
struct debuginfo *check_run_names_debuginfo(struct check_run_names *n);
void check_run_names_json_end(struct check_run_names *n, FILE *out);
void check_run_names_text(struct check_run_names *n, FILE *out);
void check_run_names_flush(struct check_run_names *n);
bool check_run_names_end(struct check_run_names *n, const struct report_trace *figures,
			 const struct report_trace_context *context, const char *const *about,
			 u32 nr_about, const char **failed);

/* For check_run_names.c and check_run_html.c only. */

/**
 * struct check_run_names_module - how well a module's frames were named
 * @module: the module; NULL for addresses that nothing maps
 * @symbols: the same for symbols
 * @frames: frames asked about
 * @no_function: of them, without a name
 * @no_line: of them, without a file and line
 * @guesses: of them, named by a symbol without a size
 * @no_place: of them, those where no segment of the file belongs
 */
struct check_run_names_module {
	const struct module *module;
	struct symbols_module *symbols;
	u64 frames;
	u64 no_function;
	u64 no_line;
	u64 guesses;
	u64 no_place;
};

void check_run_names_why(const struct check_run_names_module *m, const char **state, char *text,
			 size_t size);

bool check_run_html(const struct report_trace *f, const struct report_trace_context *c,
		    const struct check_run_names_module *module, u32 nr_modules, bool named,
		    struct report_html *page, FILE *out);

#endif /* HARNESS_CHECK_RUN_NAMES_H */
