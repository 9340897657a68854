// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Goes through a file's .eh_frame front to back, then to what only its search table knows. */
#include "harness/dump_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "harness/json.h"
#include "harness/order.h"

/*
 * A file can make each of its FDEs run a CIE as long as all of them. Once so many instructions
 * were executed (libLLVM-14 has 2.2 million), an FDE gets no more than these.
 */
#define BUDGET		(1U << 28)
#define BUDGET_SPENT	1024

/* A walk through the section. */
struct walk {
	const struct dump *d;
	const struct ehf_section *s;
	struct ehf_ctx ctx;
	struct ehf_limits limits;
	struct ehf_memo memo;
	struct ehf_cost cost;
	struct ehf_fde fde;	/* its CIE is kept from one FDE to the next */
	u64 *table;		/* FDE addresses that the search table has, ascending, unique */
	bool *seen;		/* a scan met table[i] too */
	size_t nr;
};

static bool read_table(struct walk *w)
{
	const struct ehf_section *s = w->s;
	size_t nr = 0;

	if (!s->table || !s->nr_fdes)
		return true;
	w->table = calloc(s->nr_fdes, sizeof(*w->table));
	w->seen = calloc(s->nr_fdes, sizeof(*w->seen));
	if (!w->table || !w->seen)
		return false;
	for (u64 i = 0; i < s->nr_fdes; i++) {
		struct ehf_entry e = { 0 };

		if (ehf_entry_read(&w->ctx, s, i, &e))
			w->table[nr++] = e.fde;
	}
	qsort(w->table, nr, sizeof(*w->table), order_u64);
	for (size_t i = 0; i < nr; i++) {
		if (!i || w->table[i] != w->table[w->nr - 1])
			w->table[w->nr++] = w->table[i];
	}
	return true;
}

static bool in_table(const struct walk *w, u64 fde)
{
	u64 *at = w->nr ? bsearch(&fde, w->table, w->nr, sizeof(*w->table), order_u64) : NULL;

	if (at)
		w->seen[at - w->table] = true;
	return at != NULL;
}

static void bad_record(const struct walk *w, u64 addr, enum ehf_stop stop)
{
	struct json j;

	if (!w->d->json) {
		fprintf(w->d->out, "\n%08" PRIx64 " not usable: %s (%s): %s\n",
			addr - w->s->eh_frame, ehf_stop_name(stop),
			ehf_class_name(ehf_stop_class(stop)), ehf_stop_text(stop));
		return;
	}
	json_begin(&j, w->d->out, "bad-record");
	json_addr(&j, "addr", addr);
	json_text(&j, "stop", ehf_stop_name(stop));
	json_text(&j, "class", ehf_class_name(ehf_stop_class(stop)));
	json_end(&j);
}

static void put_cie(const struct walk *w, u64 addr)
{
	struct ehf_cie cie;
	enum ehf_stop stop = ehf_cie_parse(&w->ctx, w->s, addr, &cie);

	if (stop)
		bad_record(w, addr, stop);
	else if (!w->d->json)
		fprintf(w->d->out, "\n%08" PRIx64 " CIE version %u, factors %" PRIu64 " and %" PRId64
			", ra column %u, encoding 0x%02x%s\n", addr - w->s->eh_frame, cie.version,
			cie.code_align, cie.data_align, cie.ra_reg, cie.fde_enc,
			cie.flags & EHF_CIE_SIGNAL ? ", signal" : "");
}

static void fde_json(const struct walk *w, bool by_table, bool by_scan)
{
	struct json j;

	json_begin(&j, w->d->out, "fde");
	json_addr(&j, "addr", w->fde.addr);
	json_addr(&j, "cie", w->fde.cie.addr);
	json_addr(&j, "start", w->fde.start);
	json_addr(&j, "end", w->fde.range_end);
	json_bool(&j, "table", by_table);
	json_bool(&j, "scan", by_scan);
	json_end(&j);
}

static void fde_text(const struct walk *w, bool missed)
{
	int digits = w->d->img->arch->abi.addr_size * 2;

	fprintf(w->d->out, "\n%08" PRIx64 " FDE cie=%08" PRIx64 " pc=%0*" PRIx64 "..%0*" PRIx64,
		w->fde.addr - w->s->eh_frame, w->fde.cie.addr - w->s->eh_frame, digits,
		w->fde.start, digits, w->fde.range_end);
	dump_symbol(w->d, w->fde.start);
	fprintf(w->d->out, "%s\n", missed ? "  not in the search table" : "");
}

