// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferral on live processes: a request at each overflow, the walk of live memory before the
 * thread goes on, and the comparison.
 *
 * The stopped thread stands for a task on its way back to user space, the overflow for the NMI
 * before that. Two ask for the trace: who compares, and who writes a perf.data file. They share
 * one cookie and one walk.
 */
#include "harness/defer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/defer_record.h"
#include "harness/live_maps.h"
#include "harness/perf_write.h"
#include "unwind/deferred.h"

/* Stops between two marks in the file that order is kept up to. */
#define ROUND	64

/* A thread, as unwind/deferred.h knows it. */
struct defer_task {
	struct ehu_task_info info;
	struct ehu_cache cache;
	struct defer_task *next;
	struct defer_task *prev;
};

struct defer {
	struct ehu_deferred d;		/* first: found from its address */
	struct ehu_work compare;
	struct ehu_work save;
	const struct defer_opts *opts;
	struct check_run_samples *samples;
	struct defer_figures *figures;
	struct live_maps *maps;
	struct perf_decode *decode;
	struct perf_write *file;
	struct defer_task *tasks;
	u32 *counter;			/* by CPU */
	u32 nr_cpus;
	u32 window;
	u64 now;			/* time of the records that are made */

	/* the stop at hand */
	const struct live_stop *stop;
	u32 cpu;
	bool scheduled;
	u64 cookie;
	u32 copied;
	u32 called;
	int rc;
	enum replay_untestable why;
	struct task *task;
	struct replay_cost cost;
	struct perf_event_rec rec;
	struct defer_record sample;
	struct defer_record other;
};

static struct defer *defer_of(struct ehu_deferred *d)
{
	return (struct defer *)(void *)d;
}

/* ---- what the state machine asks for ---- */

static u32 op_cpu(struct ehu_deferred *d)
{
	return defer_of(d)->cpu;
}

static u32 *op_counter(struct ehu_deferred *d, u32 cpu)
{
	return &defer_of(d)->counter[cpu];
}

static void op_schedule(struct ehu_deferred *d, struct ehu_task_info *info)
{
	(void)info;
	defer_of(d)->scheduled = true;
}

/* One thread does all this: there is nobody to keep out, and nobody to wait for. */
static u32 op_read_lock(struct ehu_deferred *d)
{
	(void)d;
	return 0;
}

static void op_read_unlock(struct ehu_deferred *d, u32 key)
{
	(void)d;
	(void)key;
}

static void op_nothing(struct ehu_deferred *d)
{
	(void)d;
}

static void op_for_each_task(struct ehu_deferred *d,
			     void (*fn)(struct ehu_task_info *info, void *arg), void *arg)
{
	for (struct defer_task *t = defer_of(d)->tasks; t; t = t->next)
		fn(&t->info, arg);
}

static void op_walk(struct ehu_deferred *d, struct ehu_task_info *info, struct ehu_trace *trace)
{
	/* In a kernel, too, every read is a copy. */
	static const struct replay_opts how = { .copy = true };
	struct defer *f = defer_of(d);

	(void)info;
	f->figures->walks++;
	if (f->why != REPLAY_TESTABLE) {
		trace->nr = 0;
		trace->stop = EHF_STOP_MEMORY;
		return;
	}
	replay_walk(&f->samples->replay, &how, trace, &f->cost);
}

static const struct ehu_deferred_ops ops = {
	.nmi_safe = true,
	.cpu = op_cpu,
	.counter = op_counter,
	.schedule = op_schedule,
	.read_lock = op_read_lock,
	.read_unlock = op_read_unlock,
	.synchronize = op_nothing,
	.lock = op_nothing,
	.unlock = op_nothing,
	.for_each_task = op_for_each_task,
	.walk = op_walk,
};

/* ---- who asks ---- */

static void add_side(struct defer_side *s, const struct ehu_trace *t, const struct replay_cost *c)
{
	enum ehf_stop_class class = ehf_stop_class(t->stop);

	s->complete += class == EHF_CLASS_COMPLETE;
	s->full += t->stop == EHF_STOP_TRACE_FULL;
	s->cut += report_trace_cut(t, c);
	s->frames += t->nr;
	if (t->nr > s->deepest)
		s->deepest = t->nr;
}

