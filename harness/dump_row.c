// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Prints rows: the object or the lines of one pc, and the lines of a table. */
#include "harness/dump_row.h"

#include <inttypes.h>

#include "harness/json.h"
#include "harness/rule_text.h"

/* Text of the four rules of one row. */
struct rules {
	char cfa[RULE_TEXT_MAX];
	char reg[EHF_NR_TRACKED][RULE_TEXT_MAX];
	bool has_sp;
};

static void get_rules(const struct dump *d, const struct ehf_fde *fde, const struct ehf_row *row,
		      struct rules *r)
{
	const struct ehu_arch *arch = d->img->arch;

	rule_text_cfa(r->cfa, sizeof(r->cfa), arch, d->img->mem, fde, row);
	for (int k = 0; k < EHF_NR_TRACKED; k++)
		rule_text_reg(r->reg[k], sizeof(r->reg[k]), arch, d->img->mem, fde, row,
			      (enum ehf_tracked)k);
	r->has_sp = row->rule[EHF_SP].kind != EHF_RULE_UNSPEC;
}

static void found_json(const struct dump *d, struct json *j, const struct dump_found *how)
{
	const struct ehf_section *s = &d->img->section;

	json_open(j, "found");
	json_addr(j, "section", s->eh_frame);
	json_text(j, "by", how->found.by_table ? "table" : "scan");
	if (how->found.by_table) {
		json_number(j, "entry", how->found.index);
		json_number(j, "entries", s->nr_fdes);
	}
	json_number(j, "steps", how->found.steps);
	if (how->fde.addr)
		json_addr(j, "fde", how->fde.addr);
	if (how->fde.addr && how->fde.cie.addr)
		json_addr(j, "cie", how->fde.cie.addr);
	json_number(j, "insns", how->cost.insns);
	json_number(j, "reads", how->cost.reads);
	json_number(j, "read_bytes", how->cost.bytes);
	json_close(j);
}

/**
 * dump_row_json() - print a row as an object
 * @d: where to
 * @pc: the address that was asked for
 * @fde: the FDE that the row comes from
 * @row: a row without a stop
 * @how: how it was found, or NULL to leave that out
 */
void dump_row_json(const struct dump *d, u64 pc, const struct ehf_fde *fde,
		   const struct ehf_row *row, const struct dump_found *how)
{
	struct rules r;
	struct json j;

	get_rules(d, fde, row, &r);
	json_begin(&j, d->out, "row");
	json_addr(&j, "pc", pc);
	json_addr(&j, "start", row->start);
	json_addr(&j, "end", row->end);
	json_text(&j, "cfa", r.cfa);
	json_text(&j, "ra", r.reg[EHF_RA]);
	json_text(&j, "fp", r.reg[EHF_FP]);
	if (r.has_sp)
		json_text(&j, "sp", r.reg[EHF_SP]);
	else
		json_null(&j, "sp");
	json_bool(&j, "signal", row->flags & EHF_ROW_SIGNAL);
	json_bool(&j, "outermost", row->flags & EHF_ROW_OUTERMOST);
	if (d->img->arch->abi.ra_state)
		json_bool(&j, "ra_signed", row->flags & EHF_ROW_RA_SIGNED);
	if (how)
		found_json(d, &j, how);
	json_end(&j);
}

/**
 * dump_no_row_json() - say as an object that there is no row, and why
 * @d: where to
 * @pc: the address that was asked for
 * @stop: why
 * @row: the range for which that holds, or NULL where no FDE is known
 * @how: how it was found, or NULL to leave that out
 */
void dump_no_row_json(const struct dump *d, u64 pc, enum ehf_stop stop,
		      const struct ehf_row *row, const struct dump_found *how)
{
	struct json j;

	json_begin(&j, d->out, "no-row");
	json_addr(&j, "pc", pc);
	json_text(&j, "stop", ehf_stop_name(stop));
	json_text(&j, "class", ehf_class_name(ehf_stop_class(stop)));
	if (row) {
		json_addr(&j, "start", row->start);
		json_addr(&j, "end", row->end);
	}
	if (how)
		found_json(d, &j, how);
	json_end(&j);
}

/**
 * dump_symbol() - print " <symbol+0xOFF>" where a symbol covers an address, else nothing
 * @d: where to
 * @addr: ELF virtual address
 */
void dump_symbol(const struct dump *d, u64 addr)
{
	const struct image_symbol *sym = image_symbol_at(d->img, addr);

	if (!sym)
		return;
	fprintf(d->out, "  <");
	for (const char *p = sym->name; *p; p++)
		putc(*p < 0x20 || *p >= 0x7f ? '?' : *p, d->out);
	if (addr != sym->addr)
		fprintf(d->out, "+0x%" PRIx64, addr - sym->addr);
	fprintf(d->out, ">");
}

static int addr_digits(const struct dump *d)
{
	return d->img->arch->abi.addr_size * 2;
}

static void reg_name(const struct dump *d, unsigned int reg, char *buf, size_t n)
{
	rule_text_reg_name(buf, n, d->img->arch, reg);
}

/**
 * dump_row_table_head() - print the names of the columns of a table
 * @d: where to
 */
void dump_row_table_head(const struct dump *d)
{
	char fp[16];

	reg_name(d, d->img->arch->abi.reg_fp, fp, sizeof(fp));
	fprintf(d->out, "   %-*s %-10s %-10s %s\n", addr_digits(d) - 3, "LOC", "CFA", fp, "ra");
}

