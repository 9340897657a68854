// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The loop of live sampling: what each stop of a traced thread means, and what is done then.
 *
 * Threads are seized, not attached to: job control keeps working (a stopped process stays stopped,
 * PTRACE_LISTEN), and no SIGSTOP is sent that the target could see.
 */
#include "harness/live_int.h"
#include "harness/perf_signals.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef TRAP_PERF
#define TRAP_PERF	6
#endif

/* Bit of si_perf_flags: SIGTRAP was blocked at the overflow (Linux 5.18). */
#define PERF_ASYNC	1u

/* Blocked signals are looked for, and the clock looked at, about this often. */
#define TICK_MS		100

/* After an interrupt the command may still end by itself for this long, and after SIGTERM. */
#define GRACE_MS	1000
#define TERM_MS		500

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

static u64 now_ms(void)
{
	return now_ns() / 1000000;
}

/* A thread that was killed meanwhile cannot be continued: waitpid() will tell. */
static void go_on(pid_t tid, int sig)
{
	ptrace(PTRACE_CONT, tid, NULL, (void *)(long)sig);
}

static void heed(struct live *l, int rc)
{
	if (rc && !l->status)
		l->status = rc;
}

/**
 * live_is_trap() - is a signal the trap of one of our events
 * @l: the run
 * @info: the signal
 * @late: set where it was blocked at the overflow
 *
 * A target may have such events of its own: those come with other data.
 *
 * Return: whether it is.
 */
bool live_is_trap(const struct live *l, const siginfo_t *info, bool *late)
{
	const u8 *bytes = (const u8 *)info;
	u64 data;
	u32 flags;

	if (info->si_signo != SIGTRAP || info->si_code != TRAP_PERF)
		return false;
	/* si_perf_data and si_perf_flags, which glibc's header does not have yet. */
	memcpy(&data, bytes + 24, sizeof(data));
	memcpy(&flags, bytes + 36, sizeof(flags));
	*late = flags & PERF_ASYNC;
	return data == l->magic;
}

/**
 * live_still_stopped() - is a thread still where it was stopped
 * @tid: thread of the stop at hand
 *
 * One that is killed meanwhile is not, and its number may stand for another program by then, that
 * a thread of the same process executed. What was read of its memory is worth nothing.
 *
 * Return: whether it is.
 */
bool live_still_stopped(pid_t tid)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) && info.si_signo == SIGTRAP &&
	       info.si_code == TRAP_PERF;
}

#if defined(__x86_64__)
/* perf's order: AX BX CX DX SI DI BP SP IP FLAGS CS SS R8-R15. */
static bool take_regs(pid_t tid, struct live_stop *stop)
{
	union {
		struct user_regs_struct r64;
		u32 r32[17];	/* bx cx dx si di bp ax ds es fs gs orig_ax ip cs flags sp ss */
	} u;
	struct iovec io = { .iov_base = &u, .iov_len = sizeof(u) };
	u64 *to = stop->regs;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io))
		return false;
	if (io.iov_len == sizeof(u.r32)) {
		static const u8 order[] = { 6, 0, 1, 2, 3, 4, 5, 15, 12, 14, 13, 16 };

		stop->abi = PERF_SAMPLE_REGS_ABI_32;
		memset(to, 0, sizeof(stop->regs));
		for (u32 k = 0; k < EHF_ARRAY_SIZE(order); k++)
			to[k] = u.r32[order[k]];
		return true;
	}
	if (io.iov_len != sizeof(u.r64))
		return false;
	stop->abi = PERF_SAMPLE_REGS_ABI_64;
	memcpy(to, (const u64[LIVE_NR_REGS]) {
		u.r64.rax, u.r64.rbx, u.r64.rcx, u.r64.rdx, u.r64.rsi, u.r64.rdi, u.r64.rbp,
		u.r64.rsp, u.r64.rip, u.r64.eflags, u.r64.cs, u.r64.ss, u.r64.r8, u.r64.r9,
		u.r64.r10, u.r64.r11, u.r64.r12, u.r64.r13, u.r64.r14, u.r64.r15,
	}, sizeof(stop->regs));
	return true;
}
#else
static bool take_regs(pid_t tid, struct live_stop *stop)
{
	(void)tid;
	(void)stop;
	return false;
}
#endif

