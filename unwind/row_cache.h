/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The row cache: plain rows by lookup address and generation.
 */
#ifndef UNWIND_ROW_CACHE_H
#define UNWIND_ROW_CACHE_H

#include "arch/arch.h"
#include "ehframe/plain.h"

/**
 * struct ehu_slot - a plain row and what it belongs to
 * @key: low 48 bits: the lookup address; high 16 bits: the low ones of the generation
 * @row: the row, with the other 24 bits of the generation in its free bits
 *
 * An empty slot has generation 0.
 */
struct ehu_slot {
	u64 key;
	struct ehf_plain row;
};

#define EHU_SLOT_ADDR_BITS	48
#define EHU_SLOT_GEN_BITS	(64 - EHU_SLOT_ADDR_BITS + EHF_PLAIN_FREE_BITS)
#define EHU_SLOT_FREE		((1ULL << EHF_PLAIN_FREE_BITS) - 1)

/* Slots of a set: one cache line of them. An address may be in either of two sets. */
#define EHU_ROW_CACHE_WAYS	4

/**
 * struct ehu_row_cache - a row cache
 * @slot: storage of the caller, best aligned to 64 bytes
 * @mask: slots minus 1; a power of two of them
 * @hits: lookups that were served
 * @misses: lookups that were not
 *
 * Whoever owns it (a task, a CPU, a thread) uses it alone; it needs no lock and no flushing:
 * entries of a generation that is over are never found again. Rows that are not plain, and
 * addresses and generations beyond those bits, are not cached: they are evaluated each time.
 */
struct ehu_row_cache {
	struct ehu_slot *slot;
	u32 mask;
	u64 hits;
	u64 misses;
};

/* 4,096 slots, 64 KiB: room for every pc of the captures that the size was chosen by. */
#define EHU_ROW_CACHE_SLOTS	4096

int ehu_row_cache_init(struct ehu_row_cache *cache, struct ehu_slot *storage, u64 nr_slots);
void ehu_row_cache_put(struct ehu_row_cache *cache, u64 generation, u64 addr,
		       struct ehf_plain row);
void ehu_row_cache_put_row(struct ehu_row_cache *cache, const struct ehf_abi *abi, u64 generation,
			   u64 addr, const struct ehf_row *row);
void ehu_row_cache_put_stop(struct ehu_row_cache *cache, u64 generation, u64 addr,
			    enum ehf_stop stop);
const struct ehu_slot *ehu_row_cache_search(const struct ehu_row_cache *cache, u64 generation,
					    u64 addr);

const struct ehu_slot *ehu_row_cache_promote(struct ehu_row_cache *cache, u64 generation, u64 addr);

static inline u32 ehu_row_cache_hash(u64 addr)
{
	return (u32)addr * 0x9e3779b9U;
}

/* The slot where an address is looked for first. */
static inline u32 ehu_row_cache_first(u32 mask, u64 addr)
{
	return ehu_row_cache_hash(addr) >> 16 & mask;
}

/* Is this the slot of the pair? */
static inline bool ehu_slot_is(const struct ehu_slot *s, u64 generation, u64 addr)
{
	return s->key == (addr | generation << EHU_SLOT_ADDR_BITS) &&
	       !((s->row.word ^ generation >> (64 - EHU_SLOT_ADDR_BITS)) & EHU_SLOT_FREE);
}

/* The slot of an address, or NULL. */
static inline const struct ehu_slot *ehu_row_cache_find(const struct ehu_row_cache *cache,
							u64 generation, u64 addr)
{
	const struct ehu_slot *s = &cache->slot[ehu_row_cache_first(cache->mask, addr)];

	if (ehf_likely(ehu_slot_is(s, generation, addr)))
		return s;
	return ehu_row_cache_search(cache, generation, addr);
}

/* May this pair be in a cache at all? */
static inline bool ehu_row_cache_can(u64 generation, u64 addr)
{
	return generation && !(generation >> EHU_SLOT_GEN_BITS) && !(addr >> EHU_SLOT_ADDR_BITS);
}

#endif /* UNWIND_ROW_CACHE_H */
