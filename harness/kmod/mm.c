// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The registry of each mm: locks, memory and grace periods for unwind/registry.c, and the events
 * of an mm that concern it: munmap, fork, exec and exit.
 */
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/wait.h>

#include "harness/kmod/kmod.h"

static DEFINE_HASHTABLE(mms, 8);
static DEFINE_MUTEX(mms_lock);
static DECLARE_WAIT_QUEUE_HEAD(all_gone);
static atomic_long_t numbers;

static_assert(sizeof(struct ehu_retired) >= sizeof(struct rcu_head));

static struct kmod_mm *mm_of(struct ehu_registry *reg)
{
	return container_of(reg, struct kmod_mm, reg);
}

static void *reg_alloc(const struct ehu_registry_ops *ops, size_t size)
{
	void *p = kvmalloc(size, GFP_KERNEL_ACCOUNT);

	if (p)
		kmod_count(objects);
	return p;
}

static void reg_free(const struct ehu_registry_ops *ops, void *p)
{
	kmod_uncount(objects);
	kvfree(p);
}

static void free_retired(struct rcu_head *head)
{
	reg_free(NULL, head);	/* the first thing in it */
}

static void reg_retire(const struct ehu_registry_ops *ops, struct ehu_retired *r)
{
	call_srcu(&kmod_srcu, (struct rcu_head *)r->space, free_retired);
}

static unsigned long reg_generation(const struct ehu_registry_ops *ops)
{
	return atomic_long_inc_return(&numbers);
}

static u32 reg_read_lock(struct ehu_registry *reg) __acquires(&kmod_srcu)
{
	return srcu_read_lock(&kmod_srcu);
}

static void reg_read_unlock(struct ehu_registry *reg, u32 key) __releases(&kmod_srcu)
{
	srcu_read_unlock(&kmod_srcu, key);
}

/*
 * mmap_lock first, for ops->mapping. A notifier has that one already, and takes the other itself:
 * only the task that it runs in can find its own name there.
 */
static void reg_lock(struct ehu_registry *reg)
{
	struct kmod_mm *m = mm_of(reg);

	if (READ_ONCE(m->unmapping) == current)
		return;
	mmap_read_lock(m->mn.mm);
	mutex_lock(&m->lock);
}

static void reg_unlock(struct ehu_registry *reg)
{
	struct kmod_mm *m = mm_of(reg);

	if (READ_ONCE(m->unmapping) == current)
		return;
	mutex_unlock(&m->lock);
	mmap_read_unlock(m->mn.mm);
}

static bool reg_mapping(struct ehu_registry *reg, u64 addr, struct ehu_mapping *to)
{
	struct vm_area_struct *vma = find_vma(mm_of(reg)->mn.mm, addr);

	if (!vma || addr < vma->vm_start)
		return false;
	to->start = vma->vm_start;
	to->end = vma->vm_end;
	to->exec = vma->vm_flags & VM_EXEC;
	return true;
}

static u64 reg_now_ms(struct ehu_registry *reg)
{
	return ktime_to_ms(ktime_get());
}

static void reg_debug(struct ehu_registry *reg, const struct ehu_event *e)
{
	static const char * const what[] = {
		[EHU_EVENT_ADDED] = "added", [EHU_EVENT_REFUSED] = "refused",
		[EHU_EVENT_REMOVED] = "removed", [EHU_EVENT_UNMAPPED] = "unmapped",
		[EHU_EVENT_CORRUPT] = "corrupt",
	};

	pr_debug("%s[%d]: section %llu [%#llx, %#llx) %s: %d, %s; %llu more messages\n",
		 current->comm, current->pid, e->handle, e->start, e->end, what[e->kind], e->err,
		 ehf_stop_name(e->stop), e->suppressed);
	if (e->kind == EHU_EVENT_CORRUPT)
		kmod_count(corrupt);
}

static const struct ehu_registry_ops reg_ops = {
	.alloc = reg_alloc, .free = reg_free, .retire = reg_retire,
	.generation = reg_generation, .read_lock = reg_read_lock,
	.read_unlock = reg_read_unlock, .lock = reg_lock, .unlock = reg_unlock,
	.mapping = reg_mapping, .now_ms = reg_now_ms, .debug = reg_debug,
};

static void free_mm(struct rcu_head *head)
{
	kfree(container_of(head, struct kmod_mm, rcu));
	kmod_uncount(mms);
	wake_up_all(&all_gone);
}

static void put_mm(struct kmod_mm *m)
{
	if (refcount_dec_and_test(&m->refs))
		call_srcu(&kmod_srcu, &m->rcu, free_mm);
}

/* The mm ends, or the module does: nobody finds it any more. */
static void bury(struct kmod_mm *m)
{
	if (atomic_xchg(&m->gone, 1))
		return;
	ehu_registry_drop(&m->reg);
	mutex_lock(&mms_lock);
	hash_del_rcu(&m->node);
	mutex_unlock(&mms_lock);
	mmu_notifier_put(&m->mn);
}

static void mn_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	bury(container_of(mn, struct kmod_mm, mn));
}

/* Mappings have changed already, page tables have not. An OOM reaper changes no mapping. */
static int mn_start(struct mmu_notifier *mn, const struct mmu_notifier_range *range)
{
	struct kmod_mm *m = container_of(mn, struct kmod_mm, mn);
	u32 nr;

	if (range->event != MMU_NOTIFY_UNMAP || !mmu_notifier_range_blockable(range))
		return 0;
	mutex_lock(&m->lock);
	WRITE_ONCE(m->unmapping, current);
	nr = ehu_registry_remove_range(&m->reg, range->start, range->end);
	WRITE_ONCE(m->unmapping, NULL);
	mutex_unlock(&m->lock);
	kmod_count_add(unmapped, nr);
	return 0;
}

