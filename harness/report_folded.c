// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Merged stacks, and their stack-collapse form: "task;outermost;...;innermost count".
 */
#include "harness/report_folded.h"

#include <stdlib.h>
#include <string.h>

struct report_folded {
	struct report_folded_node root;
	struct report_folded_node **bucket;	/* nodes by parent, name, module and flags */
	size_t nr_buckets;
	size_t nr;
	u64 cut;
	bool sorted;
};

/**
 * report_folded_new() - an empty set of stacks
 *
 * Return: the set, NULL where there is no memory; report_folded_free() gives it back.
 */
struct report_folded *report_folded_new(void)
{
	struct report_folded *f = calloc(1, sizeof(*f));

	if (f)
		f->root.name = f->root.module = "";
	return f;
}

static void free_node(struct report_folded_node *n)
{
	free((char *)(uintptr_t)n->name);
	free((char *)(uintptr_t)n->module);
	free(n);
}

/**
 * report_folded_free() - give a set back
 * @f: the set, or NULL
 */
void report_folded_free(struct report_folded *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr_buckets; i++) {
		while (f->bucket[i]) {
			struct report_folded_node *n = f->bucket[i];

			f->bucket[i] = n->in_bucket;
			free_node(n);
		}
	}
	free(f->bucket);
	free(f);
}

static size_t hash(const struct report_folded_node *parent, const struct report_folded_frame *frame)
{
	u64 h = (u64)(uintptr_t)parent * 0x9e3779b97f4a7c15 + frame->flags;

	for (const char *p = frame->name; *p; p++)
		h = (h ^ (u8)*p) * 0x100000001b3;
	for (const char *p = frame->module; *p; p++)
		h = (h ^ (u8)*p) * 0x100000001b3;
	return (size_t)(h ^ h >> 29);
}

static bool is_frame(const struct report_folded_node *n, const struct report_folded_node *parent,
		     const struct report_folded_frame *frame)
{
	return n->parent == parent && n->flags == frame->flags && !strcmp(n->name, frame->name) &&
	       !strcmp(n->module, frame->module);
}

static bool grow(struct report_folded *f)
{
	size_t nr = f->nr_buckets ? 4 * f->nr_buckets : 1024;
	struct report_folded_node **bucket;

	if (f->nr < f->nr_buckets)
		return true;
	bucket = calloc(nr, sizeof(*bucket));
	if (!bucket)
		return false;
	for (size_t i = 0; i < f->nr_buckets; i++) {
		struct report_folded_node *n, *next;

		for (n = f->bucket[i]; n; n = next) {
			const struct report_folded_frame frame = { n->name, n->module, n->flags };
			size_t at = hash(n->parent, &frame) & (nr - 1);

			next = n->in_bucket;
			n->in_bucket = bucket[at];
			bucket[at] = n;
		}
	}
	free(f->bucket);
	f->bucket = bucket;
	f->nr_buckets = nr;
	return true;
}

static struct report_folded_node *child_of(struct report_folded *f,
					   struct report_folded_node *parent,
					   const struct report_folded_frame *frame)
{
	struct report_folded_node *n;
	size_t at;

	if (!grow(f))
		return NULL;
	at = hash(parent, frame) & (f->nr_buckets - 1);
	for (n = f->bucket[at]; n; n = n->in_bucket) {
		if (is_frame(n, parent, frame))
			return n;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->name = strdup(frame->name);
	n->module = strdup(frame->module);
	if (!n->name || !n->module) {
		free_node(n);
		return NULL;
	}
	n->flags = frame->flags;
	n->parent = parent;
	n->in_bucket = f->bucket[at];
	f->bucket[at] = n;
	n->next = parent->child;
	parent->child = n;
	f->nr++;
	return n;
}

/**
 * report_folded_add() - add a stack
 * @f: the set
 * @task: name of the task, the root of its stacks
 * @frame: innermost first
 * @nr: of them
 * @stop: why the trace broke off, NULL where it is complete
 * @count: how many samples had it
 *
 * A trace that broke off does not say what called its last frame: it begins with a frame of its
 * own, "[truncated: STOP]", and never beside the complete ones. Levels past
 * REPORT_FOLDED_DEPTH, the innermost ones, are left out and counted.
 *
 * Return: false where there is no memory; the set is as before then, but for its shape.
 */
bool report_folded_add(struct report_folded *f, const char *task,
		       const struct report_folded_frame *frame, u32 nr, const char *stop,
		       u64 count)
{
	const struct report_folded_frame root = { task, "", 0 };
	struct report_folded_node *path[REPORT_FOLDED_DEPTH];
	u32 depth = 0, last = 0;
	char text[128];

	f->sorted = false;
	path[depth++] = &f->root;
	path[depth] = child_of(f, &f->root, &root);
	if (!path[depth++])
		return false;
	if (stop) {
		struct report_folded_frame broken = { text, "", REPORT_FOLDED_TRUNCATED };

		snprintf(text, sizeof(text), "[truncated: %s]", stop);
		path[depth] = child_of(f, path[depth - 1], &broken);
		if (!path[depth++])
			return false;
	}
	if (nr > REPORT_FOLDED_DEPTH - depth) {
		last = nr - (REPORT_FOLDED_DEPTH - depth);
		f->cut += last;
	}
	for (u32 i = nr; i-- > last;) {
		path[depth] = child_of(f, path[depth - 1], &frame[i]);
		if (!path[depth++])
			return false;
	}
	for (u32 i = 0; i < depth; i++)
		path[i]->total += count;
	path[depth - 1]->self += count;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct report_folded_node *x = *(struct report_folded_node *const *)a;
	const struct report_folded_node *y = *(struct report_folded_node *const *)b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->module, y->module);
	return order ? order : (int)x->flags - (int)y->flags;
}

