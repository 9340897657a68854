/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * For fuzzers: what has to hold, or the input is kept as one that crashes.
 */
#ifndef SELFTESTS_LIB_FUZZ_CHECK_H
#define SELFTESTS_LIB_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                               \
	do {                                                                      \
		if (!(cond)) {                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                  \
		}                                                                 \
	} while (0)

#endif /* SELFTESTS_LIB_FUZZ_CHECK_H */