/* The same stop as a kernel without deferral has it: registers, and a copy of the stack. */
static void walk_copy(struct defer *f, const struct ehu_trace *live)
{
	static const struct replay_opts how = { .copy = true };
	static struct ehu_entry entry[REPLAY_ENTRIES];
	struct ehu_trace trace = { .entry = entry, .max = REPLAY_ENTRIES };
	struct replay *r = &f->samples->replay;
	struct defer_figures *g = f->figures;
	struct replay_cost cost;
	int tid = r->live;

	r->live = 0;
	replay_walk(r, &how, &trace, &cost);
	r->live = tid;
	g->pairs++;
	g->copied_bytes += f->copied;
	g->read_bytes += f->cost.bytes;
	g->live_bytes += f->cost.live_bytes;
	add_side(&g->defer, live, &f->cost);
	add_side(&g->copy, &trace, &cost);
	check_run_samples_window(f->samples, &f->rec, live, &trace);
}

static void on_compare(struct ehu_work *work, const struct ehu_trace *trace, u64 cookie)
{
	struct defer *f = (struct defer *)(void *)((u8 *)work - offsetof(struct defer, compare));

	f->figures->callbacks++;
	f->called++;
	f->figures->bad += cookie != f->cookie;
	if (f->why != REPLAY_TESTABLE)
		return;
	f->rc = check_run_samples_compare(f->samples, &f->rec, f->task, trace, &f->cost);
	if (f->rc > 0) {
		f->rc = 0;
		f->figures->changed++;
	} else if (!f->rc) {
		walk_copy(f, trace);
	}
}

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

static int save(struct defer *f, const struct defer_record *r)
{
	return f->file ? perf_write_record(f->file, r->bytes, r->size) : 0;
}

static void on_save(struct ehu_work *work, const struct ehu_trace *trace, u64 cookie)
{
	struct defer *f = (struct defer *)(void *)((u8 *)work - offsetof(struct defer, save));
	u64 ips[EHU_MAX_ENTRIES];

	f->figures->callbacks++;
	f->called++;
	f->figures->bad += cookie != f->cookie;
	for (u32 k = 0; k < trace->nr; k++)
		ips[k] = trace->entry[k].ip;
	defer_record_chain(&f->other, f->stop->pid, f->stop->tid, cookie, ips, trace->nr, now_ns());
	if (!f->rc)
		f->rc = save(f, &f->other);
}

/* ---- records of processes and mappings, to the file and to who follows them ---- */

static int take(struct defer *f, const void *record, size_t size)
{
	const char *why;
	int rc = f->file ? perf_write_record(f->file, record, size) : 0;

	if (!rc && perf_decode_record(f->decode, record, size, 0, &f->rec, &why) < 0) {
		f->samples->figures.records_bad++;
		return 0;
	}
	return rc ? rc : check_run_samples_record(f->samples, &f->rec);
}

static int on_mapping(void *arg, const void *record, size_t size)
{
	struct defer *f = arg;
	struct defer_record *r = &f->other;
	u32 pid;

	if (size > sizeof(r->bytes))
		return 0;
	memcpy(r->bytes, record, size);
	memcpy(&pid, r->bytes + sizeof(struct perf_event_header), sizeof(pid));
	defer_record_sample_id(r->bytes, (u32)size, (pid_t)pid, (pid_t)pid, f->now);
	return take(f, r->bytes, size);
}

/* perf has no record of an munmap: this is for those who follow here. */
static int on_reset(void *arg, pid_t pid)
{
	struct defer *f = arg;
	struct task *task = task_get(f->samples->tasks, (u32)pid);
	struct task_maps *maps = task_maps_new(f->samples->tasks);

	if (!task || !maps) {
		task_maps_put(maps);
		return -ENOMEM;
	}
	task_maps_put(task->maps);
	task->maps = maps;
	f->samples->tasks->stats.epochs++;
	return 0;
}

static int tell_name(struct defer *f, pid_t pid, pid_t tid, bool exec)
{
	char path[64], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(name, sizeof(name), file))
			name[strcspn(name, "\n")] = 0;
		fclose(file);
	}
	defer_record_comm(&f->other, pid, tid, name, exec, now_ns());
	return take(f, f->other.bytes, f->other.size);
}

static int on_exec(void *arg, pid_t pid)
{
	struct defer *f = arg;

	live_maps_drop(f->maps, pid);
	return tell_name(f, pid, pid, true);
}

