// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Makes modules with a given number of FDEs, and stacks of a given depth through them.
 */
#include "harness/bench_synth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ehframe/lookup.h"
#include "harness/plain_rows.h"

#define BASE		0x100000000ULL	/* of .eh_frame; .eh_frame_hdr follows it, then other modules' */
#define TEXT		(BASE + 0x20000000ULL)
#define FUNC		64U		/* bytes of a function */
#define FRAME		48U		/* bytes of a frame in the middle of one */
#define STACK		0x7ffc00000000ULL
#define POOL		1000U		/* functions that stacks go through: callers repeat */
#define FDE_BYTES	32U
#define CIE_BYTES	24U

/* What compilers emit, of either kind: by the frame pointer, and by the stack pointer. */
static const u8 cie[CIE_BYTES] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	0x0c, 7, 8, 0x90, 1, 0, 0,
};
static const u8 by_fp[15] = {
	0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x68, 0x0c, 7, 8, 0, 0,
};
static const u8 by_sp[15] = {
	0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0e, FRAME, 0x68, 0x0e, 8, 0, 0, 0,
};

static void put32(u8 *p, u64 v)
{
	for (int k = 0; k < 4; k++)
		p[k] = (u8)(v >> 8 * k);
}

static void put64(u8 *p, u64 v)
{
	put32(p, v);
	put32(p + 4, v >> 32);
}

static u64 eh_frame_size(u64 nr)
{
	/* The last record is a terminator. */
	return CIE_BYTES + nr * FDE_BYTES + 4;
}

/* Bytes of a module's sections; and of its text, with a gap behind it. */
static u64 module_size(u64 nr)
{
	return eh_frame_size(nr) + 12 + 8 * nr;
}

static u64 text_size(u64 nr)
{
	return (nr * FUNC + 2 * 4096 - 1) & ~4095ULL;
}

/* The sections of a module: they are at @base, their text of @nr functions at @text. */
static struct ehf_section place(u64 base, u64 text, u64 nr)
{
	u64 hdr = base + eh_frame_size(nr);

	return (struct ehf_section){
		.text_start = text, .text_end = text + nr * FUNC,
		.hdr = hdr, .hdr_end = base + module_size(nr),
		.eh_frame = base, .eh_frame_end = hdr, .scan = true,
	};
}

static void write_module(u8 *bytes, const struct ehf_section *s, u64 nr)
{
	u8 *h = bytes + (s->hdr - s->eh_frame);

	memcpy(bytes, cie, sizeof(cie));
	for (u64 k = 0; k < nr; k++) {
		u64 off = CIE_BYTES + k * FDE_BYTES, pc = s->text_start + k * FUNC;
		u8 *f = bytes + off;

		put32(f, FDE_BYTES - 4);
		put32(f + 4, off + 4);
		put32(f + 8, pc - (s->eh_frame + off + 8));
		put32(f + 12, FUNC);
		memcpy(f + 16, k & 1 ? by_sp : by_fp, sizeof(by_sp));
		put32(h + 12 + 8 * k, pc - s->hdr);
		put32(h + 16 + 8 * k, s->eh_frame + off - s->hdr);
	}
	h[0] = 1;
	h[1] = 0x1b;
	h[2] = 0x03;
	h[3] = 0x3b;
	put32(h + 4, s->eh_frame - (s->hdr + 4));
	put32(h + 8, nr);
}

/* Where module number @k is, if each has @nr functions. */
static struct ehf_section module_at(u32 k, u64 nr)
{
	return place(BASE + k * module_size(nr), TEXT + k * text_size(nr), nr);
}

static bool make_modules(struct bench_space *sp, u32 modules, u64 nr)
{
	u8 *bytes = calloc(modules, module_size(nr));

	if (!bytes)
		return false;
	for (u32 k = 0; k < modules; k++) {
		struct ehf_section s = module_at(k, nr);

		write_module(bytes + (s.eh_frame - BASE), &s, nr);
	}
	sp->made = bytes;
	sp->made_size = modules * module_size(nr);
	sp->section = module_at(0, nr);
	return true;
}

/* A pc in the middle of a function, where its frame is complete; code has calls anywhere. */
static u64 middle(u64 func, u64 each)
{
	return TEXT + func / each * text_size(each) + func % each * FUNC + 4 + func * 7 % 39;
}

