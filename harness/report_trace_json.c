// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Traces and the figures of a run as JSON lines.
 */
#include "harness/report_trace.h"

#include "harness/json.h"
#include "harness/module_cover.h"

static const char *const via_names[EHU_NR_VIA] = {
	[EHU_VIA_REGS] = "regs",
	[EHU_VIA_EH_FRAME] = "eh-frame",
	[EHU_VIA_SIGNAL_CODE] = "signal-code",
	[EHU_VIA_FP] = "fp",
};

/* A quotient; the name is a plain word. */
static void put_ratio(struct json *j, const char *key, u64 a, u64 b)
{
	fprintf(j->out, "%s\"%s\":%.3f", j->comma ? "," : "", key, b ? (double)a / (double)b : 0.0);
	j->comma = true;
}

static void put_ours(struct json *j, const struct report_trace_sample *s)
{
	const struct ehu_trace *t = s->ours;
	u32 k;

	json_open_list(j, "frames");
	for (k = 0; k < t->nr; k++) {
		const struct ehu_entry *e = &t->entry[k];

		json_open(j, NULL);
		json_addr(j, "pc", e->ip);
		json_addr(j, "sp", e->sp);
		if (e->flags & EHU_ENTRY_FP_KNOWN)
			json_addr(j, "fp", e->fp);
		json_text(j, "via", e->via < EHU_NR_VIA ? via_names[e->via] : "?");
		if (s->name)
			s->name(s->name_arg, j, e);
		json_close(j);
	}
	json_close_list(j);
	json_text(j, "stop", ehf_stop_name(t->stop));
	json_text(j, "class", ehf_class_name(ehf_stop_class(t->stop)));
}

static void put_oracle(struct json *j, const struct compare_oracle *o)
{
	u32 k;

	json_open_list(j, "oracle");
	for (k = 0; k < o->nr; k++) {
		const struct compare_frame *f = &o->frame[k];

		json_open(j, NULL);
		json_addr(j, "pc", f->pc);
		if (f->sp_known)
			json_addr(j, "sp", f->sp);
		if (f->fp_known)
			json_addr(j, "fp", f->fp);
		json_text(j, "via", compare_via_name(f->via));
		json_close(j);
	}
	json_close_list(j);
}

/**
 * report_trace_json_sample() - one object for one sample
 * @s: the sample; traces and result are NULL where it is untestable
 * @out: where to
 *
 * libdw's frames are there where they are not ours.
 */
void report_trace_json_sample(const struct report_trace_sample *s, FILE *out)
{
	struct json j;

	json_begin(&j, out, "trace");
	json_number(&j, "pid", s->rec->pid);
	json_number(&j, "tid", s->rec->tid);
	json_number(&j, "time", s->rec->time);
	json_text(&j, "comm", s->task ? s->task->comm : "");
	if (s->untestable) {
		json_text(&j, "outcome", compare_outcome_name(COMPARE_UNTESTABLE));
		json_text(&j, "why", s->untestable);
		json_text(&j, "text", s->untestable_text);
		json_end(&j);
		return;
	}
	json_text(&j, "outcome", compare_outcome_name(s->result->outcome));
	if (s->result->outcome == COMPARE_OURS_SHORTER || s->result->outcome == COMPARE_OURS_LONGER)
		json_bool(&j, "explained", s->result->explained);
	if (s->result->outcome == COMPARE_DIFFERENT)
		json_text(&j, "differs", compare_field_name(s->result->field));
	if (s->chain)
		json_text(&j, "libgcc", s->chain->equal ? "equal" : s->chain->failed ? "different" :
					"cut");
	if (s->records)
		json_text(&j, "frame_records", s->records->differs ? "different" :
					       s->records->astray ? "astray" :
					       s->records->whole ? "to-the-end" : "in-part");
	put_ours(&j, s);
	json_number(&j, "reads", s->cost->reads);
	json_number(&j, "read_bytes", s->cost->bytes);
	json_number(&j, "pages", s->cost->pages);
	json_number(&j, "frames_oracle", s->result->nr_oracle);
	json_number(&j, "oracle_guessed_frames", s->result->cut);
	if (s->result->outcome > COMPARE_NEITHER) {
		json_number(&j, "at", s->result->at);
		put_oracle(&j, s->oracle);
	}
	json_end(&j);
}

static void put_cover(struct json *j, const struct module_cover *cover)
{
	json_number(j, "code_bytes", cover->exec);
	json_number(j, "fde_bytes", cover->fde);
	json_number(j, "supported_bytes", cover->supported);
	if (cover->why)
		json_text(j, "cover_why", cover->why);
}

static void put_modules(const struct report_trace_context *c, FILE *out)
{
	struct json j;
	struct module *m;

	for (m = module_first(c->modules); m; m = m->next) {
		json_begin(&j, out, "module");
		json_text(&j, "path", m->path);
		json_text(&j, "status", module_status_name(m->status));
		json_text(&j, "identity", module_identity_name(m->identity));
		json_number(&j, "frames", m->frames);
		if (m->why[0])
			json_text(&j, "why", m->why);
		if (m->has_debug_frame)
			json_bool(&j, "debug_frame_ignored", true);
		if (m->corrupt)
			json_text(&j, "corrupt", ehf_stop_name(m->corrupt_stop));
		if (c->cover && m->frames && module_usable(m))
			put_cover(&j, module_cover_read(m));
		json_end(&j);
	}
}

