/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Deferral: a request now, perhaps from an NMI, and the walk later, before the task returns to
 * user space. The names are those of the kernel's kernel/unwind/deferred.c with another prefix.
 */
#ifndef UNWIND_DEFERRED_H
#define UNWIND_DEFERRED_H

#include "unwind/walk.h"

/* Frames of a deferred trace. With the header they fill four pages of 4 KiB. */
#define EHU_MAX_ENTRIES	510

/* Bits of struct ehu_task_info.mask: one a requester, and two of ours. */
#define EHU_MASK_BITS	((u32)sizeof(unsigned long) * 8)
#define EHU_PENDING	(1UL << (EHU_MASK_BITS - 1))	/* the work is scheduled */
#define EHU_USED	(1UL << (EHU_MASK_BITS - 2))	/* the work ran in this entry context */

/* Requesters at a time: 62, and 30 on a 32-bit machine. */
#define EHU_MAX_WORKS	(EHU_MASK_BITS - 2)

/* struct ehu_task_info.flags */
#define EHU_TASK_KERNEL	0x01	/* a kernel thread: there is no user stack */
#define EHU_TASK_EXITING 0x02	/* its mm is about to go */

/**
 * struct ehu_cache - the trace of an entry context, shared by all who ask for one
 * @trace: the trace; its entries are @entry
 * @entry: room for them
 */
struct ehu_cache {
	struct ehu_trace trace;
	struct ehu_entry entry[EHU_MAX_ENTRIES];
};

/**
 * struct ehu_task_info - a task's part; embedded in whatever a task is to the caller
 * @mask: EHU_PENDING, EHU_USED, and the bits of those who asked in this entry context. 0 until
 *	the first request of an entry context and not again before its end: so "not 0" also says
 *	that @cnt and @cpu hold this context's cookie
 * @done: bits of those who were called back in this entry context
 * @cnt: upper half of the cookie: that CPU's count of cookies, always odd
 * @cpu: lower half of the cookie: the CPU that made it, plus 1
 * @flags: EHU_TASK_*
 * @walked: the cache holds this entry context's trace; only the task itself looks
 * @cache: storage of the caller, or NULL until ops->cache is asked
 */
struct ehu_task_info {
	unsigned long mask;
	unsigned long done;
	u32 cnt;
	u32 cpu;
	u32 flags;
	bool walked;
	struct ehu_cache *cache;
};

struct ehu_deferred;
struct ehu_work;

/*
 * Called once for each entry context in which the work was requested, in the task, in a context
 * that may sleep, inside a reader section. @trace may be empty, never NULL; it is gone when the
 * callback returns. Must not cancel a work.
 */
typedef void (*ehu_callback_t)(struct ehu_work *work, const struct ehu_trace *trace, u64 cookie);

/**
 * struct ehu_work - a requester
 * @func: its callback
 * @bit: its bit in every task's mask; below 0 where it has none
 */
struct ehu_work {
	ehu_callback_t func;
	int bit;
};

/**
 * struct ehu_deferred_ops - what the caller provides
 * @nmi_safe: compare-and-exchange works in an NMI on this machine
 * @in_nmi: whether this is one; asked only where @nmi_safe is false, may then not be NULL
 * @cpu: the CPU's number, below 2^32 - 1
 * @counter: that CPU's count of cookies; all start from 0 (or any number)
 * @schedule: see that ehu_deferred_work() is called for the task, by itself, before it returns
 *	to user space. Cannot fail: what a scheduler refuses to an exiting task,
 *	ehu_deferred_task_exit() does
 * @unschedule: optional; the work was done at exit, it need not be called any more
 * @read_lock: enter a reader section; its result is handed to @read_unlock. Sections nest
 * @read_unlock: leave it
 * @synchronize: wait until every reader section that is open now is left
 * @lock: keep others out of init and cancel; may sleep
 * @unlock: let them in
 * @for_each_task: call @fn for every task that there is. One born meanwhile may be left out,
 *	for it starts empty
 * @cache: optional; storage for a task that walks for the first time, or NULL
 * @walk: fill in @trace, whose entry and max are given, from the task's user stack; may sleep
 *
 * In an NMI @in_nmi, @cpu, @counter, @schedule, @read_lock and @read_unlock are called: they
 * take no lock. A kernel has srcu_read_lock_nmisafe(), or nothing to do for a section of RCU.
 */
struct ehu_deferred_ops {
	bool nmi_safe;
	bool (*in_nmi)(struct ehu_deferred *d);
	u32 (*cpu)(struct ehu_deferred *d);
	u32 *(*counter)(struct ehu_deferred *d, u32 cpu);
	void (*schedule)(struct ehu_deferred *d, struct ehu_task_info *info);
	void (*unschedule)(struct ehu_deferred *d, struct ehu_task_info *info);
	u32 (*read_lock)(struct ehu_deferred *d);
	void (*read_unlock)(struct ehu_deferred *d, u32 key);
	void (*synchronize)(struct ehu_deferred *d);
	void (*lock)(struct ehu_deferred *d);
	void (*unlock)(struct ehu_deferred *d);
	void (*for_each_task)(struct ehu_deferred *d,
			      void (*fn)(struct ehu_task_info *info, void *arg), void *arg);
	struct ehu_cache *(*cache)(struct ehu_deferred *d, struct ehu_task_info *info);
	void (*walk)(struct ehu_deferred *d, struct ehu_task_info *info, struct ehu_trace *trace);
};

/**
 * struct ehu_deferred - who may ask; one for a whole machine, embedded in the caller's structure
 * @ops: what the caller provides
 * @used: bits that are given out; under @ops->lock
 * @work: by bit, who has it
 */
struct ehu_deferred {
	const struct ehu_deferred_ops *ops;
	unsigned long used;
	struct ehu_work *work[EHU_MAX_WORKS];
};

void ehu_deferred_setup(struct ehu_deferred *d, const struct ehu_deferred_ops *ops);
int ehu_deferred_init(struct ehu_deferred *d, struct ehu_work *work, ehu_callback_t func);
void ehu_deferred_cancel(struct ehu_deferred *d, struct ehu_work *work);
int ehu_deferred_request(struct ehu_deferred *d, struct ehu_task_info *info,
			 struct ehu_work *work, u64 *cookie);
void ehu_deferred_work(struct ehu_deferred *d, struct ehu_task_info *info);
bool ehu_deferred_return_to_user(struct ehu_task_info *info);
void ehu_deferred_task_exit(struct ehu_deferred *d, struct ehu_task_info *info);
void ehu_deferred_task_init(struct ehu_task_info *info, u32 flags);

#endif /* UNWIND_DEFERRED_H */
