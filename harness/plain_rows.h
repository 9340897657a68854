/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Compares rows of the short way (ehframe/plain.h) with those of the general one.
 */
#ifndef HARNESS_PLAIN_ROWS_H
#define HARNESS_PLAIN_ROWS_H

#include "ehframe/plain.h"
#include "ehframe/program.h"

bool plain_row_same(const struct ehf_abi *abi, const struct ehf_plain_row *is,
		    const struct ehf_row *row);

#endif /* HARNESS_PLAIN_ROWS_H */