static void sort_children(struct report_folded_node *parent)
{
	struct report_folded_node **list, *n;
	size_t nr = 0;

	for (n = parent->child; n; n = n->next)
		nr++;
	list = nr > 1 ? calloc(nr, sizeof(*list)) : NULL;
	if (!list)
		return;
	nr = 0;
	for (n = parent->child; n; n = n->next)
		list[nr++] = n;
	qsort(list, nr, sizeof(*list), by_name);
	for (size_t i = 0; i < nr; i++)
		list[i]->next = i + 1 < nr ? list[i + 1] : NULL;
	parent->child = list[0];
	free(list);
}

/**
 * report_folded_root() - the tree
 * @f: the set
 *
 * Return: a node without a name, whose children are the tasks; each node's children by name.
 * Good until the next stack is added.
 */
const struct report_folded_node *report_folded_root(struct report_folded *f)
{
	if (!f->sorted) {
		sort_children(&f->root);
		for (size_t i = 0; i < f->nr_buckets; i++) {
			for (struct report_folded_node *n = f->bucket[i]; n; n = n->in_bucket)
				sort_children(n);
		}
		f->sorted = true;
	}
	return &f->root;
}

/**
 * report_folded_cut() - how many levels were left out
 * @f: the set
 *
 * Return: levels of stacks deeper than REPORT_FOLDED_DEPTH.
 */
u64 report_folded_cut(const struct report_folded *f)
{
	return f->cut;
}

/* ';' ends a frame and a line's end ends a stack: they are written as escapes, as are controls. */
static void write_name(const char *name, FILE *out)
{
	if (!*name)
		fputs("[no name]", out);
	for (const u8 *p = (const u8 *)name; *p; p++) {
		if (*p < 0x20 || *p == ';' || *p == 0x7f)
			fprintf(out, "\\x%02x", *p);
		else
			putc(*p, out);
	}
}

static void write_frame(const struct report_folded_node *n, FILE *out)
{
	write_name(n->name, out);
	if (n->flags & REPORT_FOLDED_FALLBACK)
		fputs(" [fallback]", out);
	if (n->flags & REPORT_FOLDED_GUESSED)
		fputs(" [guess]", out);
	/* The mark that flamegraph tools know. */
	if (n->flags & REPORT_FOLDED_INLINED)
		fputs("_[i]", out);
}

static void write_stack(const struct report_folded_node *n, FILE *out)
{
	const struct report_folded_node *path[REPORT_FOLDED_DEPTH];
	u32 depth = 0;
	u64 count = n->self;

	for (; n->parent && depth < REPORT_FOLDED_DEPTH; n = n->parent)
		path[depth++] = n;
	while (depth--) {
		write_frame(path[depth], out);
		putc(depth ? ';' : ' ', out);
	}
	fprintf(out, "%llu\n", (unsigned long long)count);
}

/* Depth first, without recursion: a node knows its parent. */
static const struct report_folded_node *next_of(const struct report_folded_node *n)
{
	if (n->child)
		return n->child;
	while (n && !n->next)
		n = n->parent;
	return n ? n->next : NULL;
}

/**
 * report_folded_write() - write the stacks, one a line
 * @f: the set
 * @out: where to; the caller opens and closes it
 *
 * Frames that a fallback found end in " [fallback]", names that are guesses in " [guess]",
 * inlined functions in "_[i]".
 *
 * Return: false where something could not be written.
 */
bool report_folded_write(struct report_folded *f, FILE *out)
{
	const struct report_folded_node *n;

	for (n = report_folded_root(f); n; n = next_of(n)) {
		if (n->self)
			write_stack(n, out);
	}
	return !fflush(out) && !ferror(out);
}
