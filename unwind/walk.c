// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk: steps until something stops it.
 */
#include "unwind/walk.h"

static void store(struct ehu_trace *trace, const struct ehu_user_state *f)
{
	struct ehu_entry *e = &trace->entry[trace->nr++];

	e->ip = f->ip;
	e->sp = f->sp;
	e->fp = f->fp_known ? f->fp : 0;
	e->via = (u8)f->via;
	e->flags = (u8)((f->fp_known ? EHU_ENTRY_FP_KNOWN : 0) | (f->exact ? EHU_ENTRY_EXACT : 0));
}

/**
 * ehu_walk() - walk a user stack
 * @u: machine, memory, sections, limits
 * @regs: registers of the topmost frame
 * @trace: @entry and @max are given, the rest is filled in
 *
 * Entry n is stored before step n, so that a pc which leads nowhere is seen. Terminates: outside
 * signal frames SP grows with each frame, and @trace->max bounds the rest.
 *
 * Return: 0 with @trace->stop set; -EINVAL where @trace->max is 0.
 */
int ehu_walk(const struct ehu_unwind *u, const struct ehu_regs *regs, struct ehu_trace *trace)
{
	struct ehu_user_state state;
	bool has_sp;

	trace->nr = 0;
	trace->stop = EHF_STOP_NONE;
	trace->cost = (struct ehf_cost){ 0 };
	if (!trace->max)
		return -EINVAL;
	has_sp = ehu_user_start(u, regs, &state);
	store(trace, &state);
	if (!has_sp) {
		trace->stop = EHF_STOP_CFA_REG;
		return 0;
	}
	for (;;) {
		trace->stop = ehu_user_next(u, &state, &trace->cost);
		if (trace->stop)
			return 0;
		if (trace->nr == trace->max) {
			trace->stop = EHF_STOP_TRACE_FULL;
			return 0;
		}
		store(trace, &state);
	}
}
