// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Text and JSON of the static check: a line a file with what is special about it below, and
 * the sum of all files.
 */
#include "harness/static_report.h"

#include "harness/json.h"
#include "harness/paint.h"
#include "harness/rule_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of one kind, what a text report shows without --verbose. */
#define MAX_FINDINGS	10
#define MAX_RANGES	3

static const char *const rule_names[ORACLE_NR_RULES] = {
	[EHF_FP] = "fp", [EHF_RA] = "ra", [EHF_SP] = "sp", [ORACLE_CFA] = "cfa",
};

/* A path from outside may hold what a terminal would obey. */
static void put_plain(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

static void symbol_text(char *buf, size_t n, struct image *img, u64 addr)
{
	const struct image_symbol *s = image_symbol_at(img, addr);

	buf[0] = '\0';
	if (s)
		snprintf(buf, n, "%s+0x%" PRIx64, s->name, addr - s->addr);
}

static void diff_text(char *buf, size_t n, u32 diff)
{
	static const char *const names[] = {
		"fp", "ra", "sp", "cfa", "signal", "ra-column", "meaning",
	};
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < EHF_ARRAY_SIZE(names); i++) {
		if (diff & 1U << i && len < n)
			len += (size_t)snprintf(buf + len, n - len, "%s%s", len ? "," : "",
						names[i]);
	}
}

/* The four rules of one side, by a function that writes one. */
struct side {
	struct image *img;
	const struct static_finding *f;
	const struct oracle_row *row;	/* NULL: ours */
};

static void side_rule(const struct side *s, u32 which, char *buf, size_t n)
{
	const struct static_finding *f = s->f;

	if (s->row)
		oracle_rule_text(buf, n, s->img->arch, s->row, which);
	else if (which == EHF_SP && f->ours->rule[which].kind == EHF_RULE_UNSPEC)
		snprintf(buf, n, "none");
	else if (which == ORACLE_CFA)
		rule_text_cfa(buf, n, s->img->arch, s->img->mem, f->fde, f->ours);
	else
		rule_text_reg(buf, n, s->img->arch, s->img->mem, f->fde, f->ours,
			      (enum ehf_tracked)which);
}

static void side_json(struct json *j, const char *key, const struct side *s,
		      enum oracle_answer answer)
{
	char text[RULE_TEXT_MAX];

	json_open(j, key);
	if (s->row && answer != ORACLE_ROW) {
		json_text(j, "no_row", s->row->why);
	} else {
		for (u32 i = 0; i < ORACLE_NR_RULES; i++) {
			side_rule(s, i, text, sizeof(text));
			json_text(j, rule_names[i], text);
		}
	}
	json_close(j);
}

static void side_line(FILE *out, const char *name, const struct side *s, enum oracle_answer answer)
{
	static const u32 order[] = { ORACLE_CFA, EHF_RA, EHF_FP, EHF_SP };
	static const char *const titles[] = { "CFA", "RA", "FP", "SP" };
	char text[RULE_TEXT_MAX];

	fprintf(out, "        %-16s", name);
	if (s->row && answer != ORACLE_ROW) {
		fprintf(out, "no row: %s\n", s->row->why);
		return;
	}
	for (size_t i = 0; i < EHF_ARRAY_SIZE(order); i++) {
		side_rule(s, order[i], text, sizeof(text));
		fprintf(out, " %s=%s", titles[i], text);
	}
	fputc('\n', out);
}

static void finding_json(struct static_report *rep, struct image *img,
			 const struct static_finding *f)
{
	char symbol[512], differs[64];
	struct side ours = { img, f, NULL }, dw = { img, f, f->dw }, third = { img, f, f->third };
	struct json j;

	symbol_text(symbol, sizeof(symbol), img, f->start);
	diff_text(differs, sizeof(differs), f->diff);
	json_begin(&j, rep->detail, "finding");
	json_text(&j, "file", rep->path);
	json_text(&j, "outcome", static_outcome_key(f->outcome));
	json_text(&j, "kind", f->kind);
	json_addr(&j, "start", f->start);
	json_addr(&j, "end", f->end);
	json_text(&j, "symbol", *symbol ? symbol : NULL);
	json_addr(&j, "fde", f->fde->addr);
	json_text(&j, "differs", differs);
	side_json(&j, "ours", &ours, ORACLE_ROW);
	side_json(&j, "libdw", &dw, f->dw_answer);
	json_text(&j, "third_name", f->third_name);
	if (f->third_name)
		side_json(&j, "third", &third, f->third_answer);
	else
		json_null(&j, "third");
	json_end(&j);
}

