/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What all rows of a file cost: ours, libdw's, and the whole static check.
 */
#ifndef HARNESS_BENCH_STATIC_H
#define HARNESS_BENCH_STATIC_H

int bench_static(const char *path, unsigned int rounds);

#endif /* HARNESS_BENCH_STATIC_H */
