// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Requests, cookies and callbacks: a state machine over one word a task, with
 * compare-and-exchange and no lock of its own.
 *
 * The word (struct ehu_task_info.mask) goes 0 -> PENDING and bits -> USED and bits -> 0. Whoever
 * changes it does so in one operation, so an NMI between any two instructions finds a state that
 * it can go on from; selftests/core_deferred.c tries all of them.
 */
#include "unwind/deferred.h"

#include "unwind/atomic.h"

#define REQUESTERS	(~(EHU_PENDING | EHU_USED))

_Static_assert(sizeof(struct ehu_cache) <= 16384, "a cache fits in four pages");

/**
 * ehu_deferred_setup() - begin with no requester
 * @d: filled in
 * @ops: what the caller provides; must outlive @d
 */
void ehu_deferred_setup(struct ehu_deferred *d, const struct ehu_deferred_ops *ops)
{
	*d = (struct ehu_deferred){ .ops = ops };
}

/**
 * ehu_deferred_init() - become a requester
 * @d: the machine
 * @work: filled in; belongs to @d until ehu_deferred_cancel()
 * @func: called for each trace
 *
 * Return: 0, or -EBUSY where EHU_MAX_WORKS others are there already.
 */
int ehu_deferred_init(struct ehu_deferred *d, struct ehu_work *work, ehu_callback_t func)
{
	int ret = -EBUSY;
	u32 bit;

	work->func = func;
	work->bit = -1;
	d->ops->lock(d);
	for (bit = 0; bit < EHU_MAX_WORKS; bit++) {
		if (d->used >> bit & 1)
			continue;
		d->used |= 1UL << bit;
		ehu_store(&work->bit, (int)bit);
		ehu_store(&d->work[bit], work);
		ret = 0;
		break;
	}
	d->ops->unlock(d);
	return ret;
}

/* Both words: the next owner of the bit has asked for nothing and was told nothing. */
static void forget(struct ehu_task_info *info, void *arg)
{
	unsigned long bit = *(const unsigned long *)arg;

	ehu_fetch_and(&info->mask, ~bit);
	ehu_fetch_and(&info->done, ~bit);
}

/**
 * ehu_deferred_cancel() - stop being a requester
 * @d: the machine
 * @work: what ehu_deferred_init() filled in; one that has no bit is left alone
 *
 * A request that runs at the same time is either done before this returns or refused. When this
 * has returned the callback is not running and will not be called, and the bit, which the next
 * requester may get, is set in no task. May sleep. Not from a callback.
 */
void ehu_deferred_cancel(struct ehu_deferred *d, struct ehu_work *work)
{
	unsigned long mask;
	int bit;

	d->ops->lock(d);
	bit = ehu_load(&work->bit);
	if (bit >= 0) {
		mask = 1UL << bit;
		ehu_store(&work->bit, -1);
		ehu_store(&d->work[bit], NULL);
		/* Requests that saw the bit and callbacks that saw the work end here. */
		d->ops->synchronize(d);
		d->ops->for_each_task(d, forget, &mask);
		d->used &= ~mask;
	}
	d->ops->unlock(d);
}

static u64 read_cookie(const struct ehu_task_info *info)
{
	u64 cnt = ehu_load(&info->cnt);

	return cnt << 32 | ehu_load(&info->cpu);
}

/*
 * Sets the bit and PENDING and, where this is the first request of an entry context, the cookie.
 *
 * The cookie is written before the word makes it valid. Another request may come in as an NMI
 * between the two and write one as well; since the counter is read before the word and moved
 * only after it has changed, both write the same.
 */
static int claim(struct ehu_deferred *d, struct ehu_task_info *info, unsigned long bit, u64 *cookie)
{
	u32 cpu = d->ops->cpu(d);
	u32 *counter = d->ops->counter(d, cpu);
	unsigned long old;
	u32 cnt;

	do {
		cnt = (ehu_load(counter) + 2) | 1;
		old = ehu_load(&info->mask);
		if (old & bit)
			break;
		if (!old) {
			ehu_store(&info->cnt, cnt);
			ehu_store(&info->cpu, cpu + 1);
		}
	} while (!ehu_cas(&info->mask, &old, old | bit | EHU_PENDING));
	if (!old)
		ehu_store(counter, cnt);
	*cookie = read_cookie(info);
	if (old & bit)
		return 1;
	if (!(old & EHU_PENDING))
		d->ops->schedule(d, info);
	return 0;
}

/**
 * ehu_deferred_request() - ask for the current task's user stack
 * @d: the machine
 * @info: the current task
 * @work: the requester
 * @cookie: set to the number that the callback will get with the trace; 0 on error
 *
 * May be called in an NMI, also in one that interrupts another request, the work, or any other
 * function of this file. From the call to the return the task stays on its CPU and does not
 * enter user space (a kernel has interrupts off). Touches no user memory and takes no lock.
 *
 * All requests between two returns to user space get the same cookie. It is unique until a CPU
 * has made 2^31 of them.
 *
 * Return: 0 if the callback was queued by this; 1 if it is queued, or has already run, in this
 * entry context; -EINVAL for a kernel thread, an exiting task, a requester that was cancelled,
 * or in an NMI on a machine where that is not safe.
 */
