/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A look at a whole search table, for whoever would rather refuse a section than meet its
 * faults in a walk.
 */
#ifndef UNWIND_CHECK_H
#define UNWIND_CHECK_H

#include "ehframe/lookup.h"

/*
 * Entries of a table that is checked. Bounds the time of one registration; the largest table
 * seen has under a million.
 */
#define EHU_CHECK_MAX	(4U << 20)

enum ehf_stop ehu_check_table(const struct ehf_ctx *ctx, const struct ehf_section *s);

#endif /* UNWIND_CHECK_H */
