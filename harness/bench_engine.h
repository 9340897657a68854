/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Unwinders that a benchmark compares: each opens a set of samples, then walks one at a time. */
#ifndef HARNESS_BENCH_ENGINE_H
#define HARNESS_BENCH_ENGINE_H

#include "harness/bench_mem.h"

#define BENCH_MAX_FRAMES	REPLAY_ENTRIES

/**
 * struct bench_engine - an unwinder
 * @name: in tables and on the command line
 * @what: one line for a person
 * @floor: no unwinder but a bound: what it opens is not its cold cost, and it may differ
 * @open: make ready for the samples of a set; NULL where it is not possible
 * @walk: walk one; its pcs go to @pc, if not NULL, which has room for
 *	BENCH_MAX_FRAMES. Return: frames
 * @sure: optional: how many of a walk's frames it did not guess
 * @memory: optional: bytes that it holds, without what it has in files
 */
struct bench_engine {
	const char *name;
	const char *what;
	bool floor;
	void *(*open)(const struct bench_set *set);
	u32 (*walk)(void *engine, const struct bench_sample *s, u64 *pc);
	u32 (*sure)(void *engine, const struct bench_sample *s);
	u64 (*memory)(const void *engine);
};

extern const struct bench_engine bench_ours_cached;
extern const struct bench_engine bench_ours_uncached;
extern const struct bench_engine bench_libdw;
extern const struct bench_engine bench_libunwind_none;
extern const struct bench_engine bench_libunwind_global;
extern const struct bench_engine bench_fp;
extern const struct bench_engine bench_memo;

extern const struct bench_engine *const bench_engines[];
const struct bench_engine *bench_engine_named(const char *name);

#endif /* HARNESS_BENCH_ENGINE_H */