int ehu_deferred_request(struct ehu_deferred *d, struct ehu_task_info *info,
			 struct ehu_work *work, u64 *cookie)
{
	const struct ehu_deferred_ops *ops = d->ops;
	int bit, ret = -EINVAL;
	u32 key;

	*cookie = 0;
	if (ehu_load(&info->flags))
		return -EINVAL;
	if (!ops->nmi_safe && ops->in_nmi(d))
		return -EINVAL;
	key = ops->read_lock(d);
	bit = ehu_load(&work->bit);
	if (bit >= 0)
		ret = claim(d, info, 1UL << bit, cookie);
	ops->read_unlock(d, key);
	return ret;
}

static const struct ehu_trace *get_trace(struct ehu_deferred *d, struct ehu_task_info *info,
					 struct ehu_trace *none)
{
	struct ehu_trace *trace;

	if (!info->cache && d->ops->cache)
		info->cache = d->ops->cache(d, info);
	if (!info->cache)
		return none;
	trace = &info->cache->trace;
	if (!info->walked) {
		*trace = (struct ehu_trace){ .entry = info->cache->entry, .max = EHU_MAX_ENTRIES };
		d->ops->walk(d, info, trace);
		info->walked = true;
	}
	return trace;
}

/*
 * The work is looked up before the mask: once the bit has a new owner, cancel has cleared it in
 * this task, so what is set then was asked for by the one that is called. Bits that are not in
 * @bits yet come with PENDING, so with another call of ehu_deferred_work().
 */
static void call_back(struct ehu_deferred *d, struct ehu_task_info *info, unsigned long bits,
		      const struct ehu_trace *trace, u64 cookie)
{
	u32 key = d->ops->read_lock(d);
	u32 k;

	for (k = 0; k < EHU_MAX_WORKS; k++) {
		unsigned long bit = 1UL << k;
		struct ehu_work *work;

		if (!(bits & bit))
			continue;
		work = ehu_load(&d->work[k]);
		if (!work || !(ehu_load(&info->mask) & bit) || ehu_load(&info->done) & bit)
			continue;
		ehu_fetch_or(&info->done, bit);
		work->func(work, trace, cookie);
	}
	d->ops->read_unlock(d, key);
}

/**
 * ehu_deferred_work() - walk, and call back who asked
 * @d: the machine
 * @info: the current task
 *
 * Does nothing where nothing is pending. Walks once in an entry context, however often it is
 * called there, and not at all where everyone who asked was cancelled meanwhile. A callback
 * comes also without a trace: where there is no cache it is empty, with stop TRACE_FULL.
 *
 * May sleep. Call it before the task returns to user space, and before an exec drops the mm.
 */
void ehu_deferred_work(struct ehu_deferred *d, struct ehu_task_info *info)
{
	struct ehu_trace none = { .stop = EHF_STOP_TRACE_FULL };
	const struct ehu_trace *trace;
	unsigned long bits = ehu_load(&info->mask);

	do {
		if (!(bits & EHU_PENDING))
			return;
	} while (!ehu_cas(&info->mask, &bits, (bits & ~EHU_PENDING) | EHU_USED));
	bits &= REQUESTERS & ~ehu_load(&info->done);
	if (!bits)
		return;
	trace = get_trace(d, info, &none);
	call_back(d, info, bits, trace, read_cookie(info));
}

/**
 * ehu_deferred_return_to_user() - the entry context ends
 * @info: the current task, on its way out, after the last point where it may sleep
 *
 * Costs one load where nobody asked. An NMI that asks after it belongs to the next entry context:
 * its work runs there.
 *
 * Return: true when the task may go; false when something is pending: call ehu_deferred_work()
 * first, then this again.
 */
bool ehu_deferred_return_to_user(struct ehu_task_info *info)
{
	unsigned long old = ehu_load(&info->mask);

	if (!old)
		return true;
	do {
		if (old & EHU_PENDING)
			return false;
	} while (!ehu_cas(&info->mask, &old, 0UL));
	/* From here on a request opens a new context; its work cannot run before this ends. */
	ehu_store(&info->done, 0UL);
	info->walked = false;
	if (info->cache)
		info->cache->trace.nr = 0;
	return !(ehu_load(&info->mask) & EHU_PENDING);
}

/**
 * ehu_deferred_task_exit() - the task exits; its mm is still there
 * @d: the machine
 * @info: the current task
 *
 * Requests are refused from here on. What is pending is done now. The cache is the caller's to
 * free once this has returned and cancel can no longer meet the task.
 */
void ehu_deferred_task_exit(struct ehu_deferred *d, struct ehu_task_info *info)
{
	ehu_fetch_or(&info->flags, (u32)EHU_TASK_EXITING);
	if (!(ehu_load(&info->mask) & EHU_PENDING))
		return;
	ehu_deferred_work(d, info);
	if (d->ops->unschedule)
		d->ops->unschedule(d, info);
}

/**
 * ehu_deferred_task_init() - a new task; a forked one, too, starts empty
 * @info: filled in; may be a copy of its parent's, of which nothing is kept
 * @flags: EHU_TASK_KERNEL or 0
 */
void ehu_deferred_task_init(struct ehu_task_info *info, u32 flags)
{
	*info = (struct ehu_task_info){ .flags = flags };
}
