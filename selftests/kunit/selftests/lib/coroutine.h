/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The functions of selftests/lib/coroutine.h in a kernel: threads of which one runs at a time
 * (selftests/kunit/coroutine.c). No header of the kernel: its macros have names that tests use.
 */
#ifndef SELFTESTS_LIB_COROUTINE_H
#define SELFTESTS_LIB_COROUTINE_H

#include "ehframe/base.h"

struct completion;
struct task_struct;

struct coroutine {
	struct coroutine *(*fn)(void);	/* NULL: the thread is to end */
	struct task_struct *thread;	/* it outlives @fn, for the next one */
	struct completion *turn;
};

bool co_start(struct coroutine *c, struct coroutine *(*fn)(void));
void co_switch(struct coroutine *from, struct coroutine *to);
void co_free(struct coroutine *c);

#endif /* SELFTESTS_LIB_COROUTINE_H */
