/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rows of a section the short way (ehframe/plain.h), and one held against the general way's.
 */
#ifndef HARNESS_PLAIN_ROWS_H
#define HARNESS_PLAIN_ROWS_H

#include "ehframe/plain.h"
#include "ehframe/program.h"

bool plain_row_same(const struct ehf_abi *abi, const struct ehf_plain_row *is,
		    const struct ehf_row *row);

u64 plain_rows_read(const struct ehf_ctx *ctx, const struct ehf_section *s, u64 *sum);

#endif /* HARNESS_PLAIN_ROWS_H */
