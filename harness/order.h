/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Ascending orders of plain numbers, for qsort() and bsearch().
 */
#ifndef HARNESS_ORDER_H
#define HARNESS_ORDER_H

#include "ehframe/base.h"

static inline int order_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static inline int order_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

#endif /* HARNESS_ORDER_H */
