// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Replays a sample: what was recorded stands for the task, and the unwinder walks it.
 */
#include "harness/replay.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

/* What is this far from the window counts as the stack that was not recorded. */
#define BELOW_REACH	(1ULL << 20)
#define ABOVE_REACH	(8ULL << 20)

static const char *const untestable_names[] = {
#define X(sym, name, text) [REPLAY_##sym] = name,
	REPLAY_UNTESTABLES(X)
#undef X
};

static const char *const untestable_texts[] = {
#define X(sym, name, text) [REPLAY_##sym] = text,
	REPLAY_UNTESTABLES(X)
#undef X
};

static const char *const source_names[] = {
#define X(sym, name, text) [REPLAY_FROM_##sym] = name,
	REPLAY_SOURCES(X)
#undef X
};

/**
 * replay_untestable_name() - the name of a reason, as reports and JSON have it
 * @why: the reason
 *
 * Return: a constant string.
 */
const char *replay_untestable_name(enum replay_untestable why)
{
	return (unsigned int)why < REPLAY_NR_UNTESTABLES ? untestable_names[why] : "unknown";
}

/**
 * replay_untestable_text() - what a reason means
 * @why: the reason
 *
 * Return: a constant string.
 */
const char *replay_untestable_text(enum replay_untestable why)
{
	return (unsigned int)why < REPLAY_NR_UNTESTABLES ? untestable_texts[why] : "unknown";
}

/**
 * replay_source_name() - the name of a source of memory
 * @source: the source
 *
 * Return: a constant string.
 */
const char *replay_source_name(enum replay_source source)
{
	return (unsigned int)source < REPLAY_NR_SOURCES ? source_names[source] : "unknown";
}

/* The range that covers an address; mostly that of the last time. */
static const struct task_range *range_at(struct replay *r, u64 addr)
{
	if (!r->last || addr < r->last->start || addr >= r->last->end)
		r->last = task_range_at(r->maps, addr);
	return r->last;
}

/*
 * Data that the loader relocated and then made read-only: its mapping does not tell, its segment
 * does. Pages that a writable segment takes part in are nobody's to read from the file.
 */
static bool was_written(const struct task_range *at, u64 addr)
{
	const struct module *m = at->module;

	if (at->flags & TASK_WRITABLE)
		return true;
	if (at->flags & TASK_TEXT)
		return false;
	addr -= at->place->bias;
	for (u32 k = 0; k < m->nr_segs; k++) {
		const struct image_segment *s = &m->seg[k];

		if (s->flags & PF_W && addr >= (s->addr & ~(u64)(PAGER_PAGE - 1)) && addr < s->end)
			return true;
	}
	return false;
}

/* Where the byte at an address is to be had; @range is set for FILE and VDSO. */
static enum replay_source source_at(struct replay *r, u64 addr, const struct task_range **range)
{
	const struct task_range *at;
	u64 avail;

	if (!r->live && addr - r->sp < r->stack_used)
		return REPLAY_FROM_STACK;
	if (r->core && core_at(r->core, addr, &avail))
		return REPLAY_FROM_CORE;
	at = range_at(r, addr);
	*range = at;
	if (r->live && !(at && at->place && !was_written(at, addr)))
		return REPLAY_FROM_LIVE;
	if (at && !at->place && r->sp >= at->start && r->sp < at->end)
		return addr < r->sp ? REPLAY_FROM_BELOW_STACK : REPLAY_FROM_PAST_STACK;
	if (at && at->place ? was_written(at, addr) : at && at->flags & TASK_WRITABLE)
		return REPLAY_FROM_WRITABLE;
	if (at && at->place)
		return at->module->memory ? REPLAY_FROM_VDSO : REPLAY_FROM_FILE;
	if (at)
		return at->module->status == MODULE_ANON ? REPLAY_FROM_WRITABLE :
							   REPLAY_FROM_UNUSABLE;
	if (addr - r->sp < ABOVE_REACH)
		return REPLAY_FROM_PAST_STACK;
	if (r->sp - addr <= BELOW_REACH)
		return REPLAY_FROM_BELOW_STACK;
	return REPLAY_FROM_UNMAPPED;
}

static void use_stack(struct replay *r, u64 addr, u64 len)
{
	u64 page = (addr / PAGER_PAGE) - (r->sp / PAGER_PAGE);
	u64 last = ((addr + len - 1) / PAGER_PAGE) - (r->sp / PAGER_PAGE);

	/* A record holds 64 KiB at most, which is 17 pages. */
	for (; page <= last && page < 64; page++)
		r->stack_pages |= 1ULL << page;
}

