/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The samples of a capture in memory, ready to be walked by any unwinder any number of times. */
#ifndef HARNESS_BENCH_SET_H
#define HARNESS_BENCH_SET_H

#include "harness/check_run_oracle.h"
#include "harness/replay.h"

/* Samples kept of one file; more are thinned out evenly. */
#define BENCH_MAX_SAMPLES	16384

/**
 * struct bench_sample - a stack
 * @regs: its registers
 * @space: its address space, an index into @bench_set.space
 * @sp: address of @stack's first byte
 * @stack: bytes of the stack
 * @size: how many
 */
struct bench_sample {
	struct ehu_regs regs;
	u32 space;
	u64 sp;
	const u8 *stack;
	u32 size;
};

/**
 * struct bench_space - what one process maps
 * @maps: as perf's records say; NULL for a made-up space
 * @arch: its machine
 * @made: else: bytes of the made-up section, @made_size of them at @section.eh_frame
 * @made_size: bytes
 * @section: the made-up section
 */
struct bench_space {
	struct task_maps *maps;
	const struct ehu_arch *arch;
	const u8 *made;
	u64 made_size;
	struct ehf_section section;
};

/**
 * struct bench_set - samples and their spaces
 * @sample: the samples, @nr of them
 * @space: their spaces, @nr_spaces of them
 * @untestable: samples that no unwinder can be given: no file, no stack
 * @thinned: samples left out to stay within the maximum
 */
struct bench_set {
	struct bench_sample *sample;
	u32 nr;
	struct bench_space *space;
	u32 nr_spaces;
	u64 untestable;
	u64 thinned;

	/* for bench_set.c only */
	u32 max;
	u64 stride;
	u64 met;
	struct replay replay;
	struct pager *pager;
	struct modules *modules;
	struct task_table *tasks;
};

int bench_set_load(struct bench_set *set, const char *path, u32 max, struct perf_error *err);
void bench_set_free(struct bench_set *set);

#endif /* HARNESS_BENCH_SET_H */
