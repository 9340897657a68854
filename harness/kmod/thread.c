// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferral by task_work: what unwind/deferred.c needs of a kernel, and the walk before the return
 * to user space.
 */
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "harness/kmod/kmod.h"

static DEFINE_HASHTABLE(threads, 8);
static DEFINE_SPINLOCK(threads_lock);
static DEFINE_MUTEX(requesters_lock);
static DEFINE_PER_CPU(u32, cookies);

struct ehu_deferred kmod_deferred;

static struct kmod_thread *thread_of(struct ehu_task_info *info)
{
	return container_of(info, struct kmod_thread, info);
}

static u32 op_cpu(struct ehu_deferred *d)
{
	return raw_smp_processor_id();
}

static u32 *op_counter(struct ehu_deferred *d, u32 cpu)
{
	return per_cpu_ptr(&cookies, cpu);
}

/*
 * The work holds the module, so that it cannot go while one is queued. A task that is past its
 * last work is past its mm, too: it is refused, and nobody waits for it.
 */
static void op_schedule(struct ehu_deferred *d, struct ehu_task_info *info)
{
	struct kmod_thread *t = thread_of(info);

	if (atomic_xchg(&t->queued, 1))
		return;
	refcount_inc(&t->refs);
	__module_get(THIS_MODULE);
	kmod_count(queued);
	if (!task_work_add(current, &t->work, TWA_RESUME))
		return;
	atomic_set(&t->queued, 0);
	kmod_uncount(queued);
	module_put(THIS_MODULE);
	refcount_dec(&t->refs);	/* never the last: the counter has one */
}

static u32 op_read_lock(struct ehu_deferred *d) __acquires(&kmod_srcu)
{
	return srcu_read_lock(&kmod_srcu);
}

static void op_read_unlock(struct ehu_deferred *d, u32 key) __releases(&kmod_srcu)
{
	srcu_read_unlock(&kmod_srcu, key);
}

static void op_synchronize(struct ehu_deferred *d)
{
	synchronize_srcu(&kmod_srcu);
}

static void op_lock(struct ehu_deferred *d)
{
	mutex_lock(&requesters_lock);
}

static void op_unlock(struct ehu_deferred *d)
{
	mutex_unlock(&requesters_lock);
}

static void op_all_tasks(struct ehu_deferred *d,
			 void (*fn)(struct ehu_task_info *info, void *arg), void *arg)
{
	struct kmod_thread *t;
	int bucket;

	spin_lock(&threads_lock);
	hash_for_each(threads, bucket, t, node)
		fn(&t->info, arg);
	spin_unlock(&threads_lock);
}

static const struct ehf_section *find_nothing(const struct ehu_sections *sections, u64 addr)
{
	return NULL;
}

/* An mm in which nobody has registered anything. */
static const struct ehu_sections no_sections = { .find = find_nothing };

static void account(const struct ehu_trace *trace, u64 faults, u64 ns)
{
	kmod_count(walks);
	kmod_count_add(frames, trace->nr);
	kmod_count_add(reads, trace->cost.reads);
	kmod_count_add(bytes, trace->cost.bytes);
	kmod_count_add(insns, trace->cost.insns);
	kmod_count_add(faults, faults);
	kmod_count_add(ns, ns);
	if (ehf_stop_class(trace->stop) == EHF_CLASS_COMPLETE)
		kmod_count(complete);
}

static void op_walk(struct ehu_deferred *d, struct ehu_task_info *info, struct ehu_trace *trace)
{
	struct kmod_thread *t = thread_of(info);
	struct ehu_unwind u = {
		.limits = &ehf_limits_walk, .cache = &t->rows, .memo = &t->memo,
	};
	unsigned long minor = current->min_flt, major = current->maj_flt;
	struct ehu_regs regs;
	struct kmod_mem mem;
	struct kmod_mm *m;
	u64 start;
	u32 key;

	kmod_mem_init(&mem, t->nofault);
	t->ns = 0;
	t->faults = 0;
	/*
	 * A module hears of exit and exec too late. What was interrupted there is no more, and what
	 * there is now nobody has asked for.
	 */
	if (!current->mm || t->exec_id != current->self_exec_id) {
		trace->stop = EHF_STOP_MEMORY;
		kmod_count(empty);
		account(trace, 0, 0);
		return;
	}
	u.arch = kmod_regs(task_pt_regs(current), &regs);
	if (!u.arch) {
		trace->stop = EHF_STOP_ADDRESS_SIZE;
		account(trace, 0, 0);
		return;
	}
	key = srcu_read_lock(&kmod_srcu);
	m = kmod_mm_find(current->mm);
	u.sections = m ? &m->reg.sections : &no_sections;
	u.mem = &mem.mem;
	start = ktime_get_ns();
	ehu_walk(&u, &regs, trace);
	t->ns = ktime_get_ns() - start;
	srcu_read_unlock(&kmod_srcu, key);
	t->faults = mem.faults;
	kmod_count_add(minor, current->min_flt - minor);
	kmod_count_add(major, current->maj_flt - major);
	account(trace, t->faults, t->ns);
}

