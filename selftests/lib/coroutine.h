/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Functions that take turns in one thread. Under KUnit another header has this name
 * (selftests/kunit/selftests/lib/), where each coroutine is a kernel thread.
 */
#ifndef SELFTESTS_LIB_COROUTINE_H
#define SELFTESTS_LIB_COROUTINE_H

#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>

#define CO_STACK (256 * 1024)

/* One that was not started stands for whoever switches from it. */
struct coroutine {
	struct coroutine *(*fn)(void);
	ucontext_t ctx;
	char *stack;
};

/* Set before each switch: who it is that begins or goes on. */
static struct coroutine *co_now;

static inline void co_main(void)
{
	co_now = co_now->fn();
	setcontext(&co_now->ctx);
}

/*
 * @fn begins when somebody switches to @c for the first time; what it returns goes on after it. To
 * be called again only when @fn has returned. Returns false where there is no memory.
 */
static inline bool co_start(struct coroutine *c, struct coroutine *(*fn)(void))
{
	if (!c->stack)
		c->stack = malloc(CO_STACK);
	if (!c->stack || getcontext(&c->ctx))
		return false;
	c->fn = fn;
	c->ctx.uc_stack.ss_sp = c->stack;
	c->ctx.uc_stack.ss_size = CO_STACK;
	c->ctx.uc_link = NULL;
	makecontext(&c->ctx, co_main, 0);
	return true;
}

/* @from is the one that runs; this returns when somebody switches to it. */
static inline void co_switch(struct coroutine *from, struct coroutine *to)
{
	co_now = to;
	swapcontext(&from->ctx, &to->ctx);
}

/* One that was never started, or whose function has returned. */
static inline void co_free(struct coroutine *c)
{
	free(c->stack);
	c->stack = NULL;
}

#endif /* SELFTESTS_LIB_COROUTINE_H */