static void put_details(const struct report_trace *f, const struct report_trace_context *c,
			FILE *out)
{
	struct json j;
	char verdict[256];
	u32 k;

	report_trace_verdict(f, verdict, sizeof(verdict));
	json_begin(&j, out, "trace-details");
	json_text(&j, "verdict", verdict);
	json_open(&j, "untestable");
	for (k = 1; k < REPLAY_NR_UNTESTABLES; k++)
		if (f->untestable[k])
			json_number(&j, replay_untestable_name(k), f->untestable[k]);
	if (f->no_oracle)
		json_number(&j, "no-oracle", f->no_oracle);
	json_close(&j);
	json_open(&j, "via");
	for (k = 0; k < EHU_NR_VIA; k++)
		json_number(&j, via_names[k], f->via[k]);
	json_close(&j);
	json_open(&j, "memory_stops");
	for (k = 0; k < REPLAY_NR_SOURCES; k++)
		if (f->stop_memory[k])
			json_number(&j, replay_source_name(k), f->stop_memory[k]);
	json_close(&j);
	json_open(&j, "oracle_faults");
	for (k = COMPARE_FAULT_NONE + 1; k < COMPARE_NR_FAULTS; k++)
		if (f->fault[k])
			json_number(&j, compare_fault_name(k), f->fault[k]);
	json_close(&j);
	if (f->chains) {
		json_open(&j, "libgcc");
		json_number(&j, "traces", f->chains);
		json_number(&j, "equal", f->chain_equal);
		json_number(&j, "different", f->chain_bad);
		json_number(&j, "no_header", f->chain_blind);
		json_number(&j, "beyond_libdw", f->chain_spoke);
		json_close(&j);
	}
	if (f->records) {
		json_open(&j, "frame_records");
		json_number(&j, "traces", f->records);
		json_number(&j, "complete", f->records_complete);
		json_number(&j, "to_the_end", f->records_whole);
		json_number(&j, "different", f->records_differ);
		json_number(&j, "astray", f->records_astray);
		json_number(&j, "frames", f->records_beyond);
		json_number(&j, "named", f->records_named);
		json_close(&j);
	}
	json_number(&j, "oracle_debug_frames", f->debug_frame);
	json_number(&j, "kernel_regs", f->kernel_regs);
	json_number(&j, "deepest", f->deepest);
	json_text(&j, "pager", pager_method(c->pager));
	json_number(&j, "page_ins", pager_stats(c->pager)->page_ins);
	json_number(&j, "cache_hits", f->cache_hits);
	json_number(&j, "cache_misses", f->cache_misses);
	json_number(&j, "cache_differs", f->cache_bad);
	json_number(&j, "records_bad", f->records_bad);
	json_number(&j, "records_unknown", f->records_unknown);
	json_number(&j, "records_late", f->records_late);
	if (c->fault_reads) {
		json_number(&j, "faults_injected", f->faults);
		json_number(&j, "fault_samples", f->fault_samples);
		json_number(&j, "windows_shortened", f->cuts);
		json_number(&j, "fault_not_prefix", f->fault_bad);
	}
	json_end(&j);
}

/* Which bits of a return address are address, and who says so: the thread that dumped. */
static void put_ra_mask(struct json *j, const struct core *core)
{
	const u64 known = core->thread[0].ra_mask;

	if (!core->arch->va_bits)
		return;
	json_addr(j, "ra_mask", ehu_arch_ra_mask(core->arch, known));
	json_text(j, "ra_mask_from", known ? "NT_ARM_PAC_MASK" : "default");
}

/**
 * report_trace_json() - the lines at the end of a run
 * @f: figures
 * @c: what else is known of the run
 * @out: where to
 *
 * A line a module, one of details, and the summary last. In that samples = untestable + equal +
 * ours_shorter + ours_longer + different + neither, and complete + partial = samples - untestable
 * = the sum of stops.
 */
void report_trace_json(const struct report_trace *f, const struct report_trace_context *c,
		       FILE *out)
{
	struct json j;
	u32 k;

	put_modules(c, out);
	put_details(f, c, out);
	if (c->defer)
		defer_report_json(c->defer, out);
	if (c->merge)
		defer_merge_json(c->merge, out);
	json_begin(&j, out, "trace-summary");
	json_text(&j, "mode", c->defer ? "defer" : c->core ? "core" : "copy");
	if (c->core)
		put_ra_mask(&j, c->core);
	json_number(&j, "samples", f->samples);
	json_number(&j, "lost", f->lost);
	json_number(&j, "untestable", f->outcome[COMPARE_UNTESTABLE]);
	json_number(&j, "equal", f->outcome[COMPARE_EQUAL]);
	json_number(&j, "ours_shorter", f->outcome[COMPARE_OURS_SHORTER]);
	json_number(&j, "ours_longer", f->outcome[COMPARE_OURS_LONGER]);
	json_number(&j, "different", f->outcome[COMPARE_DIFFERENT]);
	json_number(&j, "neither", f->outcome[COMPARE_NEITHER]);
	json_number(&j, "unexplained", f->unexplained);
	json_number(&j, "complete", f->complete);
	json_number(&j, "partial", f->partial);
	json_number(&j, "frames", f->frames);
	json_number(&j, "frames_oracle", f->frames_oracle);
	json_number(&j, "oracle_guessed_frames", f->guessed);
	put_ratio(&j, "reads_per_frame", f->cost.reads, f->frames);
	put_ratio(&j, "read_bytes_per_frame", f->cost.bytes, f->frames);
	put_ratio(&j, "pages_per_trace", f->cost.pages, report_trace_testable(f));
	put_ratio(&j, "read_bytes_per_trace", f->cost.bytes, report_trace_testable(f));
	put_ratio(&j, "copied_bytes_per_sample", f->copied_bytes, report_trace_testable(f));
	json_number(&j, "cut_by_window", f->window_cut);
	json_open(&j, "stops");
	for (k = 0; k < EHF_NR_STOPS; k++)
		if (f->stop[k])
			json_number(&j, ehf_stop_name(k), f->stop[k]);
	json_close(&j);
	json_end(&j);
}
