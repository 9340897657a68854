/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the module's files share: counters, the state of an mm and of a thread.
 */
#ifndef HARNESS_KMOD_KMOD_H
#define HARNESS_KMOD_KMOD_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/task_work.h>

#include "arch/arch.h"
#include "unwind/deferred.h"
#include "unwind/registry.h"

/*	symbol		meaning */
#define KMOD_COUNTS(X) \
	X(interrupts,	"overflows of a counter") \
	X(requests,	"requests that were made, in an interrupt or by ioctl") \
	X(again,	"of these: answered by a trace that was asked for already") \
	X(refused,	"of these: in an exiting task") \
	X(works,	"runs of the work before a return to user space") \
	X(cookies,	"entry contexts in which a trace was asked for") \
	X(walks,	"walks of a user stack") \
	X(empty,	"of these: the stack was gone, by exit or exec") \
	X(callbacks,	"traces that were handed to a requester") \
	X(frames,	"entries of all traces") \
	X(complete,	"walks that reached the end of the stack") \
	X(reads,	"reads of user memory by walks") \
	X(bytes,	"that they fetched") \
	X(insns,	"call frame instructions of walks") \
	X(faults,	"reads of walks that failed") \
	X(minor,	"page faults of walks that were served at once") \
	X(major,	"page faults of walks that waited for a disk or for swap") \
	X(ns,		"time of all walks") \
	X(lost,		"records that had no room") \
	X(added,	"sections registered") \
	X(turned_away,	"registrations refused") \
	X(removed,	"sections removed by handle") \
	X(unmapped,	"text ranges removed because memory was unmapped") \
	X(corrupt,	"sections removed because a walk found them corrupt") \
	X(copied,	"registries copied to a forked child") \
	X(not_copied,	"forked children whose parent was gone first, or out of memory") \
	X(mms,		"registries that there are") \
	X(threads,	"threads that there is state of") \
	X(objects,	"sections and tables that are allocated") \
	X(queued,	"works that are queued")

enum kmod_counter {
#define X(sym, text) KMOD_##sym,
	KMOD_COUNTS(X)
#undef X
	KMOD_NR_COUNTS
};

extern atomic64_t kmod_counts[KMOD_NR_COUNTS];

#define kmod_count(sym)		atomic64_inc(&kmod_counts[KMOD_##sym])
#define kmod_uncount(sym)	atomic64_dec(&kmod_counts[KMOD_##sym])
#define kmod_count_add(sym, n)	atomic64_add(n, &kmod_counts[KMOD_##sym])
#define kmod_count_of(sym)	atomic64_read(&kmod_counts[KMOD_##sym])

/* Reader sections of everything: requests, callbacks, walks. */
extern struct srcu_struct kmod_srcu;

/**
 * struct kmod_mem - the current task's memory
 * @mem: for the core
 * @nofault: bring nothing in
 * @faults: reads that failed
 */
struct kmod_mem {
	struct ehf_mem mem;
	bool nofault;
	u64 faults;
};

/**
 * struct kmod_mm - the registry of an mm, from the first registration to the end of the mm
 * @reg: the registry; first, its ops find the rest from it
 * @mn: tells of what is unmapped, and of the end; holds the mm's structure
 * @lock: writers
 * @unmapping: the task that holds @lock inside a notifier, which has mmap_lock already
 * @gone: whoever sets it takes it out of the list
 * @refs: one of the mm, one of each child that is to copy it
 * @node: in the list
 * @rcu: for the end
 */
struct kmod_mm {
	struct ehu_registry reg;
	struct mmu_notifier mn;
	struct mutex lock;
	struct task_struct *unmapping;
	atomic_t gone;
	refcount_t refs;
	struct hlist_node node;
	struct rcu_head rcu;
};

/**
 * struct kmod_thread - what there is of a thread that somebody samples
 * @info: its part of the deferred state
 * @work: its work; in one list at a time
 * @queued: @work is in that list
 * @refs: one of each counter, one of the queued work
 * @node: in the list of all
 * @task: the thread
 * @exec_id: the program that the first request of an entry context was made in
 * @cookie: the last one that was counted
 * @nofault: bring nothing in
 * @ns: time that the last walk took
 * @faults: reads of the last walk that failed
 * @trace: storage
 * @rows: storage
 * @memo: storage
 * @slot: storage
 */
struct kmod_thread {
	struct ehu_task_info info;
	struct callback_head work;
	atomic_t queued;
	refcount_t refs;
	struct hlist_node node;
	struct task_struct *task;
	u64 exec_id;
	u64 cookie;
	bool nofault;
	u64 ns;
	u64 faults;
	struct ehu_cache trace;
	struct ehu_row_cache rows;
	struct ehf_memo memo;
	struct ehu_slot slot[EHU_ROW_CACHE_SLOTS];
};

extern struct ehu_deferred kmod_deferred;

void kmod_mem_init(struct kmod_mem *m, bool nofault);
const struct ehu_arch *kmod_regs(struct pt_regs *regs, struct ehu_regs *to);
const struct ehu_arch *kmod_arch(void);

struct kmod_mm *kmod_mm_find(struct mm_struct *mm);
struct kmod_mm *kmod_mm_get(void);
int kmod_mm_setup(void);
void kmod_mm_teardown(void);

struct kmod_thread *kmod_thread_get(void);
void kmod_thread_put(struct kmod_thread *t);
int kmod_thread_request(struct kmod_thread *t, struct ehu_work *work, u64 *cookie);
void kmod_thread_setup(void);

#endif /* HARNESS_KMOD_KMOD_H */
