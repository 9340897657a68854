/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stacks of names, merged by their common callers: the tree behind the flame graph, and the
 * stack-collapse format that flamegraph tools and speedscope read.
 */
#ifndef HARNESS_REPORT_FOLDED_H
#define HARNESS_REPORT_FOLDED_H

#include "ehframe/base.h"

#include <stdio.h>

/* What a reader of a report must see about a frame. */
enum report_folded_flags {
	REPORT_FOLDED_FALLBACK = 1,	/* found by a guess, not by CFI */
	REPORT_FOLDED_INLINED = 2,	/* no frame of the stack: inlined into its caller */
	REPORT_FOLDED_GUESSED = 4,	/* the name is that of a symbol without a size */
	REPORT_FOLDED_UNKNOWN = 8,	/* nothing names the address */
	REPORT_FOLDED_TRUNCATED = 16,	/* no frame: here the trace broke off */
};

/**
 * struct report_folded_frame - one level of a stack
 * @name: what to call it; any bytes
 * @module: file that it is in, "" for none
 * @flags: REPORT_FOLDED_*
 */
struct report_folded_frame {
	const char *name;
	const char *module;
	unsigned int flags;
};

/**
 * struct report_folded_node - a frame with all the stacks that come by it
 * @name: as given
 * @module: as given
 * @flags: as given
 * @self: stacks that end here
 * @total: stacks that come by
 * @child: first of those called from here, by name; NULL for none
 * @next: next one of the same caller
 */
struct report_folded_node {
	const char *name;
	const char *module;
	unsigned int flags;
	u64 self;
	u64 total;
	struct report_folded_node *child;
	struct report_folded_node *next;

	/* for report_folded.c only */
	const struct report_folded_node *parent;
	struct report_folded_node *in_bucket;
};

/* Deepest stack, inlined levels and the two above the outermost frame included. */
#define REPORT_FOLDED_DEPTH	2048

struct report_folded;

struct report_folded *report_folded_new(void);
void report_folded_free(struct report_folded *f);
bool report_folded_add(struct report_folded *f, const char *task,
		       const struct report_folded_frame *frame, u32 nr, const char *stop,
		       u64 count);
const struct report_folded_node *report_folded_root(struct report_folded *f);
u64 report_folded_cut(const struct report_folded *f);
bool report_folded_write(struct report_folded *f, FILE *out);

#endif /* HARNESS_REPORT_FOLDED_H */
