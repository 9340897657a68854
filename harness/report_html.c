// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The HTML page: verdict, tables, traces side by side.
 */
#include "harness/report_html.h"

#include <string.h>

/* Colours by what they mean; a dark screen has its own. */
static const char style[] =
	":root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--line:#d0d0d0;--soft:#f4f4f4;"
	"--good:#17692e;--bad:#b3161f;--mark:#fde7e7}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#181818;--line:#444;"
	"--soft:#232323;--good:#6fd08c;--bad:#ff8080;--mark:#4a2020}}\n"
	"body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
	"max-width:1240px;margin:1.5em auto;padding:0 1em}\n"
	"h1{font-size:1.5em;margin:0 0 .3em}h2{font-size:1.15em;margin:1.8em 0 .4em}\n"
	".verdict{font-size:1.15em;font-weight:600;padding:.5em .8em;border-left:.4em solid}\n"
	".good{color:var(--good)}.bad{color:var(--bad)}\n"
	"p{margin:.3em 0}.wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.2em .7em;border-bottom:1px solid var(--line);text-align:left;"
	"vertical-align:top}\n"
	"th{background:var(--soft)}.n{text-align:right}\n"
	".diff{font:12px/1.4 ui-monospace,monospace;width:100%;table-layout:fixed}\n"
	".diff td{overflow-wrap:anywhere}.diff .no{width:3em}.parted td{background:var(--mark)}\n"
	"svg{width:100%;height:auto;border:1px solid var(--line);background:#fff}\n"
	"svg text{font:11px ui-monospace,monospace;fill:#111;pointer-events:none}\n"
	".key span{display:inline-block;margin-right:1.2em}\n"
	".key i{display:inline-block;width:1em;height:1em;vertical-align:-.15em;margin-right:.4em;"
	"border:1px solid #888}\n";

/**
 * report_html_text() - write text that stays text
 * @text: any bytes, as UTF-8 where it is
 * @out: where to
 *
 * Whatever a symbol is called: no tag, no attribute's end, no control character.
 */
void report_html_text(const char *text, FILE *out)
{
	for (const u8 *p = (const u8 *)text; *p; p++) {
		switch (*p) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			if (*p < 0x20 || *p == 0x7f)
				fprintf(out, "\\x%02x", *p);
			else
				putc(*p, out);
		}
	}
}

static void element(const char *tag, const char *class, const char *text, FILE *out)
{
	fprintf(out, *class ? "<%s class=\"%s\">" : "<%s>", tag, class);
	report_html_text(text ? text : "", out);
	fprintf(out, "</%s>", tag);
}

static void write_table(const struct report_html_table *t, FILE *out)
{
	element("h2", "", t->title, out);
	if (t->note)
		element("p", "", t->note, out);
	fputs("\n<div class=\"wide\"><table>\n<tr>", out);
	for (u32 c = 0; c < t->columns; c++)
		element("th", t->numbers >> c & 1 ? "n" : "", t->head[c], out);
	fputs("</tr>\n", out);
	for (u32 r = 0; r < t->rows; r++) {
		fputs("<tr>", out);
		for (u32 c = 0; c < t->columns; c++) {
			const char *cell = t->cell[(size_t)r * t->columns + c];
			bool number = t->numbers >> c & 1;
			bool bad = t->bad >> c & 1 && cell && *cell && strcmp(cell, "0");

			element("td", number ? bad ? "n bad" : "n" : bad ? "bad" : "", cell, out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</table></div>\n", out);
}

static void write_diff(const struct report_html_diff *d, FILE *out)
{
	u32 rows = d->nr_ours > d->nr_theirs ? d->nr_ours : d->nr_theirs;

	element("h3", "", d->title, out);
	fputs("\n<table class=\"diff\">\n<tr><th class=\"no\"></th><th>ehunwind</th><th>libdw</th></tr>\n",
	      out);
	for (u32 i = 0; i < rows; i++) {
		fprintf(out, i >= d->parted ? "<tr class=\"parted\"><td class=\"no\">%u</td>" :
			"<tr><td class=\"no\">%u</td>", i);
		element("td", "", i < d->nr_ours ? d->ours[i] : "", out);
		element("td", "", i < d->nr_theirs ? d->theirs[i] : "", out);
		fputs("</tr>\n", out);
	}
	fputs("<tr><td class=\"no\"></td>", out);
	element("td", "", d->ours_end, out);
	element("td", "", d->theirs_end, out);
	fputs("</tr>\n</table>\n", out);
}

/**
 * report_html_write() - write the page
 * @r: what it shows
 * @out: where to; the caller opens and closes it
 *
 * The page forbids itself to fetch anything, by its Content-Security-Policy.
 *
 * Return: false where something could not be written.
 */
bool report_html_write(const struct report_html *r, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n", out);
	element("title", "", r->title, out);
	fprintf(out, "\n<style>\n%s</style>\n</head>\n<body>\n", style);
	element("h1", "", r->title, out);
	putc('\n', out);
	element("p", r->failed ? "verdict bad" : "verdict good", r->verdict, out);
	putc('\n', out);
	for (u32 i = 0; i < r->nr_about; i++) {
		element("p", "", r->about[i], out);
		putc('\n', out);
	}
	for (u32 i = 0; i < r->nr_tables; i++)
		write_table(&r->table[i], out);
	if (r->stacks)
		report_html_flame(r->stacks, out);
	if (r->nr_diffs || r->diffs_left_out)
		fputs("<h2>Traces that differ</h2>\n", out);
	for (u32 i = 0; i < r->nr_diffs; i++)
		write_diff(&r->diff[i], out);
	if (r->diffs_left_out)
		fprintf(out, "<p>%llu more are not shown; --json lists all.</p>\n",
			(unsigned long long)r->diffs_left_out);
	fputs("</body>\n</html>\n", out);
	return !fflush(out) && !ferror(out);
}