static void on_trap(struct live *l, struct live_thread *t, bool late)
{
	struct live_stop stop = { .pid = t->pid, .tid = t->tid, .own = &t->own, .time = now_ns() };

	t->sampled++;
	if (late) {
		l->result->late++;
	} else if (!take_regs(t->tid, &stop)) {
		l->result->vanished++;
	} else {
		l->result->overflows++;
		if (l->hooks->overflow)
			heed(l, l->hooks->overflow(l->hooks->arg, &stop));
	}
	go_on(t->tid, 0);
}

static pid_t number_of(pid_t tid, const char *key)
{
	char buf[32];

	return live_status(tid, key, buf, sizeof(buf)) ? (pid_t)atol(buf) : 0;
}

/* A thread that was traced from its birth, met for the first time. */
static struct live_thread *meet(struct live *l, pid_t tid)
{
	pid_t pid = number_of(tid, "Tgid:");
	struct live_thread *t;
	bool fresh;

	if (!pid)
		pid = tid;	/* gone already */
	fresh = !live_threads_of(l, pid);
	t = live_add(l, tid, pid);
	if (!t) {
		heed(l, -ENOMEM);
		return NULL;
	}
	t->letting_go = l->letting_go;
	if (fresh) {
		l->result->processes++;
		if (l->hooks->fork)
			heed(l, l->hooks->fork(l->hooks->arg, number_of(tid, "PPid:"), pid));
	} else if (l->hooks->thread) {
		heed(l, l->hooks->thread(l->hooks->arg, pid, tid));
	}
	if (!t->letting_go)
		live_open_event(l, t);
	return t;
}

/*
 * All other threads are gone by now, and whichever called execve() has the number of the first
 * one. The kernel took its event away.
 */
static void on_exec(struct live *l, struct live_thread *t)
{
	unsigned long former = 0;
	pid_t pid = t->pid;

	ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &former);
	for (u32 k = 0; k < LIVE_BUCKETS; k++) {
		struct live_thread *next;

		for (struct live_thread *other = l->bucket[k]; other; other = next) {
			next = other->next;
			if (other != t && other->pid == pid)
				live_forget(l, other);
		}
	}
	if (l->hooks->thread_end)
		l->hooks->thread_end(l->hooks->arg, t->tid, t->own);
	t->own = NULL;
	l->result->execs++;
	if (t->pid == l->target.pid)
		l->started = true;
	if (l->hooks->exec)
		heed(l, l->hooks->exec(l->hooks->arg, t->pid));
	live_open_event(l, t);
}

static void on_gone(struct live *l, pid_t tid, int status)
{
	struct live_thread *t = live_find(l, tid);
	pid_t pid = t ? t->pid : tid;

	if (t)
		live_forget(l, t);
	if (t && !live_threads_of(l, pid) && l->hooks->exit)
		heed(l, l->hooks->exit(l->hooks->arg, pid));
	if (tid == l->pid) {
		l->over = true;
		if (l->target.pid) {
			l->target.pid = 0;
			l->result->exited = l->started;
			l->result->wait_status = status;
		}
	}
}

static bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static void on_signal(struct live *l, struct live_thread *t, int sig)
{
	siginfo_t info;
	bool late;

	if (sig == SIGTRAP) {
		if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info)) {
			l->result->vanished++;
			go_on(t->tid, 0);
			return;
		}
		if (live_is_trap(l, &info, &late)) {
			on_trap(l, t, late);
			return;
		}
	}
	l->result->signals++;
	go_on(t->tid, sig);
}

/**
 * live_handle() - do what a stop or an end asks for
 * @l: the run
 * @tid: who, as waitpid() says
 * @status: what happened
 */