static void put_flags(const struct dump *d, const struct ehf_row *row, const struct rules *r,
		      const char *sep)
{
	char sp[16];

	if (r->has_sp) {
		reg_name(d, d->img->arch->abi.reg_sp, sp, sizeof(sp));
		fprintf(d->out, "%s%s=%s", sep, sp, r->reg[EHF_SP]);
		sep = " ";
	}
	if (row->flags & EHF_ROW_SIGNAL) {
		fprintf(d->out, "%ssignal", sep);
		sep = " ";
	}
	if (row->flags & EHF_ROW_OUTERMOST) {
		fprintf(d->out, "%soutermost", sep);
		sep = " ";
	}
	if (row->flags & EHF_ROW_RA_SIGNED)
		fprintf(d->out, "%sra-signed", sep);
}

/**
 * dump_row_table_line() - print a row as a line of a table
 * @d: where to
 * @fde: the FDE that the row comes from
 * @row: the row; one with a stop shows that
 */
void dump_row_table_line(const struct dump *d, const struct ehf_fde *fde,
			 const struct ehf_row *row)
{
	struct rules r;

	fprintf(d->out, "%0*" PRIx64 " ", addr_digits(d), row->start);
	if (row->stop) {
		fprintf(d->out, "no row: %s (%s)\n", ehf_stop_name(row->stop),
			ehf_class_name(ehf_stop_class(row->stop)));
		return;
	}
	get_rules(d, fde, row, &r);
	fprintf(d->out, "%-10s %-10s %s", r.cfa, r.reg[EHF_FP], r.reg[EHF_RA]);
	put_flags(d, row, &r, "  ");
	putc('\n', d->out);
}

static void put_found(const struct dump *d, const struct dump_found *how)
{
	const struct ehf_section *s = &d->img->section;
	const struct ehf_cie *cie = &how->fde.cie;

	fprintf(d->out, "  section  .eh_frame 0x%" PRIx64 "..0x%" PRIx64 ", text 0x%" PRIx64 "..0x%"
		PRIx64 "\n", s->eh_frame, s->eh_frame_end, s->text_start, s->text_end);
	if (how->found.by_table)
		fprintf(d->out, "  header   0x%" PRIx64 ": entry %" PRIu64 " of %" PRIu64 ", %" PRIu64
			" probes\n", s->hdr, how->found.index, s->nr_fdes, how->found.steps);
	else
		fprintf(d->out, "  header   no search table: %" PRIu64 " records scanned\n",
			how->found.steps);
	if (how->fde.addr)
		fprintf(d->out, "  FDE      0x%" PRIx64 ", pc 0x%" PRIx64 "..0x%" PRIx64 "\n",
			how->fde.addr, how->fde.start, how->fde.range_end);
	if (how->fde.addr && cie->addr)
		fprintf(d->out, "  CIE      0x%" PRIx64 ", version %u, factors %" PRIu64 " and %"
			PRId64 ", ra column %u, encoding 0x%02x%s\n", cie->addr, cie->version,
			cie->code_align, cie->data_align, cie->ra_reg, cie->fde_enc,
			cie->flags & EHF_CIE_SIGNAL ? ", signal" : "");
	fprintf(d->out, "  cost     %" PRIu64 " instructions, %" PRIu64 " reads, %" PRIu64
		" bytes\n", how->cost.insns, how->cost.reads, how->cost.bytes);
}

/**
 * dump_row_one() - find the row of one address, and print it with how it was found
 * @d: the file, where to
 * @pc: the address, as it is shown
 * @lookup: what is looked up: @pc, or @pc - 1 for a return address
 */
void dump_row_one(const struct dump *d, u64 pc, u64 lookup)
{
	const struct image *img = d->img;
	struct dump_found how = { 0 };
	const struct ehf_ctx ctx = {
		.mem = img->copying, .abi = &img->arch->abi,
		.limits = &ehf_limits_file, .cost = &how.cost,
	};
	struct ehf_row row = { 0 };
	enum ehf_stop stop;
	char name[16];
	struct rules r;
	bool any;

	stop = ehf_fde_find(&ctx, &img->section, lookup, &how.fde, &how.found);
	any = !stop;
	if (any) {
		ehf_row_eval(&ctx, &how.fde, lookup, &row);
		stop = row.stop;
	} else if (stop == EHF_STOP_NO_FDE) {
		how.fde.addr = 0; /* the one that a search came to describes another range */
	}
	if (d->json) {
		if (stop)
			dump_no_row_json(d, pc, stop, any ? &row : NULL, &how);
		else
			dump_row_json(d, pc, &how.fde, &row, &how);
		return;
	}
	fprintf(d->out, "0x%" PRIx64, pc);
	dump_symbol(d, pc);
	if (lookup != pc)
		fprintf(d->out, "  looked up as 0x%" PRIx64, lookup);
	putc('\n', d->out);
	if (any)
		fprintf(d->out, "  row      0x%" PRIx64 "..0x%" PRIx64 "\n", row.start, row.end);
	if (stop) {
		fprintf(d->out, "  no row   %s (%s): %s\n", ehf_stop_name(stop),
			ehf_class_name(ehf_stop_class(stop)), ehf_stop_text(stop));
	} else {
		get_rules(d, &how.fde, &row, &r);
		fprintf(d->out, "  CFA      %s\n", r.cfa);
		reg_name(d, img->arch->abi.reg_fp, name, sizeof(name));
		fprintf(d->out, "  %-8s %s\n  ra       %s\n", name, r.reg[EHF_FP], r.reg[EHF_RA]);
		if (r.has_sp || row.flags) {
			fprintf(d->out, "  flags    ");
			put_flags(d, &row, &r, "");
			putc('\n', d->out);
		}
	}
	put_found(d, &how);
}
