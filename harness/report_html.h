/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A report as one HTML page: nothing is fetched, no script is needed. It shows what it is given;
 * which figures those are is the business of who runs the check.
 */
#ifndef HARNESS_REPORT_HTML_H
#define HARNESS_REPORT_HTML_H

#include "harness/report_folded.h"

/**
 * struct report_html_table - a table
 * @title: above it
 * @note: a sentence below the title, or NULL
 * @head: column names, @columns of them, at most 32
 * @cell: by row, @rows * @columns of them; NULL is an empty cell
 * @numbers: bit n is set where column n holds numbers
 * @bad: bit n is set where a cell of column n other than "0" is a failure
 */
struct report_html_table {
	const char *title;
	const char *note;
	const char *const *head;
	u32 columns;
	const char *const *cell;
	u32 rows;
	u32 numbers;
	u32 bad;
};

/**
 * struct report_html_diff - two traces that differ
 * @title: which sample, and how they differ
 * @ours: a line for each frame, innermost first, @nr_ours of them
 * @theirs: the same of the oracle, @nr_theirs of them
 * @parted: first frame that differs
 * @ours_end: how ours ended
 * @theirs_end: how the oracle's did
 */
struct report_html_diff {
	const char *title;
	const char *const *ours;
	u32 nr_ours;
	const char *const *theirs;
	u32 nr_theirs;
	u32 parted;
	const char *ours_end;
	const char *theirs_end;
};

/**
 * struct report_html - a page
 * @title: of the page
 * @verdict: one line
 * @failed: the verdict is a bad one
 * @about: lines about the run: the command, the machine; @nr_about of them
 * @table: @nr_tables of them
 * @diff: @nr_diffs of them
 * @diffs_left_out: traces that differ, but are not in @diff
 * @stacks: for the flame graph, or NULL
 */
struct report_html {
	const char *title;
	const char *verdict;
	bool failed;
	const char *const *about;
	u32 nr_about;
	const struct report_html_table *table;
	u32 nr_tables;
	const struct report_html_diff *diff;
	u32 nr_diffs;
	u64 diffs_left_out;
	struct report_folded *stacks;
};

bool report_html_write(const struct report_html *r, FILE *out);

/* For report_html*.c: text with <, >, &, quotes and controls escaped. */
void report_html_text(const char *text, FILE *out);
void report_html_flame(struct report_folded *stacks, FILE *out);

#endif /* HARNESS_REPORT_HTML_H */
