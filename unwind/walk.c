// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk: steps until something stops it.
 */
#include "unwind/walk.h"

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
	struct ehu_near near;
	bool has_sp;

	trace->nr = 0;
	trace->stop = EHF_STOP_NONE;
	trace->cost = (struct ehf_cost){ 0 };
	if (!trace->max)
		return -EINVAL;
	has_sp = ehu_user_start(u, regs, &state);
	ehu_near_init(&near);
	state.near = &near;
	ehu_entry_fill(&trace->entry[trace->nr++], &state);
	if (!has_sp) {
		trace->stop = EHF_STOP_CFA_REG;
		return 0;
	}
	for (;;) {
		trace->nr += ehu_user_run(u, &state, trace->entry + trace->nr,
					  trace->max - trace->nr, &trace->cost, &trace->stop);
		if (trace->stop)
			return 0;
		trace->stop = ehu_user_step(u, &state, &trace->cost);
		if (trace->stop)
			return 0;
		if (trace->nr == trace->max) {
			trace->stop = EHF_STOP_TRACE_FULL;
			return 0;
		}
		ehu_entry_fill(&trace->entry[trace->nr++], &state);
	}
}
