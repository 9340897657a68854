// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The flame graph: merged stacks as an SVG drawing inside of the page.
 */
#include "harness/report_html.h"

#include <string.h>

#define WIDTH		1200.0	/* of the drawing, in its own units */
#define ROW		17	/* height of a frame */
#define CHARACTER	6.7	/* width of one at 11px in a monospace font */

/* Narrower frames cannot be seen; they are counted instead of drawn. */
#define NARROWEST	0.1

struct drawing {
	FILE *out;
	double unit;		/* width of one sample */
	u64 narrow;
};

static u32 height_of(const struct report_folded_node *n, double unit)
{
	u32 most = 0;

	for (n = n->child; n; n = n->next) {
		u32 one = (double)n->total * unit < NARROWEST ? 0 : 1 + height_of(n, unit);

		most = one > most ? one : most;
	}
	return most;
}

/* A warm colour for each module, so that neighbours of one file look alike. */
static void fill(const struct report_folded_node *n, u32 depth, FILE *out)
{
	u32 h = 2166136261u;

	if (n->flags & REPORT_FOLDED_TRUNCATED) {
		fputs(" fill=\"#c9c9c9\" stroke=\"#b3161f\" stroke-dasharray=\"4 2\"", out);
		return;
	}
	if (n->flags & REPORT_FOLDED_FALLBACK) {
		fputs(" fill=\"url(#fallback)\" stroke=\"#7a5200\"", out);
		return;
	}
	if (n->flags & REPORT_FOLDED_UNKNOWN) {
		fputs(" fill=\"#e2e2e2\"", out);
		return;
	}
	for (const u8 *p = (const u8 *)n->module; *p; p++)
		h = (h ^ *p) * 16777619u;
	fprintf(out, " fill=\"hsl(%u,%u%%,%u%%)\"", *n->module ? 8 + h % 48 : 200,
		n->flags & REPORT_FOLDED_INLINED ? 60 : 85,
		(n->flags & REPORT_FOLDED_INLINED ? 82 : 68) + depth % 2 * 3);
}

/* As much of a name as fits, cut between characters, not inside of one. */
static void write_cut(const char *name, size_t room, FILE *out)
{
	char text[256];
	size_t used = 0, shown = 0;

	for (const u8 *p = (const u8 *)name; *p && used < sizeof(text) - 8; used++, p++) {
		if ((*p & 0xc0) != 0x80 && ++shown > room)
			break;
		text[used] = (char)*p;
	}
	text[used] = '\0';
	if (name[used] && used > 2) {
		/* Two dots in the place of the last two characters. */
		for (int i = 0; i < 2 && used; i++) {
			do
				used--;
			while (used && ((u8)text[used] & 0xc0) == 0x80);
		}
		strcpy(text + used, "..");
	}
	report_html_text(text, out);
}

static void draw(struct drawing *d, const struct report_folded_node *n, double x, u32 depth,
		 u64 all)
{
	double width = (double)n->total * d->unit;
	u32 y = depth * ROW;

	fputs("<g><title>", d->out);
	report_html_text(n->name, d->out);
	if (*n->module) {
		fputs(" in ", d->out);
		report_html_text(n->module, d->out);
	}
	fprintf(d->out, ": %llu samples, %.2f%%%s%s%s%s</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" "
		"height=\"%u\" rx=\"1\"",
		(unsigned long long)n->total, 100.0 * (double)n->total / (double)all,
		n->flags & REPORT_FOLDED_INLINED ? ", inlined" : "",
		n->flags & REPORT_FOLDED_FALLBACK ? ", found by a fallback" : "",
		n->flags & REPORT_FOLDED_GUESSED ? ", the name is a guess" : "",
		n->flags & REPORT_FOLDED_TRUNCATED ? ": what called the frame below is not known" : "",
		x, y, width > 0.6 ? width - 0.4 : width, ROW - 1);
	fill(n, depth, d->out);
	fputs("/>", d->out);
	if (width > 3 * CHARACTER) {
		fprintf(d->out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
		write_cut(n->name, (size_t)((width - 6) / CHARACTER), d->out);
		fputs("</text>", d->out);
	}
	fputs("</g>\n", d->out);
}

/* Depth is bounded by REPORT_FOLDED_DEPTH. */
static void draw_children(struct drawing *d, const struct report_folded_node *parent, double x,
			  u32 depth, u64 all)
{
	for (const struct report_folded_node *n = parent->child; n; n = n->next) {
		if ((double)n->total * d->unit < NARROWEST) {
			d->narrow++;
		} else {
			draw(d, n, x, depth, all);
			draw_children(d, n, x, depth + 1, all);
		}
		x += (double)n->total * d->unit;
	}
}

/**
 * report_html_flame() - draw the flame graph
 * @stacks: the stacks
 * @out: the page
 *
 * Callers are above what they called, so that a page of deep stacks begins where they do; the
 * width is the number of samples. Frames found by a fallback are hatched, traces that broke off
 * hang from a grey, dashed bar.
 */
void report_html_flame(struct report_folded *stacks, FILE *out)
{
	const struct report_folded_node *root = report_folded_root(stacks);
	struct drawing d = { .out = out };
	u32 rows;

	fputs("<h2>Flame graph</h2>\n", out);
	if (!root->total) {
		fputs("<p>No stack was sampled.</p>\n", out);
		return;
	}
	d.unit = WIDTH / (double)root->total;
	rows = height_of(root, d.unit);
	fprintf(out, "<p class=\"key\">%llu samples, callers above. "
		"<span><i style=\"background:#ffb366\"></i>a frame, coloured by its file</span>"
		"<span><i style=\"background:#ffe0c0\"></i>inlined</span>"
		"<span><i style=\"background:repeating-linear-gradient(45deg,#ffd27a 0 3px,#fff 3px 6px)\">"
		"</i>found by a fallback</span><span><i style=\"background:#c9c9c9;border:1px dashed "
		"#b3161f\"></i>the trace broke off above</span></p>\n", (unsigned long long)root->total);
	fprintf(out, "<svg id=\"flame\" role=\"img\" aria-label=\"flame graph\" viewBox=\"0 0 %.0f %u\" "
		"xmlns=\"http://www.w3.org/2000/svg\">\n<defs><pattern id=\"fallback\" width=\"6\" "
		"height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"6\" height=\"6\" fill=\"#fff3d6\"/><rect width=\"3\" height=\"6\" "
		"fill=\"#ffd27a\"/></pattern></defs>\n", WIDTH, rows * ROW);
	draw_children(&d, root, 0, 0, root->total);
	fputs("</svg>\n", out);
	if (d.narrow)
		fprintf(out, "<p>%llu branches are narrower than %.1f units and not drawn.</p>\n",
			(unsigned long long)d.narrow, NARROWEST);
	if (report_folded_cut(stacks))
		fprintf(out, "<p>%llu levels below the deepest %d were left out.</p>\n",
			(unsigned long long)report_folded_cut(stacks), REPORT_FOLDED_DEPTH);
}
