// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device: each open file is a requester with threads that it samples and traces that wait to
 * be read. Counters are in debugfs.
 */
#include <linux/compat.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "harness/kmod/abi.h"
#include "harness/kmod/kmod.h"
#include "unwind/auto.h"

/* Bytes of records that wait for a reader; what comes then is counted and dropped. */
#define MAX_WAITING	(4 << 20)

atomic64_t kmod_counts[KMOD_NR_COUNTS];
struct srcu_struct kmod_srcu;

/**
 * struct session - an open file
 * @work: its part as a requester; first, the callback finds the rest from it
 * @lock: all that follows
 * @counters: the threads
 * @nr_counters: how many
 * @records: what waits to be read
 * @waiting: bytes of it
 * @lost: records that had no room since the last one
 */
struct session {
	struct ehu_work work;
	struct mutex lock;
	struct list_head counters;
	u32 nr_counters;
	struct list_head records;
	size_t waiting;
	u64 lost;
};

struct record {
	struct list_head node;
	size_t size;
	struct ehunwind_trace trace;
	struct ehunwind_entry entry[];
};

/* A thread that is sampled for a session; @event is NULL where only TRACE asks. */
struct counter {
	struct list_head node;
	struct session *session;
	struct kmod_thread *thread;
	struct perf_event *event;
};

/* The record's bytes for the reader begin at ->trace; entries must follow it without a gap. */
static_assert(offsetof(struct record, entry) ==
	      offsetof(struct record, trace) + sizeof(struct ehunwind_trace));

static struct record *make_record(const struct ehu_trace *trace, u64 cookie,
				  const struct kmod_thread *t)
{
	size_t size = sizeof(struct ehunwind_trace) + trace->nr * sizeof(struct ehunwind_entry);
	struct record *r;
	u32 k;

	r = kvzalloc(offsetof(struct record, trace) + size, GFP_KERNEL_ACCOUNT);
	if (!r)
		return NULL;
	r->size = size;
	r->trace = (struct ehunwind_trace){
		.cookie = cookie, .ns = t->ns, .faults = t->faults,
		.reads = trace->cost.reads, .bytes = trace->cost.bytes,
		.insns = trace->cost.insns, .pid = task_tgid_vnr(current),
		.tid = task_pid_vnr(current), .nr = trace->nr, .stop = trace->stop,
	};
	for (k = 0; k < trace->nr; k++) {
		const struct ehu_entry *e = &trace->entry[k];

		r->entry[k] = (struct ehunwind_entry){ e->ip, e->sp, e->fp, e->via, e->flags };
	}
	return r;
}

/* In the sampled thread, before it returns to user space. */
static void on_trace(struct ehu_work *work, const struct ehu_trace *trace, u64 cookie)
{
	struct session *s = container_of(work, struct session, work);
	const struct kmod_thread *t;
	struct record *r;

	kmod_count(callbacks);
	t = container_of(trace, struct kmod_thread, trace.trace);
	r = make_record(trace, cookie, t);
	mutex_lock(&s->lock);
	if (r && r->size <= MAX_WAITING - s->waiting) {
		r->trace.lost = s->lost;
		s->lost = 0;
		s->waiting += r->size;
		list_add_tail(&r->node, &s->records);
		r = NULL;
	} else {
		s->lost++;
		kmod_count(lost);
	}
	mutex_unlock(&s->lock);
	kvfree(r);
}

/* In an interrupt. */
static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	struct counter *c = event->overflow_handler_context;
	u64 cookie;

	kmod_count(interrupts);
	if (current == c->thread->task)
		kmod_thread_request(c->thread, &c->session->work, &cookie);
}

static void free_counter(struct session *s, struct counter *c)
{
	list_del(&c->node);
	s->nr_counters--;
	if (c->event)
		perf_event_release_kernel(c->event);
	kmod_thread_put(c->thread);
	kfree(c);
}

static struct counter *find_counter(struct session *s)
{
	struct counter *c;

	list_for_each_entry(c, &s->counters, node)
		if (c->thread->task == current)
			return c;
	return NULL;
}

