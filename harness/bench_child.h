/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One piece of work in a process of its own, so that what it needs can be counted. */
#ifndef HARNESS_BENCH_CHILD_H
#define HARNESS_BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct rusage;

bool bench_child(bool (*work)(void *arg), void *arg, struct rusage *usage);
void *bench_child_room(size_t size);

#endif /* HARNESS_BENCH_CHILD_H */