static const struct ehu_deferred_ops deferred_ops = {
	.nmi_safe = true, .cpu = op_cpu, .counter = op_counter, .schedule = op_schedule,
	.read_lock = op_read_lock, .read_unlock = op_read_unlock,
	.synchronize = op_synchronize, .lock = op_lock, .unlock = op_unlock,
	.for_each_task = op_all_tasks, .walk = op_walk,
};

/*
 * On the way back to user space. A module sees no later point, so the entry context ends here:
 * who asks once more before the task is really out gets another cookie and another walk.
 */
static void thread_work(struct callback_head *head)
{
	struct kmod_thread *t = container_of(head, struct kmod_thread, work);

	atomic_set(&t->queued, 0);
	kmod_count(works);
	if (current->flags & PF_EXITING) {
		ehu_deferred_task_exit(&kmod_deferred, &t->info);
	} else {
		do
			ehu_deferred_work(&kmod_deferred, &t->info);
		while (!ehu_deferred_return_to_user(&t->info));
	}
	kmod_thread_put(t);
	kmod_uncount(queued);
	module_put(THIS_MODULE);
}

/**
 * kmod_thread_request() - ask for a trace of the current task
 * @t: the current task
 * @work: who asks
 * @cookie: filled in
 *
 * May be called in an interrupt.
 *
 * Return: as ehu_deferred_request().
 */
int kmod_thread_request(struct kmod_thread *t, struct ehu_work *work, u64 *cookie)
{
	unsigned long flags;
	int ret = -EINVAL;

	*cookie = 0;
	kmod_count(requests);
	/* In an NMI this changes nothing; called from a system call, it does. */
	local_irq_save(flags);
	if (!(current->flags & PF_EXITING)) {
		if (!READ_ONCE(t->info.mask))
			t->exec_id = current->self_exec_id;
		ret = ehu_deferred_request(&kmod_deferred, &t->info, work, cookie);
	}
	if (!ret && t->cookie != *cookie) {
		t->cookie = *cookie;
		kmod_count(cookies);
	}
	local_irq_restore(flags);
	if (ret == 1)
		kmod_count(again);
	else if (ret)
		kmod_count(refused);
	return ret;
}

static struct kmod_thread *find_thread(void)
{
	struct kmod_thread *t;

	hash_for_each_possible(threads, t, node, (unsigned long)current)
		if (t->task == current && refcount_inc_not_zero(&t->refs))
			return t;
	return NULL;
}

/**
 * kmod_thread_get() - the state of the current thread, made where there is none
 *
 * Return: the state, for kmod_thread_put(); or an ERR_PTR().
 */
struct kmod_thread *kmod_thread_get(void)
{
	struct kmod_thread *t;

	spin_lock(&threads_lock);
	t = find_thread();
	spin_unlock(&threads_lock);
	if (t)
		return t;
	t = kvzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return ERR_PTR(-ENOMEM);
	ehu_deferred_task_init(&t->info, 0);
	t->info.cache = &t->trace;
	init_task_work(&t->work, thread_work);
	refcount_set(&t->refs, 1);
	t->task = get_task_struct(current);
	ehu_row_cache_init(&t->rows, t->slot, EHU_ROW_CACHE_SLOTS);
	kmod_count(threads);
	/* Nobody else adds the current thread. */
	spin_lock(&threads_lock);
	hash_add(threads, &t->node, (unsigned long)current);
	spin_unlock(&threads_lock);
	return t;
}

/**
 * kmod_thread_put() - the counterpart of kmod_thread_get()
 * @t: the state
 */
void kmod_thread_put(struct kmod_thread *t)
{
	if (!refcount_dec_and_test(&t->refs))
		return;
	spin_lock(&threads_lock);
	hash_del(&t->node);
	spin_unlock(&threads_lock);
	put_task_struct(t->task);
	kvfree(t);
	kmod_uncount(threads);
}

/**
 * kmod_thread_setup() - begin with no requester
 */
void kmod_thread_setup(void)
{
	ehu_deferred_setup(&kmod_deferred, &deferred_ops);
}