static void put_fde(struct walk *w, u64 addr, bool by_scan)
{
	const struct dump *d = w->d;
	struct ehf_program program;
	bool by_table = in_table(w, addr), first = true;
	enum ehf_stop stop;
	struct ehf_row row;

	stop = ehf_fde_parse_with(&w->ctx, w->s, addr, &w->fde.cie, &w->fde);
	if (stop) {
		bad_record(w, addr, stop);
		return;
	}
	if (d->json)
		fde_json(w, by_table, by_scan);
	else
		fde_text(w, by_scan && w->nr && !by_table);
	if (w->cost.insns > BUDGET)
		w->limits.insns = BUDGET_SPENT;
	ehf_program_start(&program, &w->ctx, &w->fde);
	while (ehf_program_next(&program, &row)) {
		if (!d->json && first)
			dump_row_table_head(d);
		first = false;
		if (!d->json)
			dump_row_table_line(d, &w->fde, &row);
		else if (row.stop)
			dump_no_row_json(d, row.start, row.stop, &row, NULL);
		else
			dump_row_json(d, row.start, &w->fde, &row, NULL);
	}
}

static void put_end(const struct walk *w, u64 addr, u64 next)
{
	u64 behind = w->s->eh_frame_end - next;
	struct json j;

	if (w->d->json) {
		json_begin(&j, w->d->out, "terminator");
		json_addr(&j, "addr", addr);
		json_number(&j, "bytes_behind", behind);
		json_end(&j);
		return;
	}
	fprintf(w->d->out, "\n%08" PRIx64 " terminator", addr - w->s->eh_frame);
	if (behind)
		fprintf(w->d->out, ", 0x%" PRIx64 " bytes behind it", behind);
	putc('\n', w->d->out);
}

/* As a lookup without a table goes: the terminator ends it, and so does a bad length. */
static void scan(struct walk *w)
{
	u64 addr = w->s->eh_frame;

	while (addr < w->s->eh_frame_end) {
		struct ehf_record rec;
		enum ehf_stop stop = ehf_record_head(&w->ctx, w->s, addr, &rec);

		if (stop)
			bad_record(w, addr, stop);
		if (stop && rec.next == addr)
			return;
		if (!stop && rec.kind == EHF_RECORD_END) {
			put_end(w, addr, rec.next);
			return;
		}
		if (!stop && rec.kind == EHF_RECORD_CIE)
			put_cie(w, addr);
		else if (!stop)
			put_fde(w, addr, true);
		addr = rec.next;
	}
}

static void table_only(struct walk *w)
{
	bool first = true;

	for (size_t i = 0; i < w->nr; i++) {
		if (w->seen[i])
			continue;
		if (first && w->s->scan && !w->d->json)
			fprintf(w->d->out, "\nFDEs that only the search table finds:\n");
		first = false;
		put_fde(w, w->table[i], false);
	}
}

static void put_head(const struct walk *w)
{
	const struct image *img = w->d->img;

	fprintf(w->d->out, "%s: %s, .eh_frame at 0x%" PRIx64 ", ", img->path, img->arch->name,
		w->s->eh_frame);
	if (img->hdr_stop)
		fprintf(w->d->out, "search table not used: %s\n", ehf_stop_name(img->hdr_stop));
	else if (!w->s->table)
		fprintf(w->d->out, "no search table\n");
	else
		fprintf(w->d->out, "search table of %" PRIu64 " entries\n", w->s->nr_fdes);
}

/**
 * dump_file() - print all records of .eh_frame and all rows
 * @d: the file, where to
 *
 * FDEs that only a scan or only the search table finds are printed and marked.
 *
 * Return: false where memory ran out.
 */
bool dump_file(const struct dump *d)
{
	struct walk w = { .d = d, .s = &d->img->section };
	bool done;

	w.limits = ehf_limits_file;
	w.ctx = (struct ehf_ctx){
		.mem = d->img->mem, .abi = &d->img->arch->abi, .limits = &w.limits,
		.cost = &w.cost, .memo = &w.memo, .generation = 1,
	};
	done = read_table(&w);
	if (done) {
		if (!d->json)
			put_head(&w);
		if (w.s->scan)
			scan(&w);
		table_only(&w);
	}
	free(w.table);
	free(w.seen);
	return done;
}