static void finding_text(FILE *out, struct image *img, const struct static_finding *f)
{
	char symbol[512], differs[64];
	struct side ours = { img, f, NULL }, dw = { img, f, f->dw }, third = { img, f, f->third };

	symbol_text(symbol, sizeof(symbol), img, f->start);
	diff_text(differs, sizeof(differs), f->diff);
	fprintf(out, "    %s at 0x%" PRIx64 "..0x%" PRIx64, static_outcome_key(f->outcome),
		f->start, f->end);
	if (*symbol) {
		fputs(" ", out);
		put_plain(out, symbol);
	}
	fprintf(out, " (FDE at 0x%" PRIx64 ")", f->fde->addr);
	if (*differs)
		fprintf(out, ": %s", differs);
	if (f->kind)
		fprintf(out, ": %s", f->kind);
	fputc('\n', out);
	side_line(out, "ours", &ours, ORACLE_ROW);
	side_line(out, "libdw", &dw, f->dw_answer);
	if (f->third_name)
		side_line(out, f->third_name, &third, f->third_answer);
	else if (f->dw_answer != ORACLE_FAILS)
		fprintf(out, "        %-16sno third opinion\n", "");
}

static void on_finding(void *arg, struct image *img, const struct static_finding *f)
{
	struct static_report *rep = arg;

	if (rep->json)
		finding_json(rep, img, f);
	else if (rep->shown_findings[f->outcome]++ < MAX_FINDINGS || rep->verbose)
		finding_text(rep->detail, img, f);
}

/* A row of the short way as one that can be printed. */
static void plain_text(const struct image *img, const struct ehf_row *ours,
		       const struct ehf_plain_row *is, struct ehf_row *row)
{
	*row = (struct ehf_row){ 0 };
	if (!(is->row.word & EHF_PLAIN_STOP))
		ehf_plain_unpack(&img->arch->abi, is->row, row);
	row->start = is->start;
	row->end = ours->end;
}

static void on_plain(void *arg, struct image *img, const struct ehf_fde *fde,
		     const struct ehf_row *ours, const struct ehf_plain_row *is)
{
	struct static_report *rep = arg;
	struct ehf_row row = { 0 };
	const struct static_finding long_way = { .fde = fde, .ours = ours };
	const struct static_finding short_way = { .fde = fde, .ours = &row };
	const struct side a = { img, &long_way, NULL }, b = { img, &short_way, NULL };
	struct json j;

	if (is)
		plain_text(img, ours, is, &row);
	if (rep->json) {
		json_begin(&j, rep->detail, "plain-finding");
		json_text(&j, "file", rep->path);
		json_addr(&j, "fde", fde->addr);
		json_addr(&j, "start", ours->start);
		json_addr(&j, "end", ours->end);
		side_json(&j, "ours", &a, ORACLE_ROW);
		if (is) {
			json_addr(&j, "plain_start", is->start);
			side_json(&j, "plain", &b, ORACLE_ROW);
		} else {
			json_null(&j, "plain_start");
			json_null(&j, "plain");
		}
		json_end(&j);
		return;
	}
	if (rep->shown_plain++ >= MAX_FINDINGS && !rep->verbose)
		return;
	fprintf(rep->detail, "    plain rows differ at 0x%" PRIx64 "..0x%" PRIx64 " (FDE at 0x%"
		PRIx64 ")\n", ours->start, ours->end, fde->addr);
	side_line(rep->detail, "ours", &a, ORACLE_ROW);
	if (is)
		side_line(rep->detail, "short way", &b, ORACLE_ROW);
	else
		fprintf(rep->detail, "        %-16sno row\n", "short way");
}

