/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rows of a file, all of them front to back and one an FDE in random order: ours beside libdw's.
 */
#ifndef HARNESS_BENCH_VISIT_H
#define HARNESS_BENCH_VISIT_H

#include "ehframe/base.h"

int bench_visit(const char *path, u32 rounds, bool json);

#endif /* HARNESS_BENCH_VISIT_H */