static struct mmu_notifier *mn_alloc(struct mm_struct *mm)
{
	struct kmod_mm *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return ERR_PTR(-ENOMEM);
	ehu_registry_init(&m->reg, &reg_ops);
	mutex_init(&m->lock);
	refcount_set(&m->refs, 1);
	kmod_count(mms);
	return &m->mn;
}

static void mn_free(struct mmu_notifier *mn)
{
	put_mm(container_of(mn, struct kmod_mm, mn));
}

static const struct mmu_notifier_ops mn_ops = {
	.release = mn_release,
	.invalidate_range_start = mn_start,
	.alloc_notifier = mn_alloc,
	.free_notifier = mn_free,
};

/**
 * kmod_mm_find() - the registry of an mm
 * @mm: the mm
 *
 * Return: the registry, valid until the caller leaves its section of kmod_srcu; NULL where there
 * is none.
 */
struct kmod_mm *kmod_mm_find(struct mm_struct *mm)
{
	struct kmod_mm *m;

	hash_for_each_possible_rcu(mms, m, node, (unsigned long)mm, srcu_read_lock_held(&kmod_srcu))
		if (m->mn.mm == mm)
			return m;
	return NULL;
}

/**
 * kmod_mm_get() - the registry of the current task's mm, made where there is none
 *
 * Return: the registry, valid as long as the task stays in its mm; or an ERR_PTR().
 */
struct kmod_mm *kmod_mm_get(void)
{
	struct mmu_notifier *mn;
	struct kmod_mm *m;

	mutex_lock(&mms_lock);
	m = kmod_mm_find(current->mm);
	if (!m) {
		mn = mmu_notifier_get(&mn_ops, current->mm);
		m = IS_ERR(mn) ? ERR_CAST(mn) : container_of(mn, struct kmod_mm, mn);
		if (!IS_ERR(m))
			hash_add_rcu(mms, &m->node, (unsigned long)current->mm);
	}
	mutex_unlock(&mms_lock);
	return m;
}

/* A forked child that is to copy its parent's registry before it enters user space. */
struct birth {
	struct callback_head work;
	struct kmod_mm *parent;
};

static void copy_registry(struct callback_head *head)
{
	struct birth *b = container_of(head, struct birth, work);
	struct kmod_mm *m = current->mm ? kmod_mm_get() : ERR_PTR(-EINVAL);

	if (atomic_read(&b->parent->gone) || IS_ERR(m) ||
	    ehu_registry_dup(&m->reg, &b->parent->reg))
		kmod_count(not_copied);
	else
		kmod_count(copied);
	put_mm(b->parent);
	kfree(b);
	kmod_uncount(queued);
	module_put(THIS_MODULE);
}

/* In the parent, before the child runs. */
static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct mm_struct *mm = parent->mm;
	struct kmod_mm *m;
	struct birth *b;
	int key;

	if (!mm || !child->mm || child->mm == mm)
		return;
	key = srcu_read_lock(&kmod_srcu);
	m = kmod_mm_find(mm);
	if (!m || !refcount_inc_not_zero(&m->refs))
		goto out;
	b = kmalloc(sizeof(*b), GFP_ATOMIC);
	if (b && try_module_get(THIS_MODULE)) {
		b->parent = m;
		init_task_work(&b->work, copy_registry);
		kmod_count(queued);
		if (!task_work_add(child, &b->work, TWA_RESUME))
			goto out;
		kmod_uncount(queued);
		module_put(THIS_MODULE);
	}
	kfree(b);
	put_mm(m);
	kmod_count(not_copied);
out:
	srcu_read_unlock(&kmod_srcu, key);
}

static struct tracepoint *fork_point;

static void find_fork_point(struct tracepoint *tp, void *to)
{
	if (!strcmp(tp->name, "sched_process_fork"))
		*(struct tracepoint **)to = tp;
}

/**
 * kmod_mm_setup() - begin to watch forks
 *
 * Return: 0, or -ENOENT in a kernel without tracepoints.
 */
int kmod_mm_setup(void)
{
	for_each_kernel_tracepoint(find_fork_point, &fork_point);
	if (!fork_point)
		return -ENOENT;
	return tracepoint_probe_register(fork_point, on_fork, NULL);
}

/**
 * kmod_mm_teardown() - forget all registries
 *
 * When it returns nothing of this file runs any more.
 */
void kmod_mm_teardown(void)
{
	struct hlist_node *next;
	struct kmod_mm *m;
	int bucket;

	tracepoint_probe_unregister(fork_point, on_fork, NULL);
	tracepoint_synchronize_unregister();
	do {
		struct kmod_mm *found = NULL;

		mutex_lock(&mms_lock);
		hash_for_each_safe(mms, bucket, next, m, node) {
			/* One that its mm is burying at this moment is waited for below. */
			if (!atomic_read(&m->gone) && refcount_inc_not_zero(&m->refs)) {
				found = m;
				break;
			}
		}
		mutex_unlock(&mms_lock);
		if (!found)
			break;
		bury(found);
		put_mm(found);
	} while (1);
	mmu_notifier_synchronize();
	wait_event(all_gone, !kmod_count_of(mms));
	srcu_barrier(&kmod_srcu);
}