static int on_fork(void *arg, pid_t parent, pid_t pid)
{
	struct defer *f = arg;
	int rc = live_maps_fork(f->maps, parent, pid);

	if (rc)
		return rc;
	defer_record_task(&f->other, PERF_RECORD_FORK, pid, pid, parent, parent, now_ns());
	return take(f, f->other.bytes, f->other.size);
}

static int on_thread(void *arg, pid_t pid, pid_t tid)
{
	struct defer *f = arg;

	defer_record_task(&f->other, PERF_RECORD_FORK, pid, tid, pid, pid, now_ns());
	return take(f, f->other.bytes, f->other.size);
}

static int on_exit_process(void *arg, pid_t pid)
{
	struct defer *f = arg;

	live_maps_drop(f->maps, pid);
	defer_record_task(&f->other, PERF_RECORD_EXIT, pid, pid, pid, pid, now_ns());
	return take(f, f->other.bytes, f->other.size);
}

static void on_thread_end(void *arg, pid_t tid, void *own)
{
	struct defer *f = arg;
	struct defer_task *t = own;

	(void)tid;
	if (!t)
		return;
	ehu_deferred_task_exit(&f->d, &t->info);
	if (t->prev)
		t->prev->next = t->next;
	else
		f->tasks = t->next;
	if (t->next)
		t->next->prev = t->prev;
	free(t);
}

static int on_start(void *arg)
{
	struct defer *f = arg;
	struct perf_event_attr attr;
	u64 id = DEFER_RECORD_ID;
	u32 hz = f->opts->live.frequency ? f->opts->live.frequency : PERF_CAPTURE_FREQUENCY;
	int rc = 0;

	defer_record_attr(&attr, hz, f->window);
	if (perf_decode_add_attr(f->decode, &attr, sizeof(attr)) ||
	    perf_decode_add_ids(f->decode, 0, &id, 1))
		return -ENOMEM;
	if (f->file)
		rc = perf_write_begin(f->file, &attr, &id, 1);
	if (!rc && f->opts->pid)
		rc = tell_name(f, f->opts->pid, f->opts->pid, false);
	return rc;
}

static void on_note(void *arg, const char *text)
{
	struct defer *f = arg;

	if (f->opts->note)
		f->opts->note(f->opts->arg, text);
}

/* ---- the stop ---- */

static struct defer_task *task_of(struct defer *f, const struct live_stop *stop)
{
	struct defer_task *t = *stop->own;

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	ehu_deferred_task_init(&t->info, 0);
	t->info.cache = &t->cache;
	t->next = f->tasks;
	if (t->next)
		t->next->prev = t;
	f->tasks = t;
	*stop->own = t;
	return t;
}

/* The CPU that the thread stopped on: field 39 of its stat, the 37th behind the name. */
static u32 cpu_of(const struct defer *f, pid_t tid)
{
	char path[64], text[1024];
	unsigned long cpu = 0;
	size_t n;
	char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	at = strrchr(text, ')');
	for (int k = 0; at && k < 37; k++)
		at = strchr(at + 1, ' ');
	if (at)
		cpu = strtoul(at, NULL, 10);
	return cpu < f->nr_cpus ? (u32)cpu : 0;
}

static bool still_stopped(void *arg)
{
	return live_still_stopped(((const struct defer *)arg)->stop->tid);
}

/* A request comes first and touches no memory of the task. Returns how many queued. */
static u32 ask(struct defer *f, struct defer_task *t)
{
	u64 again;
	u32 queued = 0;
	int rc;

	f->scheduled = false;
	rc = ehu_deferred_request(&f->d, &t->info, &f->compare, &f->cookie);
	queued += rc == 0;
	f->figures->bad += rc != 0 || !f->cookie || !f->scheduled;
	if (f->file) {
		rc = ehu_deferred_request(&f->d, &t->info, &f->save, &again);
		queued += rc == 0;
		f->figures->bad += rc != 0 || again != f->cookie;
	}
	f->figures->requests += queued;
	return queued;
}

