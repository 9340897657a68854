// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Makes mapping records and samples of a core dump's threads, for the way that samples go.
 */
#include "harness/core_run.h"

#include "harness/core_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The bytes from the stack pointer up that a sample has; what lies beyond is read from the core. */
#define WINDOW	(1U << 20)

struct feed {
	const struct core_run_opts *opts;
	struct check_run_samples *samples;
};

static int on_record(void *arg, const struct perf_event_rec *rec)
{
	struct feed *f = arg;

	return check_run_samples_record(f->samples, rec);
}

static void on_note(void *arg, const char *text)
{
	struct feed *f = arg;

	f->opts->note(f->opts->arg, text);
}

/**
 * core_run_params() - where the modules of a core are found
 * @core: the core; must outlive the module table
 * @opts: what else is known
 * @params: filled in
 *
 * The vDSO is the core's own, or none: this kernel's would be another one.
 */
void core_run_params(const struct core *core, const struct core_run_opts *opts,
		     struct module_params *params)
{
	const struct core_segment *s = core->vdso ? core_segment_at(core, core->vdso) : NULL;
	u64 avail = 0;

	*params = (struct module_params){
		.symfs = opts->symfs, .no_vdso = true, .exe_path = opts->exe,
		.exe = core->nr_files ? core_maps_exe(core) : opts->exe,
	};
	if (!s)
		return;
	params->vdso = core_at(core, core->vdso, &avail);
	params->vdso_size = avail;
}

static u32 sample_reg(const struct ehu_arch *arch, u32 bit)
{
	for (u32 k = 0; k < arch->nr_sample; k++) {
		if (arch->sample[k].bit == bit)
			return arch->sample[k].reg;
	}
	return EHU_NR_REGS;
}

/* The registers in perf's order, as a sample has them. */
static void put_regs(const struct ehu_arch *arch, const struct ehu_regs *regs,
		     struct perf_rec_sample *s)
{
	for (u32 bit = 0; bit < PERF_ABI_MAX_REGS; bit++) {
		u32 reg = sample_reg(arch, bit);

		if (reg == EHU_SAMPLE_IP)
			s->regs[s->nr_regs++] = regs->ip;
		else if (reg < EHU_NR_REGS && regs->known >> reg & 1)
			s->regs[s->nr_regs++] = regs->reg[reg];
		else
			continue;
		s->regs_mask |= 1ULL << bit;
	}
}

static int walk_thread(const struct core *c, const struct core_thread *t, u32 pid, struct feed *f)
{
	static const struct perf_decode_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	};
	static struct perf_event_rec rec;	/* its registers are many */
	u64 avail = 0;
	const u8 *stack = core_at(c, t->regs.reg[c->arch->abi.reg_sp], &avail);

	rec = (struct perf_event_rec){
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .attr = &attr,
		.has = PERF_SAMPLE_TID, .pid = pid, .tid = t->tid,
	};
	rec.sample.ip = t->regs.ip;
	rec.sample.abi = c->arch->abi.word_size == 4 ? PERF_SAMPLE_REGS_ABI_32 :
						       PERF_SAMPLE_REGS_ABI_64;
	put_regs(c->arch, &t->regs, &rec.sample);
	rec.sample.stack = stack;
	rec.sample.dyn_size = rec.sample.stack_size = !stack ? 0 : avail < WINDOW ? (u32)avail : WINDOW;
	f->samples->replay.ra_mask = t->ra_mask;
	return check_run_samples_record(f->samples, &rec);
}

static void tell_core(const struct core *c, const struct feed *f)
{
	char text[200];
	bool masks = true;

	if (c->missing) {
		snprintf(text, sizeof(text), "the core is truncated: %" PRIu64
			 " bytes that it announces are not in it", c->missing);
		f->opts->note(f->opts->arg, text);
	}
	if (c->dropped) {
		snprintf(text, sizeof(text), "%" PRIu64
			 " parts of the core contradict themselves or are too many", c->dropped);
		f->opts->note(f->opts->arg, text);
	}
	for (u32 k = 0; k < c->nr_threads; k++)
		masks = masks && c->thread[k].ra_mask;
	if (c->arch->va_bits && !masks) {
		snprintf(text, sizeof(text),
			 "no NT_ARM_PAC_MASK: return addresses are taken to have %u bits",
			 c->arch->va_bits);
		f->opts->note(f->opts->arg, text);
	}
}

/**
 * core_run() - walk and compare all threads of a core
 * @core: the core; must outlive @samples
 * @opts: what else is known
 * @samples: a run without records yet, set up with core_run_params()
 *
 * Return: 0, or -ENOMEM.
 */
int core_run(const struct core *core, const struct core_run_opts *opts,
	     struct check_run_samples *samples)
{
	struct feed f = { opts, samples };
	const u32 pid = core->thread[0].tid;
	const struct core_maps_opts maps = {
		.exe = opts->exe, .symfs = opts->symfs, .pid = pid,
		.record = on_record, .note = on_note, .arg = &f,
	};
	int rc;

	tell_core(core, &f);
	samples->replay.core = core;
	rc = core_maps_tell(core, &maps);
	for (u32 k = 0; k < core->nr_threads && !rc; k++)
		rc = walk_thread(core, &core->thread[k], pid, &f);
	return rc;
}