/* xorshift64: the same stacks each time. */
static u64 next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool make_stack(struct bench_sample *s, u32 depth, u64 *state, const u64 *pool, u64 each)
{
	u32 size = depth * FRAME;
	u8 *stack = calloc(1, size);

	if (!stack)
		return false;
	*s = (struct bench_sample){ .sp = STACK, .stack = stack, .size = size };
	s->regs.ip = middle(pool[next(state) % POOL], each);
	s->regs.reg[7] = STACK;
	s->regs.reg[6] = STACK + FRAME - 16;
	s->regs.known = 1ULL << 7 | 1ULL << 6;
	for (u32 k = 0; k + 1 < depth; k++) {
		u8 *cfa = stack + (k + 1) * FRAME;

		put64(cfa - 16, STACK + (k + 2) * FRAME - 16);
		put64(cfa - 8, middle(pool[next(state) % POOL], each) + 1);
	}
	return true;
}

/**
 * bench_synth_modules() - make a set of several modules
 * @set: filled in; to be freed with bench_set_free() whatever is returned
 * @modules: how many, 1 to BENCH_SYNTH_MAX_MODULES
 * @each: functions of each; BENCH_SYNTH_MAX_FDES at most of all
 * @depth: frames of each stack, 1 to BENCH_SYNTH_MAX_DEPTH
 * @nr_stacks: stacks
 *
 * Return: false where memory ran out.
 */
bool bench_synth_modules(struct bench_set *set, u32 modules, u64 each, u32 depth, u32 nr_stacks)
{
	u64 state = 88172645463325252ULL, pool[POOL];

	*set = (struct bench_set){ 0 };
	set->sample = calloc(nr_stacks, sizeof(*set->sample));
	set->space = calloc(1, sizeof(*set->space));
	if (!set->sample || !set->space)
		return false;
	set->nr_spaces = 1;
	set->space->arch = &ehu_arch_x86_64;
	if (!make_modules(set->space, modules, each))
		return false;
	for (u32 k = 0; k < POOL; k++)
		pool[k] = next(&state) % (modules * each);
	for (; set->nr < nr_stacks; set->nr++)
		if (!make_stack(&set->sample[set->nr], depth, &state, pool, each))
			return false;
	return true;
}

/**
 * bench_synth() - make a set of one module
 * @set: filled in; to be freed with bench_set_free() whatever is returned
 * @nr_fdes: functions of the section, 1 to BENCH_SYNTH_MAX_FDES
 * @depth: frames of each stack, 1 to BENCH_SYNTH_MAX_DEPTH
 * @nr_stacks: stacks
 *
 * Return: false where memory ran out.
 */
bool bench_synth(struct bench_set *set, u64 nr_fdes, u32 depth, u32 nr_stacks)
{
	return bench_synth_modules(set, 1, nr_fdes, depth, nr_stacks);
}

/**
 * bench_synth_map() - let all modules be known, where bench_mem_open() knows the first
 * @m: memory that was opened of a set of several modules
 * @modules: as given to bench_synth_modules()
 * @each: the same
 *
 * Return: false where memory ran out.
 */
bool bench_synth_map(struct bench_mem *m, u32 modules, u64 each)
{
	struct ehu_range *range = calloc(modules, sizeof(*range));
	struct ehf_section *section = calloc(modules, sizeof(*section));
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &m->mem, .abi = &ehu_arch_x86_64.abi, .limits = &ehf_limits_walk,
		.cost = &cost,
	};
	unsigned long generation = m->text.sections.generation;

	if (!range || !section) {
		free(range);
		free(section);
		return false;
	}
	free(m->text.range);
	free(m->section);
	m->section = section;
	ehu_map_init(&m->text, range, modules);
	for (u32 k = 0; k < modules; k++) {
		section[k] = module_at(k, each);
		if (ehf_section_init(&ctx, &section[k]) ||
		    ehu_map_add(&m->text, section[k].text_start, section[k].text_end, &section[k]))
			return false;
	}
	m->text.sections.generation = generation;
	return true;
}

/* Where the sum of all rows goes: they were read. */
static volatile u64 rows_read;

/**
 * bench_synth_rows() - read all rows of a made-up section
 * @set: of bench_synth()
 *
 * Return: how many there are.
 */
u64 bench_synth_rows(const struct bench_set *set)
{
	struct bench_mem m;
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &m.mem, .abi = &ehu_arch_x86_64.abi, .limits = &ehf_limits_file,
		.cost = &cost,
	};
	u64 rows = 0, sum = 0;

	if (bench_mem_open(&m, set->space, 1)) {
		const struct ehf_section *s = m.section;

		ctx.hand = ehf_hand_ask(&m.mem, s->eh_frame, s->eh_frame_end - s->eh_frame);
		rows = plain_rows_read(&ctx, s, &sum);
		rows_read = sum;
	}
	bench_mem_close(&m);
	return rows;
}

/**
 * bench_last_cpu() - where to measure: away from CPU 0, which serves most interrupts
 *
 * Return: a CPU.
 */
int bench_last_cpu(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return nr > 1 ? (int)nr - 1 : 0;
}
