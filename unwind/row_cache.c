// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The row cache: where a row is kept, and which one goes.
 */
#include "unwind/row_cache.h"

/**
 * ehu_row_cache_init() - make an empty cache
 * @cache: the cache
 * @storage: room for @nr_slots slots; belongs to the cache from now on
 * @nr_slots: a power of two, EHU_ROW_CACHE_WAYS at least, 2^16 at most
 *
 * Return: 0, or -EINVAL for a number that is none.
 */
int ehu_row_cache_init(struct ehu_row_cache *cache, struct ehu_slot *storage, u64 nr_slots)
{
	u64 k;

	if (nr_slots < EHU_ROW_CACHE_WAYS || nr_slots & (nr_slots - 1) || nr_slots > 1U << 16)
		return -EINVAL;
	for (k = 0; k < nr_slots; k++)
		storage[k] = (struct ehu_slot){ 0, { 0 } };
	cache->slot = storage;
	cache->mask = (u32)nr_slots - 1;
	cache->hits = 0;
	cache->misses = 0;
	return 0;
}

/* The other set. Its bits are those that the first one's number takes no notice of. */
static inline u32 second_set(u32 mask, u64 addr)
{
	return (u32)(addr >> 4 ^ addr >> 17) & mask;
}

/*
 * The k-th slot of those that an address may be in: from its first one around that set, then
 * likewise around the other. With two sets to choose from nearly all slots of a cache come to be
 * used before one has to go.
 */
static struct ehu_slot *candidate(const struct ehu_row_cache *cache, u64 addr, u32 k)
{
	u32 first = k < EHU_ROW_CACHE_WAYS ? ehu_row_cache_first(cache->mask, addr) :
					     second_set(cache->mask, addr);

	return &cache->slot[first ^ (k % EHU_ROW_CACHE_WAYS)];
}

/**
 * ehu_row_cache_search() - look at the other slots that an address may be in
 * @cache: the cache
 * @generation: of the sections
 * @addr: the lookup address
 *
 * A loop for each set: candidate(), which chooses at each step, takes a warm walk 2 % more
 * instructions.
 *
 * Return: its slot, or NULL.
 */
const struct ehu_slot *ehu_row_cache_search(const struct ehu_row_cache *cache, u64 generation,
					    u64 addr)
{
	const struct ehu_slot *s = cache->slot;
	u32 k, at = ehu_row_cache_first(cache->mask, addr);

	for (k = 1; k < EHU_ROW_CACHE_WAYS; k++)
		if (ehu_slot_is(&s[at ^ k], generation, addr))
			return &s[at ^ k];
	at = second_set(cache->mask, addr);
	for (k = 0; k < EHU_ROW_CACHE_WAYS; k++)
		if (ehu_slot_is(&s[at ^ k], generation, addr))
			return &s[at ^ k];
	return NULL;
}

/**
 * ehu_row_cache_promote() - look at the other slots, and be faster the next time
 * @cache: the cache
 * @generation: of the sections
 * @addr: the lookup address, which is not in its first slot
 *
 * What is found in the set of that slot changes places with what is there.
 *
 * Return: its slot, or NULL.
 */
const struct ehu_slot *ehu_row_cache_promote(struct ehu_row_cache *cache, u64 generation, u64 addr)
{
	const u32 first = ehu_row_cache_first(cache->mask, addr);
	const struct ehu_slot *found = ehu_row_cache_search(cache, generation, addr);
	const struct ehu_slot is = cache->slot[first];

	if (!found || (u64)(found - cache->slot) / EHU_ROW_CACHE_WAYS != first / EHU_ROW_CACHE_WAYS)
		return found;
	cache->slot[first] = *found;
	cache->slot[found - cache->slot] = is;
	return &cache->slot[first];
}

static bool is_empty(const struct ehu_slot *s)
{
	return !(s->key >> EHU_SLOT_ADDR_BITS) && !(s->row.word & EHU_SLOT_FREE);
}

static void set_slot(struct ehu_slot *to, u64 generation, u64 addr, struct ehf_plain row)
{
	to->key = addr | generation << EHU_SLOT_ADDR_BITS;
	to->row.word = row.word | generation >> (64 - EHU_SLOT_ADDR_BITS);
}

/* Is a slot's row one that would be looked for elsewhere first? */
static bool is_guest(const struct ehu_row_cache *cache, u32 at)
{
	u64 addr = cache->slot[at].key << (64 - EHU_SLOT_ADDR_BITS) >> (64 - EHU_SLOT_ADDR_BITS);

	return ehu_row_cache_first(cache->mask, addr) != at;
}

/**
 * ehu_row_cache_put() - remember a plain row
 * @cache: the cache
 * @generation: of the sections
 * @addr: the lookup address
 * @row: the row that holds there
 *
 * Goes where a slot is empty, or in place of one of eight: which one changes with each miss. A row
 * that is not where it is looked for first makes room for one that then is.
 */
void ehu_row_cache_put(struct ehu_row_cache *cache, u64 generation, u64 addr,
		       struct ehf_plain row)
{
	const u32 first = ehu_row_cache_first(cache->mask, addr);
	struct ehu_slot *to;
	u32 k;

	if (!ehu_row_cache_can(generation, addr))
		return;
	for (k = 0; k < 2 * EHU_ROW_CACHE_WAYS; k++) {
		to = candidate(cache, addr, k);
		if (is_empty(to) || ehu_slot_is(to, generation, addr))
			break;
	}
	if (k == 2 * EHU_ROW_CACHE_WAYS) {
		k = (u32)(cache->misses % (2 * EHU_ROW_CACHE_WAYS));
		to = candidate(cache, addr, k);
	}
	if (k && k < EHU_ROW_CACHE_WAYS && is_guest(cache, first)) {
		*to = cache->slot[first];
		to = &cache->slot[first];
	}
	set_slot(to, generation, addr, row);
}

/**
 * ehu_row_cache_put_row() - remember a row, if it is plain
 * @cache: the cache
 * @abi: the machine
 * @generation: of the sections
 * @addr: the lookup address
 * @row: the row that holds there, without a stop
 */
void ehu_row_cache_put_row(struct ehu_row_cache *cache, const struct ehf_abi *abi, u64 generation,
			   u64 addr, const struct ehf_row *row)
{
	struct ehf_plain plain;

	if (ehf_plain_pack(abi, row, &plain))
		ehu_row_cache_put(cache, generation, addr, plain);
}

/**
 * ehu_row_cache_put_stop() - remember that an address has no row
 * @cache: the cache
 * @generation: of the sections
 * @addr: the lookup address
 * @stop: why; only reasons that a second look would find again are kept: not faults, and not
 *	a corrupt section, which is dealt with
 */
void ehu_row_cache_put_stop(struct ehu_row_cache *cache, u64 generation, u64 addr,
			    enum ehf_stop stop)
{
	enum ehf_stop_class cls = ehf_stop_class(stop);

	if (cls != EHF_CLASS_FAULT && cls != EHF_CLASS_CORRUPT)
		ehu_row_cache_put(cache, generation, addr, ehf_plain_none(stop));
}
