/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A whole stack: frames into an array of the caller, and exactly one reason why it ends.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "unwind/user.h"

/**
 * struct ehu_trace - a trace
 * @entry: storage of the caller, topmost frame first
 * @max: entries that it has room for
 * @nr: entries in use
 * @stop: why it ends; never EHF_STOP_NONE after a walk
 * @cost: what it took
 */
struct ehu_trace {
	struct ehu_entry *entry;
	u32 max;
	u32 nr;
	enum ehf_stop stop;
	struct ehf_cost cost;
};

int ehu_walk(const struct ehu_unwind *u, const struct ehu_regs *regs, struct ehu_trace *trace);

#endif /* UNWIND_WALK_H */
