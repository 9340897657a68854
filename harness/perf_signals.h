/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The signals that end a capture, read from a descriptor instead of handled.
 */
#ifndef HARNESS_PERF_SIGNALS_H
#define HARNESS_PERF_SIGNALS_H

#include <signal.h>

#include "ehframe/base.h"

int perf_signals_catch(int *fd, sigset_t *old_mask);
u32 perf_signals_read(int fd, int *last);

#endif /* HARNESS_PERF_SIGNALS_H */