void live_handle(struct live *l, pid_t tid, int status)
{
	int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	int event = status >> 16;
	struct live_thread *t;

	if (!WIFSTOPPED(status)) {
		on_gone(l, tid, status);
		return;
	}
	t = live_find(l, tid);
	if (!t)
		t = meet(l, tid);
	if (!t || t->letting_go) {
		if (t)
			live_leaving(l, t, sig, event);
		else
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return;
	}
	switch (event) {
	case 0:
		on_signal(l, t, sig);
		return;
	case PTRACE_EVENT_STOP:
		if (is_stop_signal(sig))
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		else
			go_on(tid, 0);
		return;
	case PTRACE_EVENT_EXEC:
		on_exec(l, t);
		break;
	}
	go_on(tid, 0);
}

/* ---- the run ---- */

static enum perf_capture_end explain(struct live *l, enum perf_capture_end end, int status,
				     const char *format, ...) __attribute__((format(printf, 4, 5)));
static enum perf_capture_end explain(struct live *l, enum perf_capture_end end, int status,
				     const char *format, ...)
{
	va_list ap;

	l->err->status = status;
	l->err->pos = 0;
	va_start(ap, format);
	vsnprintf(l->err->text, sizeof(l->err->text), format, ap);
	va_end(ap);
	return end;
}

static enum perf_capture_end fail(struct live *l, enum perf_capture_end end, int status,
				  const char *what)
{
	return explain(l, end, status, "%s: %s", what, strerror(status));
}

/* Handles all stops that there are, but comes back now and then. */
static int handle_some(struct live *l)
{
	for (int n = 0; n < 16 && !l->over && !l->status; n++) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid < 0 && errno == ECHILD)
			l->over = true;
		if (tid <= 0)
			return n;
		live_handle(l, tid, status);
	}
	return 16;
}

/* Until the target ends, time is up, or somebody interrupts. */
static void run(struct live *l)
{
	u64 end = l->opts.duration_ms ? now_ms() + l->opts.duration_ms : UINT64_MAX;
	u64 tick = now_ms() + TICK_MS;
	u32 interrupts = 0;
	bool asked = false;

	while (!l->over && !l->status) {
		struct pollfd fd = { .fd = l->signals, .events = POLLIN };
		int handled = handle_some(l);
		u32 nr = perf_signals_read(l->signals, &l->result->signal);
		u64 now = now_ms();

		if (l->over || l->status)
			break;
		interrupts += nr;
		if (interrupts && !l->target.pid)
			break;
		if (nr && interrupts == nr && now + GRACE_MS < end)
			end = now + GRACE_MS;
		if (now >= end || interrupts > 1) {
			if (asked || !l->target.pid || !l->started)
				break;
			/* The command gets SIGTERM and some time; one that stays is left alone. */
			kill(l->target.pid, SIGTERM);
			asked = true;
			interrupts = 1;
			end = now + TERM_MS;
		}
		if (now >= tick) {
			live_scan(l, false);
			tick = now + TICK_MS;
		}
		if (!handled)
			poll(&fd, 1, (int)(tick - now));
	}
}

static bool init(struct live *l, const struct live_opts *opts, const struct live_hooks *hooks,
		 struct live_result *result, struct perf_error *err)
{
	memset(l, 0, sizeof(*l));
	memset(result, 0, sizeof(*result));
	memset(err, 0, sizeof(*err));
	l->opts = *opts;
	l->hooks = hooks;
	l->result = result;
	l->err = err;
	l->signals = -1;
	l->options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		     PTRACE_O_TRACEEXEC;
	sigprocmask(SIG_BLOCK, NULL, &l->old_mask);
	if (!l->opts.frequency)
		l->opts.frequency = PERF_CAPTURE_FREQUENCY;
	l->period = 1000000000u / l->opts.frequency;
	l->magic = now_ns() * 0x9e3779b97f4a7c15ull ^ (u64)getpid() << 32;
	return LIVE_REGS;
}

/* Why no thread gets an event: the kernel's word, and what is behind it. */
static enum perf_capture_end no_events(struct live *l)
{
	int status = l->result->no_event_error;
	const char *more = "";

