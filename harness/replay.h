/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * From a perf sample to a trace: its registers, its memory as a list of sources, and the walk.
 */
#ifndef HARNESS_REPLAY_H
#define HARNESS_REPLAY_H

#include "harness/core.h"
#include "harness/task.h"
#include "unwind/walk.h"

/* Entries of a trace: what the kernel's per-task cache of one page holds. */
#define REPLAY_ENTRIES	510

/* Pages of a stopped task that are told apart in one walk; a power of two. */
#define REPLAY_LIVE_PAGES	4096

/*	symbol		name			meaning */
#define REPLAY_UNTESTABLES(X) \
	X(TESTABLE,	"testable",		"it can be walked") \
	X(KERNEL_THREAD, "kernel-thread",	"no user registers: a kernel thread, or it exits") \
	X(NO_REGS,	"no-registers",		"the event records no user registers") \
	X(NO_IP_SP,	"no-ip-or-sp",		"its register mask lacks pc or stack pointer") \
	X(NO_STACK,	"no-stack",		"no bytes of the stack came with it") \
	X(NO_MAPS,	"no-maps",		"nothing is known of what the process maps") \
	X(COMPAT,	"32-bit",		"32-bit code in a program that is not, or not known") \
	X(MACHINE,	"machine",		"a machine that is not supported yet") \
	X(MODULE_STALE,	"module-stale",		"its pc is in a file that has changed since") \
	X(MODULE_GONE,	"module-deleted",	"its pc is in a file that is gone") \
	X(MODULE_UNUSABLE, "module-unusable",	"its pc is in a file that cannot be used") \
	X(CHANGED,	"memory-changed",	"the stack changed, or its thread was killed, meanwhile")

enum replay_untestable {
#define X(sym, name, text) REPLAY_##sym,
	REPLAY_UNTESTABLES(X)
#undef X
	REPLAY_NR_UNTESTABLES
};

/*	symbol		name		meaning */
#define REPLAY_SOURCES(X) \
	X(STACK,	"stack",	"the stack window that came with the sample") \
	X(FILE,		"file",		"pages of a mapped file that was never writable") \
	X(VDSO,		"vdso",		"the vDSO") \
	X(LIVE,		"live",		"a stopped task's own memory") \
	X(CORE,		"core",		"a core dump") \
	X(PAST_STACK,	"past-stack",	"not here: above the window, where the dump ends") \
	X(BELOW_STACK,	"below-stack",	"not here: up to 1 MiB below the stack pointer") \
	X(WRITABLE,	"writable",	"not here: a mapping that is or was writable") \
	X(UNUSABLE,	"unusable",	"not here: a file that is not used") \
	X(UNREAD,	"unread",	"not here: the file's page could not be read") \
	X(UNMAPPED,	"unmapped",	"not here: nothing is known to be mapped") \
	X(INJECTED,	"injected",	"not here: the read was made to fail")

enum replay_source {
#define X(sym, name, text) REPLAY_FROM_##sym,
	REPLAY_SOURCES(X)
#undef X
	REPLAY_NR_SOURCES
};

/**
 * struct replay_cost - what one walk asked of its memory
 * @reads: reads, as the core counts them: one for ->direct and what follows it at that address
 * @bytes: bytes that they fetched, as the core counts them
 * @insns: call frame instructions executed
 * @pages: distinct pages of 4 KiB that were read, of all sources; exact with @copy
 * @page_ins: of them, pages that had to be read from a file
 * @page_in_bytes: bytes of those
 * @live_bytes: bytes that were read from a stopped task's memory
 * @from: where reads ended. Only those that reached the source: bytes that it offered directly
 *	are read without it
 * @missed: the read failed; @missed_addr is its address and @missed_from says why. The last
 *	one: of a trace that stops with a fault, the one that ended it
 */
struct replay_cost {
	u64 reads;
	u64 bytes;
	u64 insns;
	u64 pages;
	u64 page_ins;
	u64 page_in_bytes;
	u64 live_bytes;
	u64 from[REPLAY_NR_SOURCES];
	bool missed;
	u64 missed_addr;
	enum replay_source missed_from;
};