static struct perf_event *make_event(struct counter *c, u64 period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = period_ns,
	};

	return perf_event_create_kernel_counter(&attr, -1, current, on_overflow, c);
}

/* Under the lock. */
static int add_counter(struct session *s, const struct ehunwind_start *a)
{
	struct counter *c, *next;

	if (find_counter(s))
		return -EBUSY;
	list_for_each_entry_safe(c, next, &s->counters, node)
		if (c->thread->task->flags & PF_EXITING)
			free_counter(s, c);
	if (s->nr_counters == EHUNWIND_MAX_THREADS)
		return -ENOSPC;
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return -ENOMEM;
	c->session = s;
	c->thread = kmod_thread_get();
	if (IS_ERR(c->thread)) {
		int err = PTR_ERR(c->thread);

		kfree(c);
		return err;
	}
	c->thread->nofault = a->flags & EHUNWIND_NOFAULT;
	list_add_tail(&c->node, &s->counters);
	s->nr_counters++;
	if (a->period_ns) {
		struct perf_event *event = make_event(c, a->period_ns);

		if (IS_ERR(event)) {
			free_counter(s, c);
			return PTR_ERR(event);
		}
		c->event = event;
	}
	return 0;
}

static long do_start(struct session *s, const void __user *arg)
{
	struct ehunwind_start a;
	int ret;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	if (a.pad || a.flags & ~EHUNWIND_NOFAULT)
		return -EINVAL;
	if (a.period_ns && (a.period_ns < EHUNWIND_MIN_PERIOD || a.period_ns > EHUNWIND_MAX_PERIOD))
		return -EINVAL;
	mutex_lock(&s->lock);
	ret = add_counter(s, &a);
	mutex_unlock(&s->lock);
	return ret;
}

static long do_stop(struct session *s)
{
	struct counter *c;

	mutex_lock(&s->lock);
	c = find_counter(s);
	if (c)
		free_counter(s, c);
	mutex_unlock(&s->lock);
	return c ? 0 : -ENOENT;
}

static long do_trace(struct session *s, u64 __user *arg)
{
	struct kmod_thread *t = NULL;
	struct counter *c;
	u64 cookie;
	int ret;

	mutex_lock(&s->lock);
	c = find_counter(s);
	if (c)
		t = kmod_thread_get();
	mutex_unlock(&s->lock);
	if (IS_ERR_OR_NULL(t))
		return t ? PTR_ERR(t) : -ENOENT;
	ret = kmod_thread_request(t, &s->work, &cookie);
	kmod_thread_put(t);
	if (ret < 0)
		return ret;
	return put_user(cookie, arg) ? -EFAULT : ret;
}

/* What a registration reads with; @regs is that of the calling task. */
struct reading {
	struct kmod_mem mem;
	struct ehf_cost cost;
	struct ehf_ctx ctx;
	const struct ehu_arch *arch;
	struct kmod_mm *mm;
};

static int begin_reading(struct reading *r)
{
	memset(r, 0, sizeof(*r));
	r->arch = kmod_arch();
	if (!r->arch)
		return -ENOEXEC;
	r->mm = kmod_mm_get();
	if (IS_ERR(r->mm))
		return PTR_ERR(r->mm);
	kmod_mem_init(&r->mem, false);
	r->ctx = (struct ehf_ctx){
		.mem = &r->mem.mem, .abi = &r->arch->abi, .limits = &ehf_limits_walk,
		.cost = &r->cost,
	};
	return 0;
}

static int finish(int ret, const struct ehu_added *added, u64 __user *handle, u32 __user *stop,
		  struct reading *r)
{
	if (ret)
		kmod_count(turned_away);
	else
		kmod_count(added);
	if (!put_user(added->handle, handle) && !put_user((u32)added->stop, stop))
		return ret;
	/* A section that its owner cannot name is none. */
	if (!ret)
		ehu_registry_remove(&r->mm->reg, added->handle);
	return -EFAULT;
}

