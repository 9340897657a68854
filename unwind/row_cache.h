/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The row cache: what most rows need in 16 bytes, by lookup address and generation.
 */
#ifndef UNWIND_ROW_CACHE_H
#define UNWIND_ROW_CACHE_H

#include "arch/arch.h"

/**
 * struct ehu_slot - a row, or the fact that there is none
 * @key: low 48 bits: the lookup address; high 16 bits: the CFA's offset in words, signed
 * @word: low 40 bits: the generation; from there on the EHU_SLOT_* fields below
 *
 * An empty slot has generation 0. Rows that do not fit, and addresses and generations beyond
 * those bits, are not cached: they are evaluated each time.
 */
struct ehu_slot {
	u64 key;
	u64 word;
};

#define EHU_SLOT_ADDR_BITS	48
#define EHU_SLOT_GEN_BITS	40

#define EHU_SLOT_STOP		(1ULL << 40)	/* no row: the reason is in bits 48-63 */
#define EHU_SLOT_CFA_FP		(1ULL << 41)	/* CFA from FP, else from SP */
#define EHU_SLOT_CFA_LOAD	(1ULL << 42)	/* the CFA is what stands there */
#define EHU_SLOT_SP_SAVED	(1ULL << 43)	/* SP is at the machine's place from the CFA */
#define EHU_SLOT_FP_SHIFT	44
#define EHU_SLOT_FP_KEPT	(0ULL << 44)	/* FP is unchanged */
#define EHU_SLOT_FP_SAVED	(1ULL << 44)	/* FP is at CFA + offset */
#define EHU_SLOT_FP_LOST	(2ULL << 44)	/* FP is unknown in the caller */
#define EHU_SLOT_FP_AT_FP	(3ULL << 44)	/* FP is where FP points to (DRAP) */
#define EHU_SLOT_FP_MASK	(3ULL << 44)
#define EHU_SLOT_FP_OFF		46		/* 9 bits, words, signed */
#define EHU_SLOT_RA_OFF		55		/* 9 bits, words, signed; up to bit 63 */

/* Slots that an address may be in: one cache line of them. */
#define EHU_ROW_CACHE_WAYS	4

/**
 * struct ehu_row_cache - a row cache
 * @slot: storage of the caller: EHU_ROW_CACHE_WAYS slots a set, best aligned to 64 bytes
 * @set_mask: sets minus 1; a power of two of them
 * @hits: lookups that were served
 * @misses: lookups that were not
 *
 * Whoever owns it (a task, a CPU, a thread) uses it alone; it needs no lock and no flushing:
 * entries of a generation that is over are never found again.
 */
struct ehu_row_cache {
	struct ehu_slot *slot;
	u64 set_mask;
	u64 hits;
	u64 misses;
};

/* 4,096 slots, 64 KiB: room for every pc of the captures that the size was chosen by. */
#define EHU_ROW_CACHE_SLOTS	4096

int ehu_row_cache_init(struct ehu_row_cache *cache, struct ehu_slot *storage, u64 nr_slots);
void ehu_row_cache_put(struct ehu_row_cache *cache, const struct ehu_arch *arch, u64 generation,
		       u64 addr, const struct ehf_row *row);
void ehu_row_cache_row(const struct ehu_slot *slot, const struct ehu_arch *arch,
		       struct ehf_row *row);
void ehu_row_cache_put_stop(struct ehu_row_cache *cache, u64 generation, u64 addr,
			    enum ehf_stop stop);

/* The set that an address belongs to: functions are aligned, calls in them are not. */
static inline struct ehu_slot *ehu_row_cache_set(const struct ehu_row_cache *cache, u64 addr)
{
	return &cache->slot[EHU_ROW_CACHE_WAYS * ((addr ^ addr >> 9) & cache->set_mask)];
}

/* Is this the slot of the pair? What is shifted out is not of the key, or not of the generation. */
static inline bool ehu_slot_is(const struct ehu_slot *s, u64 generation, u64 addr)
{
	return !((s->key ^ addr) << (64 - EHU_SLOT_ADDR_BITS) |
		 (s->word ^ generation) << (64 - EHU_SLOT_GEN_BITS));
}

/* The slot of an address, or NULL. */
static inline const struct ehu_slot *ehu_row_cache_find(const struct ehu_row_cache *cache,
							u64 generation, u64 addr)
{
	const struct ehu_slot *s = ehu_row_cache_set(cache, addr);
	u32 k;

	for (k = 0; k < EHU_ROW_CACHE_WAYS; k++)
		if (ehu_slot_is(&s[k], generation, addr))
			return &s[k];
	return NULL;
}

/* A signed field of a slot: @bits of them from @shift on, counted in words of @size bytes. */
static inline u64 ehu_slot_off(u64 word, u32 shift, u32 bits, u32 size)
{
	return (u64)((s64)(word << (64 - shift - bits)) >> (64 - bits)) * size;
}

/* May this pair be in a cache at all? */
static inline bool ehu_row_cache_can(u64 generation, u64 addr)
{
	return generation && !(generation >> EHU_SLOT_GEN_BITS) && !(addr >> EHU_SLOT_ADDR_BITS);
}

#endif /* UNWIND_ROW_CACHE_H */
