// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * libunwind's remote interface as a benchmark's engine, as perf uses it: with its cache and
 * without. Where its headers are not installed, the engine says that it is not possible.
 */
#include "harness/bench_engine.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && __has_include(<libunwind-x86_64.h>)
#include <libunwind-x86_64.h>

/* Exported for perf and its like; in no header. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
				       unw_proc_info_t *pi, int need_unwind_info, void *arg);

/* perf's numbers are the DWARF ones, and so are libunwind's on this machine. */
struct space {
	unw_addr_space_t as;
	struct bench_mem mem;
};

struct uw {
	struct space *space;
	struct space *now;
	const struct bench_sample *sample;
	u64 pc[BENCH_MAX_FRAMES];
};

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	const struct ehu_map *text = &((struct uw *)arg)->now->mem.text;
	const struct ehf_section *s = text->sections.find(&text->sections, ip);
	unw_dyn_info_t di = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };

	if (!s || !s->table)
		return -UNW_ENOINFO;
	di.start_ip = s->text_start;
	di.end_ip = s->text_end;
	di.u.rti.segbase = s->hdr;
	di.u.rti.table_data = s->table;
	di.u.rti.table_len = s->nr_fdes * 8 / sizeof(unw_word_t);
	return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as, (void)pi, (void)arg;
}

static int no_dyn_info(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	(void)as, (void)addr, (void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *v, int write, void *arg)
{
	const struct ehf_mem *mem = &((struct uw *)arg)->now->mem.mem;

	(void)as;
	return !write && mem->read(mem, addr, v, sizeof(*v)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *v, int write, void *arg)
{
	const struct bench_sample *s = ((struct uw *)arg)->sample;

	(void)as;
	if (write || reg < 0 || reg > UNW_X86_64_RIP)
		return -UNW_EBADREG;
	*v = reg == UNW_X86_64_RIP ? s->regs.ip : s->regs.reg[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *v, int write, void *arg)
{
	(void)as, (void)reg, (void)v, (void)write, (void)arg;
	return -UNW_EINVAL;
}

static int resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	(void)as, (void)c, (void)arg;
	return -UNW_EINVAL;
}

static int get_name(unw_addr_space_t as, unw_word_t addr, char *buf, size_t n, unw_word_t *off,
		    void *arg)
{
	(void)as, (void)addr, (void)buf, (void)n, (void)off, (void)arg;
	return -UNW_EINVAL;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_dyn_info,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
	.get_proc_name = get_name,
};

static void *open_uw(const struct bench_set *set, unw_caching_policy_t policy)
{
	struct uw *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->space = calloc(set->nr_spaces, sizeof(*w->space));
	for (u32 k = 0; w->space && k < set->nr_spaces; k++) {
		struct space *s = &w->space[k];

		if (!bench_mem_open(&s->mem, &set->space[k], k + 1))
			return NULL;
		s->as = unw_create_addr_space(&accessors, 0);
		if (!s->as || unw_set_caching_policy(s->as, policy))
			return NULL;
	}
	return w->space ? w : NULL;
}

static void *open_none(const struct bench_set *set)
{
	return open_uw(set, UNW_CACHE_NONE);
}

static void *open_global(const struct bench_set *set)
{
	return open_uw(set, UNW_CACHE_GLOBAL);
}

/* As perf's get_entries() walks: until a step fails, ends, or the pc is 0. */
static u32 walk(void *engine, const struct bench_sample *s, u64 *pc)
{
	struct uw *w = engine;
	u64 *to = pc ? pc : w->pc;
	unw_cursor_t c;
	unw_word_t ip;
	u32 nr = 0;

	w->now = &w->space[s->space];
	w->sample = s;
	bench_mem_stack(&w->now->mem, s);
	to[nr++] = s->regs.ip;
	if (unw_init_remote(&c, w->now->as, w))
		return nr;
	while (nr < BENCH_MAX_FRAMES && unw_step(&c) > 0) {
		if (unw_get_reg(&c, UNW_REG_IP, &ip) || !ip)
			break;
		to[nr++] = ip;
	}
	return nr;
}

#else

static void *open_none(const struct bench_set *set)
{
	(void)set;
	return NULL;
}

#define open_global open_none

static u32 walk(void *engine, const struct bench_sample *s, u64 *pc)
{
	(void)engine, (void)s, (void)pc;
	return 0;
}

#endif

const struct bench_engine bench_libunwind_none = {
	.name = "libunwind-none", .what = "libunwind remote, UNW_CACHE_NONE",
	.open = open_none, .walk = walk,
};

const struct bench_engine bench_libunwind_global = {
	.name = "libunwind-global", .what = "libunwind remote, UNW_CACHE_GLOBAL, as perf has it",
	.open = open_global, .walk = walk,
};