static long do_add(struct ehunwind_section __user *arg)
{
	struct ehunwind_text user_text[EHU_MAX_TEXTS];
	struct ehu_text text[EHU_MAX_TEXTS];
	struct ehunwind_section a;
	struct ehu_section_args args;
	struct ehu_added added = { 0 };
	struct reading r;
	u32 k;
	int ret;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	if (a.pad || a.handle || a.stop || !a.nr_texts || a.nr_texts > EHU_MAX_TEXTS)
		return -EINVAL;
	if (copy_from_user(user_text, u64_to_user_ptr(a.texts), a.nr_texts * sizeof(user_text[0])))
		return -EFAULT;
	for (k = 0; k < a.nr_texts; k++)
		text[k] = (struct ehu_text){ user_text[k].start, user_text[k].end };
	args = (struct ehu_section_args){
		.flags = a.flags, .nr_texts = a.nr_texts, .text = text, .hdr = a.hdr,
		.hdr_end = a.hdr_end, .eh_frame = a.eh_frame, .eh_frame_end = a.eh_frame_end,
	};
	ret = begin_reading(&r);
	if (ret)
		return ret;
	ret = ehu_registry_add(&r.mm->reg, &r.ctx, &args, &added);
	return finish(ret, &added, &arg->handle, &arg->stop, &r);
}

static int read_image(const struct reading *r, const struct ehunwind_image *a,
		      struct ehu_image *image)
{
	switch (a->from) {
	case EHUNWIND_EHDR:
		if (a->bias || a->phnum || a->phentsize)
			return -EINVAL;
		return ehu_auto_ehdr(&r->ctx, r->arch, a->addr, image);
	case EHUNWIND_PHDR:
		if (a->bias)
			return -EINVAL;
		return ehu_auto_phdrs(&r->ctx, a->addr, a->phnum, a->phentsize, NULL, image);
	case EHUNWIND_PHDR_BIAS:
		return ehu_auto_phdrs(&r->ctx, a->addr, a->phnum, a->phentsize, &a->bias, image);
	default:
		return -EINVAL;
	}
}

static long do_add_image(struct ehunwind_image __user *arg)
{
	struct ehu_added added = { 0 };
	struct ehunwind_image a;
	struct ehu_image image;
	struct reading r;
	int ret;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	if (a.pad || a.handle || a.stop)
		return -EINVAL;
	ret = begin_reading(&r);
	if (ret)
		return ret;
	ret = read_image(&r, &a, &image);
	if (!ret)
		ret = ehu_auto_add(&r.mm->reg, &r.ctx, &image, a.flags, &added);
	return finish(ret, &added, &arg->handle, &arg->stop, &r);
}

static long do_remove(const u64 __user *arg)
{
	struct kmod_mm *m;
	u64 handle;
	int key, ret = -ENOENT;

	if (copy_from_user(&handle, arg, sizeof(handle)))
		return -EFAULT;
	key = srcu_read_lock(&kmod_srcu);
	m = kmod_mm_find(current->mm);
	if (m)
		ret = ehu_registry_remove(&m->reg, handle);
	srcu_read_unlock(&kmod_srcu, key);
	if (!ret)
		kmod_count(removed);
	return ret;
}

static long dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct session *s = file->private_data;
	void __user *p = (void __user *)arg;

	switch (cmd) {
	case EHUNWIND_ADD:
		return do_add(p);
	case EHUNWIND_ADD_IMAGE:
		return do_add_image(p);
	case EHUNWIND_REMOVE:
		return do_remove(p);
	case EHUNWIND_START:
		return do_start(s, p);
	case EHUNWIND_STOP:
		return do_stop(s);
	case EHUNWIND_TRACE:
		return do_trace(s, p);
	default:
		return -ENOTTY;
	}
}

/* Takes the first record out, if it fits. */
static struct record *take_record(struct session *s, size_t room, bool *too_big)
{
	struct record *r;

	mutex_lock(&s->lock);
	r = list_first_entry_or_null(&s->records, struct record, node);
	*too_big = r && r->size > room;
	if (*too_big)
		r = NULL;
	if (r) {
		list_del(&r->node);
		s->waiting -= r->size;
	}
	mutex_unlock(&s->lock);
	return r;
}

