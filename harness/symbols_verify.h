/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A spot check: random answers, asked of addr2line as well. */
#ifndef HARNESS_SYMBOLS_VERIFY_H
#define HARNESS_SYMBOLS_VERIFY_H

#include "harness/symbols.h"

#include <stdio.h>

struct symbols_verify;

struct symbols_verify *symbols_verify_new(u32 nr);
void symbols_verify_free(struct symbols_verify *v);
void symbols_verify_add(struct symbols_verify *v, const char *host_path, u64 lookup,
			const struct symbols_answer *a);
void symbols_verify_json(struct symbols_verify *v, FILE *out);
void symbols_verify_text(struct symbols_verify *v, FILE *out);

#endif /* HARNESS_SYMBOLS_VERIFY_H */
