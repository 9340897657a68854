// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Coroutines of tests as kernel threads that hand each other the turn.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "selftests/lib/coroutine.h"

/* For the thread of the test itself: KUnit runs one test at a time. */
static struct completion test_turn;

static int co_thread(void *arg)
{
	struct coroutine *c = arg;

	for (;;) {
		struct coroutine *next;

		wait_for_completion(c->turn);
		if (!c->fn)
			return 0;
		next = c->fn();
		init_completion(c->turn);
		complete(next->turn);
	}
}

bool co_start(struct coroutine *c, struct coroutine *(*fn)(void))
{
	struct task_struct *thread;

	c->fn = fn;
	if (c->thread)
		return true;
	c->turn = kmalloc(sizeof(*c->turn), GFP_KERNEL);
	if (!c->turn)
		return false;
	init_completion(c->turn);
	thread = kthread_create(co_thread, c, "coroutine");
	if (IS_ERR(thread)) {
		kfree(c->turn);
		return false;
	}
	c->thread = get_task_struct(thread);
	wake_up_process(thread);
	return true;
}

void co_switch(struct coroutine *from, struct coroutine *to)
{
	if (!from->turn)
		from->turn = &test_turn;
	init_completion(from->turn);
	complete(to->turn);
	wait_for_completion(from->turn);
}

void co_free(struct coroutine *c)
{
	if (!c->thread)
		return;
	c->fn = NULL;
	complete(c->turn);
	kthread_stop(c->thread);
	put_task_struct(c->thread);
	kfree(c->turn);
	*c = (struct coroutine){ .fn = NULL };
}
