/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A stack made up by hand: registers and words of memory as text, walked and printed. */
#ifndef HARNESS_DUMP_WALK_H
#define HARNESS_DUMP_WALK_H

#include "harness/dump_row.h"

struct dump_walk;

struct dump_walk *dump_walk_parse(struct image *img, const char *text, char *why,
				  size_t why_size);
bool dump_walk_run(const struct dump *d, struct dump_walk *w, bool use_fp);
void dump_walk_free(struct dump_walk *w);

#endif /* HARNESS_DUMP_WALK_H */