static void on_range(void *arg, struct image *img, enum static_oddity odd, u64 start, u64 end)
{
	struct static_report *rep = arg;
	char from[512], to[512];
	struct json j;

	/* gcc leaves every frame pointer's slot below SP in epilogues: only on demand. */
	if (!rep->verbose && odd == STATIC_ODD_FP_BELOW_SP)
		return;
	if (!rep->json && rep->shown_ranges[odd]++ >= MAX_RANGES && !rep->verbose)
		return;
	if (!rep->ranges[odd])
		rep->ranges[odd] = open_memstream(&rep->range_text[odd], &rep->range_len[odd]);
	if (!rep->ranges[odd])
		return;
	symbol_text(from, sizeof(from), img, start);
	symbol_text(to, sizeof(to), img, end - 1);
	if (rep->json) {
		json_begin(&j, rep->ranges[odd], "odd-rows");
		json_text(&j, "file", rep->path);
		json_text(&j, "kind", static_oddity_kind(odd));
		json_addr(&j, "start", start);
		json_addr(&j, "end", end);
		json_text(&j, "symbol", *from ? from : NULL);
		json_end(&j);
		return;
	}
	fprintf(rep->ranges[odd], "        0x%" PRIx64 "..0x%" PRIx64, start, end);
	if (*from) {
		fputc(' ', rep->ranges[odd]);
		put_plain(rep->ranges[odd], from);
		/* The end is exclusive: named by the symbol of the last byte. */
		if (*to) {
			const struct image_symbol *s = image_symbol_at(img, end - 1);

			fprintf(rep->ranges[odd], "..");
			put_plain(rep->ranges[odd], s->name);
			fprintf(rep->ranges[odd], "+0x%" PRIx64, end - s->addr);
		}
	}
	fputc('\n', rep->ranges[odd]);
}

/**
 * static_report_begin() - begin the report of a file
 * @rep: the report
 * @out: where it is written by static_report_file()
 * @path: the file
 * @json: JSON lines
 * @verbose: everything one by one
 */
void static_report_begin(struct static_report *rep, FILE *out, const char *path, bool json,
			 bool verbose)
{
	*rep = (struct static_report){ .out = out, .path = path, .json = json, .verbose = verbose };
	rep->detail = open_memstream(&rep->detail_text, &rep->detail_len);
	if (!rep->detail)
		abort();
}

/**
 * static_report_sink() - what check_static() is to be given
 * @rep: the report
 *
 * Return: the sink.
 */
struct static_sink static_report_sink(struct static_report *rep)
{
	return (struct static_sink){ on_finding, on_plain, on_range, rep };
}

/* What a count alone does not say. */
static void oddity_detail(char *buf, size_t n, enum static_oddity odd, struct image *img,
			  const struct static_fdes *f)
{
	char symbol[512];
	size_t len = 0;

	buf[0] = '\0';
	switch (odd) {
	case STATIC_ODD_HEADER:
		snprintf(buf, n, "at 0x%" PRIx64 ": %s; .eh_frame is scanned", img->hdr,
			 ehf_stop_name(img->hdr_stop));
		break;
	case STATIC_ODD_EMPTY_TABLE:
		snprintf(buf, n, ".eh_frame has %zu FDEs", f->nr);
		break;
	case STATIC_ODD_BAD_RECORD:
		snprintf(buf, n, "0x%" PRIx64 " bytes into .eh_frame: %s",
			 f->bad_record - img->section.eh_frame, ehf_stop_name(f->bad_stop));
		break;
	case STATIC_ODD_TABLE_MISSES:
		len = (size_t)snprintf(buf, n, "starting at");
		for (size_t i = 0, shown = 0; i < f->nr && len < n; i++) {
			if (f->fde[i].stop || !(f->fde[i].flags & STATIC_FDE_SCAN) ||
			    f->fde[i].flags & STATIC_FDE_TABLE)
				continue;
			if (shown++ == MAX_RANGES) {
				snprintf(buf + len, n - len, ", ...");
				break;
			}
			symbol_text(symbol, sizeof(symbol), img, f->fde[i].start);
			len += (size_t)snprintf(buf + len, n - len, "%s 0x%" PRIx64 " %.60s",
						shown > 1 ? "," : "", f->fde[i].start, symbol);
		}
		break;
	case STATIC_ODD_TERMINATOR:
		len = (size_t)snprintf(buf, n, "at");
		for (u64 i = 0; i < f->nr_terminators && i < EHF_ARRAY_SIZE(f->terminator); i++)
			len += (size_t)snprintf(buf + len, n - len, "%s 0x%" PRIx64, i ? "," : "",
						f->terminator[i] - img->section.eh_frame);
		snprintf(buf + len, n - len, "%s, 0x%" PRIx64 " bytes behind the first; the table "
			 "reaches %" PRIu64 " of %" PRIu64 " FDEs there",
			 f->nr_terminators > EHF_ARRAY_SIZE(f->terminator) ? ", ..." : "",
			 f->bytes_behind, f->behind_by_table, f->behind);
		break;
	default:
		break;
	}
}