/* The copy to the reader may fault, and is not made under the lock. */
static ssize_t dev_read(struct file *file, char __user *buf, size_t room, loff_t *pos)
{
	struct session *s = file->private_data;
	struct record *r;
	size_t done = 0;
	bool too_big;

	while ((r = take_record(s, room - done, &too_big))) {
		if (copy_to_user(buf + done, &r->trace, r->size)) {
			mutex_lock(&s->lock);
			s->waiting += r->size;
			list_add(&r->node, &s->records);
			mutex_unlock(&s->lock);
			return done ? done : -EFAULT;
		}
		done += r->size;
		kvfree(r);
	}
	return !done && too_big ? -EMSGSIZE : done;
}

static int dev_open(struct inode *inode, struct file *file)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!s)
		return -ENOMEM;
	mutex_init(&s->lock);
	INIT_LIST_HEAD(&s->counters);
	INIT_LIST_HEAD(&s->records);
	ret = ehu_deferred_init(&kmod_deferred, &s->work, on_trace);
	if (ret) {
		kfree(s);
		return ret;
	}
	file->private_data = s;
	return stream_open(inode, file);
}

static int dev_release(struct inode *inode, struct file *file)
{
	struct session *s = file->private_data;
	struct counter *c, *next_c;
	struct record *r, *next_r;

	/* No request, then no callback, then no traces: in that order. */
	list_for_each_entry_safe(c, next_c, &s->counters, node)
		if (c->event)
			perf_event_disable(c->event);
	ehu_deferred_cancel(&kmod_deferred, &s->work);
	list_for_each_entry_safe(c, next_c, &s->counters, node)
		free_counter(s, c);
	list_for_each_entry_safe(r, next_r, &s->records, node)
		kvfree(r);
	kfree(s);
	return 0;
}

static const struct file_operations dev_fops = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.release = dev_release,
	.read = dev_read,
	.unlocked_ioctl = dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = no_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "ehunwind", .mode = 0600, .fops = &dev_fops,
};

static int counts_show(struct seq_file *m, void *unused)
{
	static const struct {
		const char *name;
		const char *text;
	} names[] = {
#define X(sym, text) { #sym, text },
		KMOD_COUNTS(X)
#undef X
	};
	u32 k;

	for (k = 0; k < KMOD_NR_COUNTS; k++)
		seq_printf(m, "%-12s %12lld  %s\n", names[k].name,
			   (s64)atomic64_read(&kmod_counts[k]), names[k].text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static struct dentry *debug_dir;

static int __init kmod_init(void)
{
	int ret = init_srcu_struct(&kmod_srcu);

	if (ret)
		return ret;
	kmod_thread_setup();
	ret = kmod_mm_setup();
	if (ret)
		goto no_forks;
	ret = misc_register(&device);
	if (ret)
		goto no_device;
	debug_dir = debugfs_create_dir("ehunwind", NULL);
	debugfs_create_file("counts", 0400, debug_dir, NULL, &counts_fops);
	return 0;

no_device:
	kmod_mm_teardown();
no_forks:
	cleanup_srcu_struct(&kmod_srcu);
	return ret;
}

static void __exit kmod_exit(void)
{
	debugfs_remove(debug_dir);
	misc_deregister(&device);
	kmod_mm_teardown();
	/* A work drops its hold on the module before it has left the module's text. */
	synchronize_rcu_tasks();
	pr_info("%lld objects, %lld threads, %lld works left\n",
		(s64)kmod_count_of(objects), (s64)kmod_count_of(threads), (s64)kmod_count_of(queued));
	cleanup_srcu_struct(&kmod_srcu);
}

module_init(kmod_init);
module_exit(kmod_exit);
MODULE_DESCRIPTION("Deferred user stack unwinding by .eh_frame");
MODULE_AUTHOR("the ehunwind authors");
MODULE_LICENSE("Dual MIT/GPL");
