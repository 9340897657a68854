/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The sections of one mm: registered and removed by writers, found by walks that take no lock.
 */
#ifndef UNWIND_REGISTRY_H
#define UNWIND_REGISTRY_H

#include "unwind/map.h"

/* Text ranges of an mm. Bounds the memory that a task can make its kernel hold. */
#define EHU_MAX_RANGES	32768

/* Text ranges of one section: executable segments of one file; the most seen is 3. */
#define EHU_MAX_TEXTS	16

/* Bytes of a header or of an .eh_frame; the largest seen has under 200 MB. */
#define EHU_MAX_SECTION	(1ULL << 30)

/* Messages that go to ops->debug in EHU_DEBUG_MS milliseconds; the rest is counted. */
#define EHU_DEBUG_BURST	10
#define EHU_DEBUG_MS	5000

/* struct ehu_section_args.flags */
#define EHU_ADD_SCAN	0x01	/* @eh_frame_end is the true end: scan where there is no table */
#define EHU_ADD_CHECK	0x02	/* look at the whole search table first */

struct ehu_text {
	u64 start;
	u64 end;
};

/**
 * struct ehu_section_args - what is registered, as a prctl() would be told
 * @flags: EHU_ADD_*
 * @nr_texts: entries of @text: 1 to EHU_MAX_TEXTS
 * @text: ranges that the section describes, ascending, without overlaps; each lies in one
 *	executable mapping
 * @hdr: address of .eh_frame_hdr, 0 for none
 * @hdr_end: one past its last byte; 0 where unknown: then the end of its mapping
 * @eh_frame: address of .eh_frame; 0 where unknown: then what the header says
 * @eh_frame_end: one past its last byte; 0 where unknown: then the end of its mapping
 */
struct ehu_section_args {
	u32 flags;
	u32 nr_texts;
	const struct ehu_text *text;
	u64 hdr;
	u64 hdr_end;
	u64 eh_frame;
	u64 eh_frame_end;
};

/**
 * struct ehu_added - what became of it
 * @handle: names the section in its mm and, after a fork, in the child's; never 0
 * @stop: where the section's own bytes are why it was refused
 */
struct ehu_added {
	u64 handle;
	enum ehf_stop stop;
};

/* Room for what a grace period needs (a kernel's struct rcu_head) in each retired object. */
struct ehu_retired {
	void *space[2];
};

/**
 * struct ehu_section - a registered section
 * @retired: for ops->retire
 * @s: what it says
 * @handle: as in struct ehu_added
 * @nr_ranges: text ranges that it still has; under ops->lock
 * @copy: used while it is duplicated; under ops->lock
 */
struct ehu_section {
	struct ehu_retired retired;
	struct ehf_section s;
	u64 handle;
	u32 nr_ranges;
	struct ehu_section *copy;
};

/* An immutable array of ranges, but for one thing: a removed range's section becomes NULL. */
struct ehu_table {
	struct ehu_retired retired;
	struct ehu_map map;
	struct ehu_range range[];
};

/**
 * struct ehu_mapping - a mapping of the task
 * @start: first address
 * @end: one past the last
 * @exec: it is executable
 */
struct ehu_mapping {
	u64 start;
	u64 end;
	bool exec;
};

enum ehu_event_kind {
	EHU_EVENT_ADDED,
	EHU_EVENT_REFUSED,	/* by add or dup: @err, and @stop where bytes are to blame */
	EHU_EVENT_REMOVED,	/* by handle */
	EHU_EVENT_UNMAPPED,	/* by range */
	EHU_EVENT_CORRUPT,	/* because of @stop in a walk */
};

/**
 * struct ehu_event - a debug message
 * @kind: what happened
 * @err: 0 or a negative errno
 * @stop: why, where a section's bytes are to blame
 * @handle: of the section; 0 where it never had one
 * @start: first address of its text
 * @end: one past the last
 * @suppressed: messages that were dropped since the last one
 */
struct ehu_event {
	enum ehu_event_kind kind;
	int err;
	enum ehf_stop stop;
	u64 handle;
	u64 start;
	u64 end;
	u64 suppressed;
};

struct ehu_registry;

/**
 * struct ehu_registry_ops - what the caller provides
 * @alloc: memory, or NULL; may sleep
 * @free: the counterpart of @alloc
 * @retire: call @free for @r once every reader section that is open now, of any mm, is left.
 *	Must not wait for that: it is also called inside a reader section
 * @generation: a number that it never returned before, not 0, the same counter for all mms
 * @read_lock: enter a reader section; what it returns is handed to @read_unlock. A walk stays in
 *	one from start to end and may sleep there (a kernel: SRCU)
 * @read_unlock: leave it
 * @lock: keep other writers of this mm out; may sleep. It may be the lock that mappings change
 *	under. Not held by anyone who walks
 * @unlock: let them in
 * @mapping: the mapping at an address, or false; called under @lock
 * @now_ms: a clock for the rate of messages; optional, without it there are EHU_DEBUG_BURST
 * @debug: optional; a message, at a limited rate, under @lock
 */
struct ehu_registry_ops {
	void *(*alloc)(const struct ehu_registry_ops *ops, size_t size);
	void (*free)(const struct ehu_registry_ops *ops, void *p);
	void (*retire)(const struct ehu_registry_ops *ops, struct ehu_retired *r);
	unsigned long (*generation)(const struct ehu_registry_ops *ops);
	u32 (*read_lock)(struct ehu_registry *reg);
	void (*read_unlock)(struct ehu_registry *reg, u32 key);
	void (*lock)(struct ehu_registry *reg);
	void (*unlock)(struct ehu_registry *reg);
	bool (*mapping)(struct ehu_registry *reg, u64 addr, struct ehu_mapping *m);
	u64 (*now_ms)(struct ehu_registry *reg);
	void (*debug)(struct ehu_registry *reg, const struct ehu_event *e);
};

struct ehu_adding;

/**
 * struct ehu_registry - the sections of one mm, embedded in the caller's structure
 * @sections: for struct ehu_unwind; only inside a reader section. Its generation changes with
 *	each change of the registry, so that no cache or memo serves what is not there any more
 * @ops: what the caller provides
 * @table: the ranges, or NULL; replaced as a whole
 * @adding: registrations that are reading their header; under @ops->lock
 * @window_ms: when the present window of messages began
 * @nr_messages: in it
 * @suppressed: messages that were dropped since the last one
 */
struct ehu_registry {
	struct ehu_sections sections;
	const struct ehu_registry_ops *ops;
	struct ehu_table *table;
	struct ehu_adding *adding;
	u64 window_ms;
	u32 nr_messages;
	u64 suppressed;
};

void ehu_registry_init(struct ehu_registry *reg, const struct ehu_registry_ops *ops);
u32 ehu_registry_enter(struct ehu_registry *reg);
void ehu_registry_leave(struct ehu_registry *reg, u32 key);
int ehu_registry_add(struct ehu_registry *reg, const struct ehf_ctx *ctx,
		     const struct ehu_section_args *args, struct ehu_added *added);
int ehu_registry_remove(struct ehu_registry *reg, u64 handle);
u32 ehu_registry_remove_range(struct ehu_registry *reg, u64 start, u64 end);
int ehu_registry_dup(struct ehu_registry *child, struct ehu_registry *parent);
void ehu_registry_drop(struct ehu_registry *reg);
const struct ehu_section *ehu_registry_find(const struct ehu_registry *reg, u64 addr);

#endif /* UNWIND_REGISTRY_H */