/* Pages of one walk, each counted once: a set by address whose entries name their walk. */
static void use_live(struct replay *r, u64 addr, u64 len)
{
	u64 page = addr / PAGER_PAGE, last = (addr + len - 1) / PAGER_PAGE;

	for (; page <= last; page++) {
		u64 k = page;
		u32 tries = 0;

		while (r->live_seen[k &= REPLAY_LIVE_PAGES - 1][1] == r->live_walk &&
		       r->live_seen[k][0] != page && tries++ < REPLAY_LIVE_PAGES)
			k++;
		if (r->live_seen[k][1] == r->live_walk && r->live_seen[k][0] == page)
			continue;
		r->live_seen[k][0] = page;
		r->live_seen[k][1] = r->live_walk;
		r->live_pages++;
	}
}

static bool read_live(struct replay *r, u64 addr, void *dst, u64 len)
{
	struct iovec to = { .iov_base = dst, .iov_len = len };
	struct iovec from = { .iov_base = (void *)(uintptr_t)addr, .iov_len = len };

	if (process_vm_readv(r->live, &to, 1, &from, 1, 0) != (ssize_t)len)
		return false;
	use_live(r, addr, len);
	r->live_bytes += len;
	return true;
}

/* Copies bytes, from one source after the other where they lie at a seam. */
static enum replay_source copy(struct replay *r, u64 addr, u8 *dst, u64 len)
{
	enum replay_source source = REPLAY_FROM_UNMAPPED;

	while (len) {
		const struct task_range *range = NULL;
		const u8 *p;
		u64 part;

		source = source_at(r, addr, &range);
		switch (source) {
		case REPLAY_FROM_STACK:
			part = r->stack_used - (addr - r->sp);
			if (part > len)
				part = len;
			use_stack(r, addr, part);
			memcpy(dst, r->stack + (addr - r->sp), part);
			break;
		case REPLAY_FROM_FILE:
		case REPLAY_FROM_VDSO:
			part = range->end - addr;
			if (part > len)
				part = len;
			if (!pager_read(range->module->file, range->pos + (addr - range->start),
					dst, part))
				return REPLAY_FROM_UNREAD;
			break;
		case REPLAY_FROM_CORE:
			p = core_at(r->core, addr, &part);
			if (part > len)
				part = len;
			use_live(r, addr, part);
			memcpy(dst, p, part);
			break;
		case REPLAY_FROM_LIVE:
			/* A seam is none here: a file's pages are in the task's memory, too. */
			part = len;
			if (!read_live(r, addr, dst, part))
				return REPLAY_FROM_UNMAPPED;
			break;
		default:
			return source;
		}
		addr += part;
		dst += part;
		len -= part;
	}
	return source;
}

static bool is_here(enum replay_source source)
{
	return source == REPLAY_FROM_STACK || source == REPLAY_FROM_FILE ||
	       source == REPLAY_FROM_VDSO || source == REPLAY_FROM_LIVE ||
	       source == REPLAY_FROM_CORE;
}

static bool account(struct replay *r, u64 addr, enum replay_source source)
{
	r->cost->from[source]++;
	if (is_here(source))
		return true;
	r->cost->missed = true;
	r->cost->missed_addr = addr;
	r->cost->missed_from = source;
	return false;
}

static bool mem_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct replay *r = (struct replay *)(uintptr_t)mem;

	if (++r->reads == r->fault_at)
		return account(r, addr, REPLAY_FROM_INJECTED);
	return account(r, addr, copy(r, addr, dst, len));
}

/* What is not at hand is left to mem_read(), which says why and keeps the count. */
static const u8 *mem_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	struct replay *r = (struct replay *)(uintptr_t)mem;
	const struct task_range *range = NULL;
	enum replay_source source = source_at(r, addr, &range);
	const u8 *p = NULL;
	u64 left;

	if (source == REPLAY_FROM_STACK) {
		left = r->stack_used - (addr - r->sp);
		*avail = left < len ? left : len;
		use_stack(r, addr, 1);
		p = r->stack + (addr - r->sp);
	} else if (source == REPLAY_FROM_CORE) {
		p = core_at(r->core, addr, avail);
		if (*avail > len)
			*avail = len;
		use_live(r, addr, 1);
	} else if (source == REPLAY_FROM_FILE || source == REPLAY_FROM_VDSO) {
		left = range->end - addr;
		p = pager_direct(range->module->file, range->pos + (addr - range->start),
				 left < len ? left : len, avail);
	}
	if (p)
		r->cost->from[source]++;
	return p;
}

/**
 * replay_init() - make ready for samples
 * @r: filled in; one sample at a time, one thread
 * @pager: that of the modules of all tasks
 */
void replay_init(struct replay *r, struct pager *pager)
{
	memset(r, 0, sizeof(*r));
	r->mem.read = mem_read;
	r->pager = pager;
}