	if (status == EINVAL)
		more = ": this kernel has no events with sigtrap (Linux 5.13)";
	else if (status == EACCES || status == EPERM)
		more = " (see kernel.perf_event_paranoid)";
	return explain(l, PERF_CAPTURE_IMPOSSIBLE, status, "perf_event_open: %s%s",
		       strerror(status), more);
}

static void clean_up(struct live *l)
{
	live_forget_all(l);
	perf_target_end(&l->target);
	if (l->signals >= 0) {
		/* Or one that was meant for us would end us now. */
		perf_signals_read(l->signals, &l->result->signal);
		close(l->signals);
	}
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static enum perf_capture_end finish(struct live *l)
{
	live_scan(l, true);
	live_let_go(l);
	if (l->result->undetached)
		live_note(l, "%llu threads did not stop to be let go",
			  (unsigned long long)l->result->undetached);
	if (l->status) {
		l->result->hook_status = l->status;
		return explain(l, PERF_CAPTURE_SINK, l->status < 0 ? -l->status : EIO, "%s",
			       strerror(l->status < 0 ? -l->status : EIO));
	}
	if (l->result->no_event && !l->result->overflows)
		return no_events(l);
	if (l->result->no_event)
		live_note(l, "%llu threads were refused an event: %s",
			  (unsigned long long)l->result->no_event,
			  strerror(l->result->no_event_error));
	return PERF_CAPTURE_OK;
}

/* What the child said of execve(); 0 where it was executed. */
static int exec_error(struct live *l)
{
	int status = 0;

	if (l->started || read(l->target.report, &status, sizeof(status)) != sizeof(status))
		return 0;
	return status;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static enum perf_capture_end trace_command(struct live *l, char *const argv[])
{
	int rc = perf_signals_catch(&l->signals, &l->old_mask);

	if (rc)
		return fail(l, PERF_CAPTURE_FAILED, -rc, "signalfd");
	rc = perf_target_fork(&l->target, argv, &l->old_mask);
	if (rc)
		return fail(l, PERF_CAPTURE_FAILED, -rc, "fork");
	l->pid = l->target.pid;
	l->options |= PTRACE_O_EXITKILL;
	if (ptrace(PTRACE_SEIZE, l->pid, NULL, (void *)l->options))
		return fail(l, PERF_CAPTURE_IMPOSSIBLE, errno,
			    "the command cannot be traced (is ehunwind-check itself traced?)");
	if (!live_add(l, l->pid, l->pid))
		return fail(l, PERF_CAPTURE_FAILED, ENOMEM, "fork");
	l->result->processes = 1;
	if (l->hooks->start)
		heed(l, l->hooks->start(l->hooks->arg));
	/* Events come with the execve(): what runs before it is ours. */
	if (write(l->target.go, "", 1) != 1)
		heed(l, -errno);
	close_fd(&l->target.go);
	run(l);
	rc = l->over ? exec_error(l) : 0;
	close_fd(&l->target.report);
	if (rc) {
		perf_target_explain(rc, argv[0], l->err);
		return PERF_CAPTURE_NO_COMMAND;
	}
	return finish(l);
}

/**
 * live_command() - run a command and stop its threads
 * @opts: how often, how long
 * @argv: command and arguments, ended by NULL; searched in PATH
 * @hooks: who is told
 * @result: figures, filled as far as it came
 * @err: why it failed
 *
 * Follows all threads and child processes. Ends when the command itself ends; SIGINT, SIGTERM,
 * SIGHUP and the end of the time end it too, as perf_capture_command() does. Child processes that
 * are left then are let go and run on. Should this process die, the command dies with it: it could
 * not stand the traps that come.
 *
 * Return: how it ended.
 */
enum perf_capture_end live_command(const struct live_opts *opts, char *const argv[],
				   const struct live_hooks *hooks, struct live_result *result,
				   struct perf_error *err)
{
	enum perf_capture_end end;
	struct live l;

	if (!init(&l, opts, hooks, result, err))
		return fail(&l, PERF_CAPTURE_IMPOSSIBLE, EOPNOTSUPP, "live stops on this machine");
	end = trace_command(&l, argv);
	clean_up(&l);
	return end;
}

/* ---- a running process ---- */

static enum perf_capture_end explain_seize(struct live *l, pid_t pid, int status)
{
	const enum perf_capture_end end = PERF_CAPTURE_IMPOSSIBLE;
	char who[64] = "?", uid[64] = "", name[48] = "";
	pid_t tracer = number_of(pid, "TracerPid:");

	if (status == ESRCH || !live_status(pid, "Name:", name, sizeof(name)))
		return explain(l, PERF_CAPTURE_NO_COMMAND, status, "process %d: no such process",
			       (int)pid);
	if (pid == getpid())
		return explain(l, end, status, "process %d: that is this process", (int)pid);
	if (tracer) {
		live_status(tracer, "Name:", who, sizeof(who));
		return explain(l, end, status, "process %d (%s) is already traced, by process %d "
			       "(%s)", (int)pid, name, (int)tracer, who);
	}
	live_status(pid, "Uid:", uid, sizeof(uid));
	if (geteuid() && (uid_t)atol(uid) != geteuid())
		return explain(l, end, status, "process %d (%s) belongs to another user (%ld): %s",
			       (int)pid, name, atol(uid), strerror(status));
	return explain(l, end, status, "process %d (%s) cannot be traced: %s", (int)pid, name,
		       strerror(status));
}

/* All threads; those that start meanwhile are found in another round, or traced by their parent. */
static int seize_all(struct live *l)
{
	char path[64];
	bool found = true;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)l->pid);
	while (found) {
		pid_t *tids;
		int nr = perf_proc_threads(l->pid, &tids);

		if (nr < 0)
			return l->nr_threads ? 0 : nr;
		found = false;
		for (int k = 0; k < nr; k++) {
			struct live_thread *t;

			if (live_find(l, tids[k]))
				continue;
			if (ptrace(PTRACE_SEIZE, tids[k], NULL, (void *)l->options)) {
				int rc = -errno;

				/* Gone, or its parent's options had us trace it already. */
				if (l->nr_threads && (rc == -ESRCH || rc == -EPERM))
					continue;
				free(tids);
				return rc;
			}
			t = live_add(l, tids[k], l->pid);
			if (!t) {
				free(tids);
				return -ENOMEM;
			}
			found = true;
		}
		free(tids);
	}
	return 0;
}

