/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Made-up sections and stacks of any size: the same each time, on any machine. */
#ifndef HARNESS_BENCH_SYNTH_H
#define HARNESS_BENCH_SYNTH_H

#include "harness/bench_run.h"

#define BENCH_SYNTH_MAX_FDES	10000000ULL
#define BENCH_SYNTH_MAX_DEPTH	500
#define BENCH_SYNTH_MAX_MODULES	10000

bool bench_synth(struct bench_set *set, u64 nr_fdes, u32 depth, u32 nr_stacks);
bool bench_synth_modules(struct bench_set *set, u32 modules, u64 each, u32 depth, u32 nr_stacks);
bool bench_synth_map(struct bench_mem *m, u32 modules, u64 each);
u64 bench_synth_rows(const struct bench_set *set);
bool bench_growth(bool json);
int bench_last_cpu(void);

#endif /* HARNESS_BENCH_SYNTH_H */
