/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stacks as perf script -F comm,pid,time,ip,sym writes them.
 */
#ifndef HARNESS_REPORT_STACK_H
#define HARNESS_REPORT_STACK_H

#include "ehframe/base.h"

#include <stdio.h>

/**
 * struct report_stack - the text of a stack under construction
 * @out: where to
 * @used: bytes of @text
 * @text: what is not written yet
 */
struct report_stack {
	FILE *out;
	size_t used;
	char text[65536];
};

void report_stack_begin(struct report_stack *s, const char *comm, u32 pid, u64 time);
void report_stack_frame(struct report_stack *s, u64 ip);
void report_stack_named(struct report_stack *s, u64 ip, const char *name, bool inlined);
void report_stack_end(struct report_stack *s);
void report_stack_flush(struct report_stack *s);

#endif /* HARNESS_REPORT_STACK_H */
