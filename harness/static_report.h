/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the static check says of a file and of all of them, for people and as JSON.
 */
#ifndef HARNESS_STATIC_REPORT_H
#define HARNESS_STATIC_REPORT_H

#include "harness/check_static.h"

#include <stdio.h>

/**
 * struct static_report - the report of one file under construction
 * @out: where to
 * @path: the file
 * @json: JSON lines in place of text
 * @verbose: everything one by one; text is else cut after a few of a kind, saying how many more
 * @shown_findings: by outcome, how many were met
 * @shown_plain: FDEs for which the short way differs, how many were met
 * @shown_ranges: by oddity, how many were met
 * @detail: what stands below the file's line: findings, then @ranges
 * @ranges: by oddity
 */
struct static_report {
	FILE *out;
	const char *path;
	bool json;
	bool verbose;
	u64 shown_findings[STATIC_NR_OUTCOMES];
	u64 shown_plain;
	u64 shown_ranges[STATIC_NR_ODDITIES];
	FILE *detail;
	char *detail_text;
	size_t detail_len;
	FILE *ranges[STATIC_NR_ODDITIES];
	char *range_text[STATIC_NR_ODDITIES];
	size_t range_len[STATIC_NR_ODDITIES];
};

/**
 * struct static_sum - all files of a run
 * @files: files whose rows were checked
 * @files_failed: unreadable, damaged or crashed on
 * @skipped: by status
 * @total: their counts
 * @odd_files: by oddity, in how many files
 */
struct static_sum {
	u64 files;
	u64 files_failed;
	u64 skipped[IMAGE_NR_STATUSES];
	struct static_result total;
	u64 odd_files[STATIC_NR_ODDITIES];
};

void static_report_begin(struct static_report *rep, FILE *out, const char *path, bool json,
			 bool verbose);
struct static_sink static_report_sink(struct static_report *rep);
void static_report_file(struct static_report *rep, struct image *img,
			const struct static_fdes *fdes, const struct static_result *r);
void static_report_error(FILE *out, bool json, const char *path, const char *kind,
			 const char *text);
void static_report_verdict(FILE *out, const struct static_sum *sum);
void static_report_heading(FILE *out);
void static_report_sum(FILE *out, bool json, const struct static_sum *sum);

#endif /* HARNESS_STATIC_REPORT_H */
