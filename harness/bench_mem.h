/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A benchmark's target memory: a stack and mapped files, at hand for every unwinder alike.
 */
#ifndef HARNESS_BENCH_MEM_H
#define HARNESS_BENCH_MEM_H

#include "harness/bench_set.h"

/* Mapped bytes [start, end): at @p, once the file is open, that has them from @pos on. */
struct bench_span {
	u64 start;
	u64 end;
	u64 pos;
	const u8 *p;
	u32 file;
};

/* A file, opened when it is asked for first. */
struct bench_mapped {
	const struct module_place *place;
	struct image *image;
	bool tried;
};

/**
 * struct bench_mem - the memory of one space with the stack of one sample
 * @mem: what an unwinder reads through
 * @abi: the machine
 * @sp: the sample's stack, @size bytes at @stack
 * @stack: they
 * @size: how many
 * @span: segments of mapped files as the files have them, ascending: libunwind follows pointers in
 *	writable ones, as perf lets it
 * @nr: entries of @span
 * @gap: the gap between spans that was asked for last: from here on, @gap_size bytes
 * @gap_size: 0 at first
 * @text: for struct ehu_unwind
 * @file: the files
 * @nr_files: entries of @file
 * @section: CFI of each by target addresses, once it is open
 */
struct bench_mem {
	struct ehf_mem mem;
	const struct ehf_abi *abi;
	u64 sp;
	u64 size;
	const u8 *stack;
	struct bench_span *span;
	u32 nr;
	u64 gap;
	u64 gap_size;
	struct ehu_map text;
	struct bench_mapped *file;
	u32 nr_files;
	struct ehf_section *section;
};

bool bench_mem_open(struct bench_mem *m, const struct bench_space *space, u64 generation);
void bench_mem_close(struct bench_mem *m);

/* Another sample's stack is the stack from here on. */
static inline void bench_mem_stack(struct bench_mem *m, const struct bench_sample *s)
{
	m->sp = s->sp;
	m->size = s->size;
	m->stack = s->stack;
}

#endif /* HARNESS_BENCH_MEM_H */