/**
 * struct replay_opts - how to walk; zeros are the defaults
 * @copy: every read copies, as in a kernel: the source offers nothing directly
 * @fault_at: this read fails, counted from 1 as @reads counts them; 0 for none. Implies @copy, and
 *	uses neither @cache nor @memo: each read that a walk can make is made
 * @cut_stack: use only the first @stack_limit bytes of the stack window
 * @stack_limit: bytes
 * @methods: EHU_METHOD_* fallbacks
 * @limits: NULL for ehf_limits_walk
 * @cache: optional: rows of earlier walks
 * @memo: optional: CIEs of earlier walks
 */
struct replay_opts {
	bool copy;
	u64 fault_at;
	bool cut_stack;
	u32 stack_limit;
	u32 methods;
	const struct ehf_limits *limits;
	struct ehu_row_cache *cache;
	struct ehf_memo *memo;
};

/**
 * struct replay_stats - samples so far
 * @samples: all
 * @untestable: by reason; [REPLAY_TESTABLE] counts the testable ones
 * @kernel_regs: testable samples that hit the kernel in an NMI and lack registers for that
 * @walks: walks, repeated ones included
 */
struct replay_stats {
	u64 samples;
	u64 untestable[REPLAY_NR_UNTESTABLES];
	u64 kernel_regs;
	u64 walks;
};

/**
 * struct replay - a sample at hand
 * @mem: the sample's memory as the core sees it. For replay.c; others call replay_read()
 * @maps: of the process, as they were at the sample; task_text() is up to date
 * @arch: its machine
 * @regs: its registers: those that are not known are 0
 * @stack: bytes of the stack, from @sp up; in the record
 * @sp: user stack pointer
 * @stack_size: bytes at @stack: really copied ones
 * @stack_full: all the bytes that were asked for came: the stack goes on behind them
 * @kernel_regs: registers are missing because the sample hit the kernel in an NMI
 * @live: a thread that is stopped where the sample says: what is not in a file that was never
 *	writable is read from its memory, nothing from @stack; 0 where there is none. Set it
 *	after replay_sample(), which clears it
 * @core: a core dump that has the memory: what it holds is read from there, the rest from files;
 *	NULL where there is none. Set by who has it, once
 * @has_fprs: FPRs of samples are those of that moment. Set by who knows, once: perf's of s390x are
 *	not (see arch/s390x.c)
 * @ra_mask: bits of a return address that are address; 0 where that is not known
 * @sp_index: where the stack pointer is among a sample's values
 * @stats: counters
 */
struct replay {
	struct ehf_mem mem;
	struct task_maps *maps;
	const struct ehu_arch *arch;
	struct ehu_regs regs;
	const u8 *stack;
	u64 sp;
	u32 stack_size;
	bool stack_full;
	bool kernel_regs;
	int live;
	const struct core *core;
	bool has_fprs;
	u64 ra_mask;
	u8 sp_index;
	struct replay_stats stats;

	/* for replay.c only */
	struct pager *pager;
	const struct task_range *last;
	struct replay_cost *cost;
	u64 reads;
	u64 fault_at;
	u64 stack_pages;
	u32 stack_used;
	u64 live_walk;
	u64 live_bytes;
	u64 live_pages;
	u64 live_seen[REPLAY_LIVE_PAGES][2];
	u64 mask;
	u8 index[PERF_ABI_MAX_REGS];
	const struct ehu_arch *mask_arch;
};

void replay_init(struct replay *r, struct pager *pager);
const char *replay_untestable_name(enum replay_untestable why);
const char *replay_untestable_text(enum replay_untestable why);
const char *replay_source_name(enum replay_source source);
enum replay_untestable replay_sample(struct replay *r, struct task *task,
				     const struct perf_event_rec *rec);
void replay_walk(struct replay *r, const struct replay_opts *opts, struct ehu_trace *trace,
		 struct replay_cost *cost);
bool replay_read(struct replay *r, u64 addr, void *dst, u32 len);

#endif /* HARNESS_REPLAY_H */