static int on_overflow(void *arg, const struct live_stop *stop)
{
	struct defer *f = arg;
	struct defer_task *t = task_of(f, stop);
	struct check_run_samples *s = f->samples;
	const char *why;
	u32 queued;
	int rc;

	if (!t)
		return -ENOMEM;
	f->stop = stop;
	f->cpu = cpu_of(f, stop->tid);
	queued = ask(f, t);
	f->now = stop->time;
	rc = live_maps_update(f->maps, stop->pid, stop->tid);
	if (rc && rc != -ESRCH)
		return rc;
	f->copied = defer_record_sample(&f->sample, stop, f->cookie, f->window);
	rc = save(f, &f->sample);
	if (rc)
		return rc;
	if (perf_decode_record(f->decode, f->sample.bytes, f->sample.size, 0, &f->rec, &why) < 0)
		return -EINVAL;
	f->rc = 0;
	f->called = 0;
	f->task = task_get(s->tasks, (u32)stop->pid);
	if (!f->task)
		return -ENOMEM;
	f->why = check_run_samples_take(s, &f->rec, f->task);
	if (f->why == REPLAY_TESTABLE)
		s->replay.live = stop->tid;
	s->still = still_stopped;
	s->still_arg = f;
	ehu_deferred_work(&f->d, &t->info);
	f->figures->bad += f->called != queued || !ehu_deferred_return_to_user(&t->info);
	s->replay.live = 0;
	s->still = NULL;
	if (!f->rc && f->file && f->figures->walks % ROUND == 0)
		f->rc = perf_write_round(f->file);
	return f->rc;
}

static int set_up(struct defer *f, struct defer_result *result)
{
	const struct live_maps_out out = {
		.record = on_mapping, .reset = on_reset, .arg = f, .id_size = DEFER_RECORD_ID_SIZE,
	};
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	f->nr_cpus = cpus > 0 ? (u32)cpus : 1;
	f->counter = calloc(f->nr_cpus, sizeof(*f->counter));
	f->maps = live_maps_new(&out);
	f->decode = perf_decode_new(false);
	if (!f->counter || !f->maps || !f->decode)
		return -ENOMEM;
	ehu_deferred_setup(&f->d, &ops);
	if (ehu_deferred_init(&f->d, &f->compare, on_compare) ||
	    ehu_deferred_init(&f->d, &f->save, on_save))
		return -EBUSY;
	if (!f->opts->save)
		return 0;
	f->file = perf_write_open(f->opts->save, !f->opts->no_io_uring, &result->save_err);
	if (!f->file)
		result->end = PERF_CAPTURE_SINK;
	return 0;
}

static void run(struct defer *f, struct defer_result *result)
{
	const struct live_hooks hooks = {
		.start = on_start, .overflow = on_overflow, .exec = on_exec, .fork = on_fork,
		.exit = on_exit_process, .thread = on_thread, .thread_end = on_thread_end,
		.note = on_note, .arg = f,
	};
	const struct defer_opts *o = f->opts;
	struct live_result *live = &f->figures->live;

	if (o->pid)
		result->end = live_attach(&o->live, o->pid, &hooks, live, &result->err);
	else
		result->end = live_command(&o->live, o->command, &hooks, live, &result->err);
}

/**
 * defer_run() - sample a command or a process with deferral, and compare every trace
 * @opts: what is sampled
 * @samples: where it is counted and written down
 * @figures: filled in, as far as it came
 * @result: filled in
 *
 * Return: 0, -ENOMEM.
 */
int defer_run(const struct defer_opts *opts, struct check_run_samples *samples,
	      struct defer_figures *figures, struct defer_result *result)
{
	struct defer *f = calloc(1, sizeof(*f));
	int rc;

	memset(figures, 0, sizeof(*figures));
	memset(result, 0, sizeof(*result));
	if (!f)
		return -ENOMEM;
	f->opts = opts;
	f->samples = samples;
	f->figures = figures;
	f->window = opts->window ? opts->window : PERF_CAPTURE_STACK;
	if (f->window > DEFER_RECORD_MAX_STACK)
		f->window = DEFER_RECORD_MAX_STACK;
	figures->window = f->window;
	rc = set_up(f, result);
	if (!rc && result->end == PERF_CAPTURE_OK)
		run(f, result);
	if (f->file)
		perf_write_close(f->file, "ehunwind", opts->argv, &result->saved,
				 &result->save_err);
	if (f->maps) {
		figures->maps_reads = live_maps_stats(f->maps)->reads;
		figures->maps_changes = live_maps_stats(f->maps)->changes;
		figures->maps_resets = live_maps_stats(f->maps)->resets;
	}
	live_maps_free(f->maps);
	perf_decode_free(f->decode);
	free(f->counter);
	free(f);
	return rc;
}