static enum perf_capture_end trace_process(struct live *l, pid_t pid)
{
	int rc = perf_signals_catch(&l->signals, &l->old_mask);

	if (rc)
		return fail(l, PERF_CAPTURE_FAILED, -rc, "signalfd");
	if (number_of(pid, "Tgid:") != pid)
		return explain_seize(l, pid, ESRCH);
	l->pid = pid;
	rc = seize_all(l);
	if (rc)
		return explain_seize(l, pid, -rc);
	l->result->processes = 1;
	if (l->hooks->start)
		heed(l, l->hooks->start(l->hooks->arg));
	for (u32 k = 0; k < LIVE_BUCKETS; k++) {
		for (struct live_thread *t = l->bucket[k]; t; t = t->next)
			live_open_event(l, t);
	}
	run(l);
	return finish(l);
}

/**
 * live_attach() - stop the threads of a running process
 * @opts: how often, how long
 * @pid: the process
 * @hooks: who is told
 * @result: figures, filled as far as it came
 * @err: why it failed: no such process, another user's, traced already
 *
 * Child processes that it starts from now on are followed too. Ends when the process ends, at
 * SIGINT, SIGTERM or SIGHUP, or when the time is up; all are let go then and run on, with no trap
 * of ours left behind.
 *
 * Return: how it ended.
 */
enum perf_capture_end live_attach(const struct live_opts *opts, pid_t pid,
				  const struct live_hooks *hooks, struct live_result *result,
				  struct perf_error *err)
{
	enum perf_capture_end end;
	struct live l;

	if (!init(&l, opts, hooks, result, err))
		return fail(&l, PERF_CAPTURE_IMPOSSIBLE, EOPNOTSUPP, "live stops on this machine");
	end = trace_process(&l, pid);
	clean_up(&l);
	return end;
}