/* Those that are there or not are said without a count. */
static bool is_flag(enum static_oddity odd)
{
	return odd == STATIC_ODD_HEADER || odd == STATIC_ODD_NO_TABLE ||
	       odd == STATIC_ODD_EMPTY_TABLE || odd == STATIC_ODD_DEBUG_FRAME;
}

static void put_oddities(struct static_report *rep, struct image *img,
			 const struct static_fdes *fdes, const struct static_result *r)
{
	char detail[256];

	for (u32 odd = 0; odd < STATIC_NR_ODDITIES; odd++) {
		u64 hidden = 0;

		if (!r->odd[odd])
			continue;
		oddity_detail(detail, sizeof(detail), odd, img, fdes);
		if (rep->json) {
			struct json j;

			json_begin(&j, rep->out, "oddity");
			json_text(&j, "file", rep->path);
			json_text(&j, "kind", static_oddity_kind(odd));
			json_number(&j, "count", r->odd[odd]);
			json_text(&j, "text", static_oddity_text(odd));
			json_text(&j, "detail", *detail ? detail : NULL);
			json_end(&j);
		} else {
			fprintf(rep->out, "    %s", static_oddity_text(odd));
			if (!is_flag(odd))
				fprintf(rep->out, ": %" PRIu64, r->odd[odd]);
			fprintf(rep->out, "%s%s\n", *detail ? ", " : "", detail);
			if (!rep->verbose && rep->shown_ranges[odd] > MAX_RANGES)
				hidden = rep->shown_ranges[odd] - MAX_RANGES;
		}
		if (rep->ranges[odd]) {
			fflush(rep->ranges[odd]);
			fwrite(rep->range_text[odd], 1, rep->range_len[odd], rep->out);
		}
		if (hidden)
			fprintf(rep->out, "        %" PRIu64 " more ranges, shown with --verbose\n",
				hidden);
	}
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static u64 refused(const u64 *n)
{
	return n[STATIC_BOTH_REFUSE] + n[STATIC_UNSUPPORTED] + n[STATIC_OVER_LIMIT] +
	       n[STATIC_MALFORMED] + n[STATIC_CORRUPT];
}

static void put_line(FILE *out, const char *path, const struct static_result *r)
{
	fprintf(out, "%9" PRIu64 " %10" PRIu64 " %11" PRIu64 " %10" PRIu64 " %8" PRIu64 " %9" PRIu64
		" %7.2f%%  ", r->fdes, static_total(r->rows), static_total(r->bytes),
		r->rows[STATIC_EQUAL], refused(r->rows), r->rows[STATIC_DIFFERENT],
		percent(r->exec_covered, r->exec_bytes));
	put_plain(out, path);
	fputc('\n', out);
}

/* What the line has no column for, and why rows are not given. */
static void put_counts(FILE *out, const struct static_result *r)
{
	unsigned int shapes = 0;

	for (u32 i = STATIC_BOTH_REFUSE; i < STATIC_DIFFERENT; i++) {
		if (r->rows[i])
			fprintf(out, "    %s: rows %" PRIu64 ", bytes %" PRIu64 "\n",
				static_outcome_key(i), r->rows[i], r->bytes[i]);
	}
	for (u32 i = 0; i < EHF_NR_STOPS; i++) {
		if (r->stops[i])
			fprintf(out, "    stop %s (%s): rows %" PRIu64 "\n", ehf_stop_name(i),
				ehf_class_name(ehf_stop_class(i)), r->stops[i]);
	}
	for (u32 i = 0; i < STATIC_NR_SHAPES; i++) {
		if (r->shapes[i])
			fprintf(out, "%s%s %" PRIu64, shapes++ ? ", " : "    expressions: ",
				static_shape_text(i), r->shapes[i]);
	}
	if (shapes)
		fputc('\n', out);
	if (r->over_limit_in_walk)
		fprintf(out, "    over the limits of a walk: rows %" PRIu64 "\n",
			r->over_limit_in_walk);
	if (r->plain_differs)
		fprintf(out, "    plain rows differ: %" PRIu64 " FDEs\n", r->plain_differs);
}

static void put_keys_json(struct json *j, const char *key, const u64 *by_outcome)
{
	json_open(j, key);
	json_number(j, "total", static_total(by_outcome));
	for (u32 i = 0; i < STATIC_NR_OUTCOMES; i++)
		json_number(j, static_outcome_key(i), by_outcome[i]);
	json_close(j);
}

static void put_plain_rows(FILE *out, const struct static_result *r)
{
	fprintf(out, "    plain: %" PRIu64 " of %" PRIu64 " of our rows (%.4f%%)\n", r->plain_rows,
		r->own_rows, percent(r->plain_rows, r->own_rows));
}

static void put_result_json(struct json *j, const struct static_result *r)
{
	json_number(j, "fdes", r->fdes);
	put_keys_json(j, "rows", r->rows);
	put_keys_json(j, "bytes", r->bytes);
	json_number(j, "over_limit_in_walk", r->over_limit_in_walk);
	json_open(j, "plain");
	json_number(j, "of", r->own_rows);
	json_number(j, "rows", r->plain_rows);
	json_number(j, "differing_fdes", r->plain_differs);
	json_close(j);
	json_number(j, "exec_bytes", r->exec_bytes);
	json_number(j, "exec_bytes_covered", r->exec_covered);
	json_open(j, "stops");
	for (u32 i = 0; i < EHF_NR_STOPS; i++) {
		if (r->stops[i])
			json_number(j, ehf_stop_name(i), r->stops[i]);
	}
	json_close(j);
}

/**
 * static_report_file() - write the report of a file that was checked
 * @rep: the report; given back by this
 * @img: the file
 * @fdes: its FDEs
 * @r: its result
 */
void static_report_file(struct static_report *rep, struct image *img,
			const struct static_fdes *fdes, const struct static_result *r)
{
	struct json j;

	if (rep->json) {
		json_begin(&j, rep->out, "static-file");
		json_text(&j, "file", rep->path);
		put_result_json(&j, r);
		json_open(&j, "expressions");
		for (u32 i = 0; i < STATIC_NR_SHAPES; i++) {
			if (r->shapes[i])
				json_number(&j, static_shape_key(i), r->shapes[i]);
		}
		json_close(&j);
		json_end(&j);
	} else {
		put_line(rep->out, rep->path, r);
		put_counts(rep->out, r);
		if (rep->verbose)
			put_plain_rows(rep->out, r);
	}
	put_oddities(rep, img, fdes, r);
	fclose(rep->detail);
	fwrite(rep->detail_text, 1, rep->detail_len, rep->out);
	free(rep->detail_text);
	for (u32 i = 0; i < STATIC_NR_OUTCOMES && !rep->json && !rep->verbose; i++) {
		if (rep->shown_findings[i] > MAX_FINDINGS)
			fprintf(rep->out, "    %" PRIu64 " more %s, shown with --verbose\n",
				rep->shown_findings[i] - MAX_FINDINGS, static_outcome_key(i));
	}
	if (rep->shown_plain > MAX_FINDINGS && !rep->json && !rep->verbose)
		fprintf(rep->out, "    %" PRIu64 " more FDEs with other plain rows, shown with "
			"--verbose\n", rep->shown_plain - MAX_FINDINGS);
	for (u32 i = 0; i < STATIC_NR_ODDITIES; i++) {
		if (rep->ranges[i])
			fclose(rep->ranges[i]);
		free(rep->range_text[i]);
	}
}

/**
 * static_report_error() - write why a file was not checked
 * @out: where to
 * @json: a JSON line
 * @path: the file
 * @kind: one word: a status, or "crashed"
 * @text: one line that begins with the path
 */
void static_report_error(FILE *out, bool json, const char *path, const char *kind,
			 const char *text)
{
	struct json j;

	if (json) {
		json_begin(&j, out, "error");
		json_text(&j, "file", path);
		json_text(&j, "kind", kind);
		json_text(&j, "text", text);
		json_end(&j);
	} else {
		fprintf(out, "%s: ", kind);
		put_plain(out, text);
		fputc('\n', out);
	}
}

/**
 * static_report_verdict() - write the one line that counts
 * @out: where to
 * @sum: all files
 */
void static_report_verdict(FILE *out, const struct static_sum *sum)
{
	const u64 *rows = sum->total.rows;
	const char *word = "agree";
	bool bad;

	if (rows[STATIC_DIFFERENT] || sum->total.plain_differs)
		word = "DIFFER";
	else if (!static_total(rows))
		word = "nothing compared";
	else if (sum->files_failed || rows[STATIC_CORRUPT])
		word = "agree, but not everything could be read";
	bad = rows[STATIC_DIFFERENT] || sum->total.plain_differs || !static_total(rows);
	fprintf(out, "%s%s%s: %" PRIu64 " files, %" PRIu64 " FDEs, %" PRIu64 " rows, %" PRIu64
		" equal, %" PRIu64 " different", paint(out, bad ? PAINT_BAD : PAINT_GOOD), word,
		paint(out, PAINT_OFF), sum->files, sum->total.fdes,
		static_total(rows), rows[STATIC_EQUAL], rows[STATIC_DIFFERENT]);
	if (sum->total.plain_differs)
		fprintf(out, ", %" PRIu64 " FDEs with other plain rows", sum->total.plain_differs);
	if (rows[STATIC_ORACLE_FAILED])
		fprintf(out, ", %" PRIu64 " not compared (libdw failed)",
			rows[STATIC_ORACLE_FAILED]);
	if (rows[STATIC_ORACLE_WRONG])
		fprintf(out, ", %" PRIu64 " where libdw is wrong", rows[STATIC_ORACLE_WRONG]);
	if (sum->files_failed)
		fprintf(out, ", %" PRIu64 " files failed", sum->files_failed);
	fputs("\n\n", out);
}

/**
 * static_report_heading() - write the table's first line
 * @out: where to
 */
void static_report_heading(FILE *out)
{
	fprintf(out, "%9s %10s %11s %10s %8s %9s %8s  %s\n", "FDEs", "rows", "bytes", "equal",
		"refused", "different", "covered", "file");
}

static const enum image_status skips[] = {
	IMAGE_RELOCATABLE, IMAGE_NO_CFI, IMAGE_DEBUG_FILE, IMAGE_OTHER_MACHINE, IMAGE_NOT_ELF,
};

/**
 * static_report_sum() - write the sum of all files
 * @out: where to
 * @json: the last JSON line
 * @sum: all files
 */
void static_report_sum(FILE *out, bool json, const struct static_sum *sum)
{
	const char *before = "skipped: ";
	struct json j;

	if (json) {
		json_begin(&j, out, "static-summary");
		json_number(&j, "files", sum->files);
		json_number(&j, "files_failed", sum->files_failed);
		json_open(&j, "files_skipped");
		for (size_t i = 0; i < EHF_ARRAY_SIZE(skips); i++)
			json_number(&j, image_status_name(skips[i]), sum->skipped[skips[i]]);
		json_close(&j);
		put_result_json(&j, &sum->total);
		json_end(&j);
		return;
	}
	if (sum->files > 1) {
		put_line(out, "total", &sum->total);
		put_counts(out, &sum->total);
		for (u32 odd = 0; odd < STATIC_NR_ODDITIES; odd++) {
			if (sum->odd_files[odd])
				fprintf(out, "    %s: %" PRIu64 " in %" PRIu64 " files\n",
					static_oddity_text(odd), sum->total.odd[odd],
					sum->odd_files[odd]);
		}
		fprintf(out, "    unsupported: %.4f%% of the bytes\n",
			percent(sum->total.bytes[STATIC_UNSUPPORTED],
				static_total(sum->total.bytes)));
		put_plain_rows(out, &sum->total);
	}
	for (size_t i = 0; i < EHF_ARRAY_SIZE(skips); i++) {
		if (!sum->skipped[skips[i]])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, sum->skipped[skips[i]],
			image_status_name(skips[i]));
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
	if (sum->files_failed)
		fprintf(out, "failed: %" PRIu64 " files\n", sum->files_failed);
}