/* Where each register of a mask stands among a sample's values; 0xff for none. */
static void learn_mask(struct replay *r, const struct ehu_arch *arch, u64 mask)
{
	for (u32 k = 0; k < arch->nr_sample && k < PERF_ABI_MAX_REGS; k++) {
		u32 bit = arch->sample[k].bit & 63;

		r->index[k] = mask >> bit & 1 ?
			(u8)__builtin_popcountll(mask & ((1ULL << bit) - 1)) : 0xff;
		if (arch->sample[k].reg == arch->abi.reg_sp)
			r->sp_index = r->index[k];
	}
	r->mask = mask;
	r->mask_arch = arch;
}

static bool in_user_mode(const struct perf_event_rec *rec)
{
	return (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
}

/* All of the registers that an NMI in the kernel has no values of are marked so. */
static bool lost_in_kernel(const struct replay *r, const struct perf_event_rec *rec)
{
	const struct perf_rec_sample *s = &rec->sample;
	const u64 lost = r->arch->sample_lost;
	u32 k = 0;

	if (in_user_mode(rec) || !(s->regs_mask & lost))
		return false;
	for (u64 left = s->regs_mask; left && k < s->nr_regs; left &= left - 1, k++) {
		if (left & -left & lost && s->regs[k] != ~0ULL)
			return false;
	}
	return true;
}

/* Fills in the registers; false where pc or stack pointer is missing. */
static bool take_regs(struct replay *r, const struct perf_event_rec *rec)
{
	const struct perf_rec_sample *s = &rec->sample;
	const struct ehu_arch *arch = r->arch;
	bool has_ip = false;
	u64 skip = 0;

	if (r->mask != s->regs_mask || r->mask_arch != arch)
		learn_mask(r, arch, s->regs_mask);
	memset(&r->regs, 0, sizeof(r->regs));
	r->kernel_regs = lost_in_kernel(r, rec);
	if (r->kernel_regs)
		skip = arch->sample_lost;
	else if (in_user_mode(rec) && !r->has_fprs && !r->core)
		skip = arch->sample_stale;
	for (u32 k = 0; k < arch->nr_sample && k < PERF_ABI_MAX_REGS; k++) {
		const struct ehu_sample_reg *at = &arch->sample[k];
		u64 value;

		if (r->index[k] >= s->nr_regs || skip >> (at->bit & 63) & 1)
			continue;
		value = ehf_addr(&arch->abi, s->regs[r->index[k]]);
		if (at->reg == EHU_SAMPLE_IP) {
			r->regs.ip = value;
			has_ip = true;
		} else if (at->reg < EHU_NR_REGS) {
			/* Where addresses are shorter than registers (x32), values are not. */
			r->regs.reg[at->reg] = arch->abi.word_size == 4 ?
				value : s->regs[r->index[k]];
			r->regs.known |= 1ULL << at->reg;
		}
	}
	r->sp = r->regs.reg[arch->abi.reg_sp];
	return has_ip && r->regs.known >> arch->abi.reg_sp & 1;
}

/* A file that is needed and cannot be used. */
static enum replay_untestable by_status(enum module_status status)
{
	switch (status) {
	case MODULE_STALE:
		return REPLAY_MODULE_STALE;
	case MODULE_DELETED:
		return REPLAY_MODULE_GONE;
	case MODULE_OTHER_MACHINE:
		return REPLAY_MACHINE;
	default:
		return REPLAY_MODULE_UNUSABLE;
	}
}

static enum replay_untestable check_module(const struct replay *r)
{
	const struct task_range *at = task_range_at(r->maps, r->regs.ip);

	if (!at)
		return REPLAY_TESTABLE;
	if (module_usable(at->module))
		return at->place && at->place->stop ? REPLAY_MODULE_UNUSABLE : REPLAY_TESTABLE;
	/* No file is missing where there is none. The walk says so. */
	if (at->module->status == MODULE_ANON || at->module->status == MODULE_SPECIAL)
		return REPLAY_TESTABLE;
	return by_status(at->module->status);
}

static enum replay_untestable look(struct replay *r, struct task *task,
				   const struct perf_event_rec *rec)
{
	const struct perf_rec_sample *s = &rec->sample;

	if (!rec->attr || !(rec->attr->sample_type & PERF_SAMPLE_REGS_USER))
		return REPLAY_NO_REGS;
	if (s->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return REPLAY_KERNEL_THREAD;
	if (!task || !task->maps->nr)
		return s->abi == PERF_SAMPLE_REGS_ABI_32 ? REPLAY_COMPAT : REPLAY_NO_MAPS;
	r->maps = task->maps;
	r->arch = r->maps->arch;
	if (!r->arch) {
		if (s->abi == PERF_SAMPLE_REGS_ABI_32)
			return REPLAY_COMPAT;
		return r->maps->main ? by_status(r->maps->main->status) : REPLAY_NO_MAPS;
	}
	/* 32-bit code in a 64-bit program, or the other way round: not the machine of its CFI. */
	if ((s->abi == PERF_SAMPLE_REGS_ABI_32) != (r->arch->abi.word_size == 4))
		return s->abi == PERF_SAMPLE_REGS_ABI_32 ? REPLAY_COMPAT : REPLAY_MACHINE;
	if (!take_regs(r, rec))
		return REPLAY_NO_IP_SP;
	if (!s->dyn_size)
		return REPLAY_NO_STACK;
	r->stack = s->stack;
	r->stack_size = s->dyn_size;
	r->stack_full = s->dyn_size == s->stack_size;
	/* A window cannot reach beyond the end of the address space. */
	if (r->stack_size > ~r->sp)
		r->stack_size = (u32)~r->sp;
	task_text(r->maps);
	return check_module(r);
}

/**
 * replay_sample() - take a sample at hand
 * @r: what was there before is over
 * @task: its process, NULL where nothing is known of it
 * @rec: a record of type PERF_RECORD_SAMPLE; must stay until the last walk
 *
 * Return: REPLAY_TESTABLE, or why it cannot be walked.
 */
enum replay_untestable replay_sample(struct replay *r, struct task *task,
				     const struct perf_event_rec *rec)
{
	enum replay_untestable why;

	r->maps = NULL;
	r->arch = NULL;
	r->last = NULL;
	r->stack = NULL;
	r->stack_size = 0;
	r->stack_used = 0;
	r->sp = 0;
	r->live = 0;
	r->kernel_regs = false;
	why = look(r, task, rec);
	r->stack_used = r->stack_size;
	r->stats.samples++;
	r->stats.untestable[why]++;
	if (why == REPLAY_TESTABLE && r->kernel_regs)
		r->stats.kernel_regs++;
	return why;
}

/**
 * replay_walk() - walk the sample at hand
 * @r: a testable sample
 * @opts: how; NULL for the defaults
 * @trace: @entry and @max are given (REPLAY_ENTRIES is the kernel's number), the rest is filled
 *	in
 * @cost: filled in
 *
 * The same sample may be walked any number of times. Allocates nothing.
 */
void replay_walk(struct replay *r, const struct replay_opts *opts, struct ehu_trace *trace,
		 struct replay_cost *cost)
{
	static const struct replay_opts defaults;
	const struct replay_opts *o = opts ? opts : &defaults;
	const struct pager_stats *ps = pager_stats(r->pager);
	u64 page_ins, bytes;
	struct ehu_unwind u = {
		.arch = r->arch,
		.mem = &r->mem,
		.sections = &r->maps->text.sections,
		.limits = o->limits ? o->limits : &ehf_limits_walk,
		.methods = o->methods,
		.ra_mask = r->ra_mask,
		.cache = o->fault_at ? NULL : o->cache,
		.memo = o->fault_at ? NULL : o->memo,
	};

	memset(cost, 0, sizeof(*cost));
	pager_walk_begin(r->pager);
	page_ins = ps->page_ins;
	bytes = ps->bytes;
	r->cost = cost;
	r->reads = 0;
	r->fault_at = o->fault_at;
	r->stack_pages = 0;
	r->live_walk++;
	r->live_pages = 0;
	r->live_bytes = 0;
	r->stack_used = o->cut_stack && o->stack_limit < r->stack_size ? o->stack_limit :
									 r->stack_size;
	r->mem.direct = o->copy || o->fault_at ? NULL : mem_direct;
	ehu_walk(&u, &r->regs, trace);
	r->stats.walks++;
	cost->reads = trace->cost.reads;
	cost->bytes = trace->cost.bytes;
	cost->insns = trace->cost.insns;
	cost->pages = pager_walk_pages(r->pager) + (u64)__builtin_popcountll(r->stack_pages) +
		      r->live_pages;
	cost->live_bytes = r->live_bytes;
	cost->page_ins = ps->page_ins - page_ins;
	cost->page_in_bytes = ps->bytes - bytes;
}

/**
 * replay_read() - read the memory of the sample at hand, as the last walk had it
 * @r: a testable sample; before its first walk the whole stack window is there
 * @addr: address in the target
 * @dst: where the bytes go
 * @len: how many, above 0
 *
 * For an oracle: the same sources as for our walk, counted nowhere, never made to fail.
 *
 * Return: false where not all of them are here.
 */
bool replay_read(struct replay *r, u64 addr, void *dst, u32 len)
{
	return addr <= ~0ULL - len && is_here(copy(r, addr, dst, len));
}
