/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Runs engines over a set, each in processes of its own, in turns, on one CPU. */
#ifndef HARNESS_BENCH_RUN_H
#define HARNESS_BENCH_RUN_H

#include "harness/bench_engine.h"

#define BENCH_MAX_ENGINES	8
#define BENCH_MAX_REPEATS	32
#define BENCH_MAX_PASSES	1000

/**
 * struct bench_result - an engine on one set
 * @done: repetitions that succeeded; 0 where the engine is not possible here
 * @cold: ns of CPU of a fresh process's first pass, what it opens included, by repetition
 * @warm: ns of CPU of a later pass: the median of a repetition's passes
 * @frames: of one pass
 * @agree: samples with the pcs that libdw has
 * @guessed: more samples, with those that libdw has before it guesses by the frame pointer
 * @anon: bytes by which the process's anonymous memory grew, the most of any repetition
 * @rss: bytes resident at the end, likewise
 * @held: what the engine says that it holds; 0 where it does not
 */
struct bench_result {
	u32 done;
	u64 cold[BENCH_MAX_REPEATS];
	u64 warm[BENCH_MAX_REPEATS];
	u64 frames;
	u64 agree;
	u64 guessed;
	u64 anon;
	u64 rss;
	u64 held;
};

/**
 * struct bench_params - how to measure
 * @repeats: processes of each engine
 * @passes: warm passes in each
 * @cpu: where they run; negative for anywhere
 */
struct bench_params {
	u64 repeats;
	u64 passes;
	int cpu;
};

int bench_run(const struct bench_set *set, const struct bench_params *params,
	      struct bench_result *result);
u64 bench_now(void);

#endif /* HARNESS_BENCH_RUN_H */
