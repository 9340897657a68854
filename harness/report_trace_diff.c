// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Lists two traces that part, for a person who has to find out which one is right.
 */
#include "harness/report_trace_diff.h"

#include <inttypes.h>
#include <string.h>

#include "harness/rule_text.h"

/* Equal frames shown above the one where the traces part, and frames below it. */
#define ABOVE	5
#define BELOW	4

/* The sample's memory as a source of its own: reads that enter no trace's cost. */
struct aside {
	struct ehf_mem mem;
	struct replay *r;
};

static bool aside_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	return replay_read(((const struct aside *)(const void *)mem)->r, addr, dst, len);
}

/* "name+0x12 in /path (0x1234)", where the last is the address in the file. */
static void put_place(const struct report_trace_sample *s, struct replay *r, u64 addr, FILE *out)
{
	const struct task_range *range = task_range_at(r->maps, addr);
	const char *name;
	u64 off;

	name = s->name_at ? s->name_at(s->name_arg, addr, &off) : NULL;
	if (name)
		fprintf(out, "%s+%#" PRIx64 " ", name, off);
	if (!range)
		fprintf(out, "not mapped");
	else if (range->place)
		fprintf(out, "in %s (%#" PRIx64 ")", range->module->path,
			addr - range->place->bias);
	else
		fprintf(out, "in %s", range->module->path);
}

static void put_our_row(struct replay *r, u64 addr, FILE *out)
{
	static char text[RULE_TEXT_MAX];
	static const struct {
		enum ehf_tracked reg;
		const char *name;
	} regs[] = { { EHF_RA, "RA" }, { EHF_FP, "FP" }, { EHF_SP, "SP" } };
	struct aside aside = { .mem = { .read = aside_read }, .r = r };
	struct ehf_cost cost = { 0 };
	const struct ehf_ctx ctx = { .mem = &aside.mem, .abi = &r->arch->abi,
				     .limits = &ehf_limits_file, .cost = &cost };
	const struct ehu_range *range = ehu_map_find(task_text(r->maps), addr);
	struct ehf_row row = { 0 };
	struct ehf_found found;
	struct ehf_fde fde;
	enum ehf_stop stop;
	u32 k;

	if (!range || !range->section) {
		fprintf(out, "no section");
		return;
	}
	stop = ehf_fde_find(&ctx, range->section, addr, &fde, &found);
	if (stop) {
		fprintf(out, "%s", ehf_stop_name(stop));
		return;
	}
	ehf_row_eval(&ctx, &fde, addr, &row);
	rule_text_cfa(text, sizeof(text), r->arch, &aside.mem, &fde, &row);
	fprintf(out, "CFA=%s", text);
	for (k = 0; k < EHF_ARRAY_SIZE(regs); k++) {
		rule_text_reg(text, sizeof(text), r->arch, &aside.mem, &fde, &row, regs[k].reg);
		fprintf(out, " %s=%s", regs[k].name, text);
	}
	if (row.flags & EHF_ROW_SIGNAL)
		fprintf(out, " sig");
	if (row.stop)
		fprintf(out, " stop=%s", ehf_stop_name(row.stop));
}

static void put_frame(const struct report_trace_sample *s, u32 k, struct replay *r, FILE *out)
{
	const struct ehu_entry *a = k < s->ours->nr ? &s->ours->entry[k] : NULL;
	const struct compare_frame *b = k < s->oracle->nr ? &s->oracle->frame[k] : NULL;
	u64 shown = a ? a->ip : b->pc;
	bool exact = a ? a->flags & EHU_ENTRY_EXACT : b->exact;

	fprintf(out, "  %c%3u", k == s->result->at ? '>' : ' ', k);
	if (a)
		fprintf(out, "  %#14" PRIx64 " %#14" PRIx64 " %#14" PRIx64, a->ip, a->sp, a->fp);
	else
		fprintf(out, "  %14s %14s %14s", "-", "", "");
	if (b)
		fprintf(out, " | %#14" PRIx64 " %#14" PRIx64 " %#14" PRIx64 " %-8s", b->pc, b->sp,
			b->fp, compare_via_name(b->via));
	else
		fprintf(out, " | %14s %14s %14s %8s", "-", "", "", "");
	fprintf(out, "  ");
	put_place(s, r, exact ? shown : shown - 1, out);
	fputc('\n', out);
}

/**
 * report_trace_diff() - list a sample whose traces part
 * @s: the sample, with both traces and their comparison
 * @number: of the sample, counted from 1
 * @r: its memory and maps
 * @oracle: libdw's session
 * @out: where to
 */
void report_trace_diff(const struct report_trace_sample *s, u64 number, struct replay *r,
		       struct oracle_frames *oracle, FILE *out)
{
	u32 at = s->result->at, most = s->ours->nr > s->oracle->nr ? s->ours->nr : s->oracle->nr;
	u32 first = at > ABOVE ? at - ABOVE : 0, k;
	char text[512];

	fprintf(out, "\nSample %" PRIu64 ", pid %u, tid %u, %s, time %" PRIu64 ": %s", number,
		s->rec->pid, s->rec->tid, s->task->comm, s->rec->time,
		compare_outcome_name(s->result->outcome));
	if (s->result->field)
		fprintf(out, ", %s of frame %u", compare_field_name(s->result->field), at);
	else
		fprintf(out, " from frame %u on", at);
	fprintf(out, "\n     #  %14s %14s %14s | %14s %14s %14s\n", "our pc", "sp", "fp",
		"libdw's pc", "sp", "fp");
	if (first)
		fprintf(out, "        %u equal frames\n", first);
	for (k = first; k < most && k <= at + BELOW; k++)
		put_frame(s, k, r, out);
	if (k < most)
		fprintf(out, "        %u more on one side or both\n", most - k);
	fprintf(out, "  ours ends: %s (%s)", ehf_stop_name(s->ours->stop),
		ehf_stop_text(s->ours->stop));
	if (s->cost->missed && ehf_stop_class(s->ours->stop) == EHF_CLASS_FAULT)
		fprintf(out, " at %#" PRIx64 ": %s", s->cost->missed_addr,
			replay_source_name(s->cost->missed_from));
	fprintf(out, "\n  libdw ends: %s\n", oracle_frames_error(oracle)[0] ?
		oracle_frames_error(oracle) : s->oracle->full ? "not yet" : "outermost");
	if (at) {
		const struct ehu_entry *e = &s->ours->entry[at - 1];
		u64 addr = e->flags & EHU_ENTRY_EXACT ? e->ip : e->ip - 1;

		fprintf(out, "  rows at frame %u, %#" PRIx64 " ", at - 1, addr);
		put_place(s, r, addr, out);
		fprintf(out, "\n    ours:  ");
		put_our_row(r, addr, out);
		oracle_frames_row(oracle, addr, text, sizeof(text));
		fprintf(out, "\n    libdw: %s\n", text);
	}
}
