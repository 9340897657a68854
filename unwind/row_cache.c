// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The row cache: packing rows into slots.
 */
#include "unwind/row_cache.h"

/**
 * ehu_row_cache_init() - make an empty cache
 * @cache: the cache
 * @storage: room for @nr_slots slots; belongs to the cache from now on
 * @nr_slots: a power of two, EHU_ROW_CACHE_WAYS at least
 *
 * Return: 0, or -EINVAL for a number that is none.
 */
int ehu_row_cache_init(struct ehu_row_cache *cache, struct ehu_slot *storage, u64 nr_slots)
{
	u64 k;

	if (nr_slots < EHU_ROW_CACHE_WAYS || nr_slots & (nr_slots - 1))
		return -EINVAL;
	for (k = 0; k < nr_slots; k++)
		storage[k] = (struct ehu_slot){ 0, 0 };
	cache->slot = storage;
	cache->set_mask = nr_slots / EHU_ROW_CACHE_WAYS - 1;
	cache->hits = 0;
	cache->misses = 0;
	return 0;
}

/* @off in words, where it is a multiple and fits in @bits, signed. */
static bool in_words(s64 off, u32 word, u32 bits, u64 *field)
{
	s64 words = off / (s64)word;
	s64 top = (s64)1 << (bits - 1);

	*field = (u64)words & ((1ULL << bits) - 1);
	return words * (s64)word == off && words < top && words >= -top;
}

static void put(struct ehu_row_cache *cache, u64 generation, u64 addr, u64 key, u64 word)
{
	struct ehu_slot *s = ehu_row_cache_set(cache, addr);

	u32 k;

	/* The newest goes first, the oldest is lost. */
	for (k = EHU_ROW_CACHE_WAYS - 1; k > 0; k--)
		s[k] = s[k - 1];
	s[0].key = addr | key << EHU_SLOT_ADDR_BITS;
	s[0].word = generation | word;
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

	if (!ehu_row_cache_can(generation, addr) || cls == EHF_CLASS_FAULT || cls == EHF_CLASS_CORRUPT)
		return;
	put(cache, generation, addr, 0, EHU_SLOT_STOP | (u64)stop << 48);
}

/**
 * ehu_row_cache_put() - remember a row
 * @cache: the cache
 * @arch: the machine
 * @generation: of the sections
 * @addr: the lookup address
 * @row: the row that holds there, without a stop
 *
 * A row that needs more than a slot can say is not kept: one of a signal frame, with a PLT
 * expression (it depends on the exact ip), on another register than SP and FP, with offsets of
 * more than 9 bits of words (16 for the CFA's).
 */
void ehu_row_cache_put(struct ehu_row_cache *cache, const struct ehu_arch *arch, u64 generation,
		       u64 addr, const struct ehf_row *row)
{
	const struct ehf_rule *fp = &row->rule[EHF_FP];
	const struct ehf_rule *ra = &row->rule[EHF_RA];
	const struct ehf_rule *sp = &row->rule[EHF_SP];
	const struct ehf_abi *abi = &arch->abi;
	u64 cfa_off, fp_off = 0, ra_off, word = 0;

	if (!ehu_row_cache_can(generation, addr) || row->flags & EHF_ROW_SIGNAL)
		return;
	if (row->flags & EHF_ROW_OUTERMOST) {
		put(cache, generation, addr, 0, EHU_SLOT_STOP | (u64)EHF_STOP_RA_UNDEFINED << 48);
		return;
	}
	if (row->cfa.kind == EHF_CFA_AT_REG && !row->cfa.add)
		word |= EHU_SLOT_CFA_LOAD;
	else if (row->cfa.kind != EHF_CFA_REG && row->cfa.kind != EHF_CFA_VAL_EXPR)
		return;
	if (row->cfa.reg == abi->reg_fp)
		word |= EHU_SLOT_CFA_FP;
	else if (row->cfa.reg != abi->reg_sp)
		return;
	if (ra->kind != EHF_RULE_AT_CFA || !in_words(ra->off, abi->word_size, 9, &ra_off) ||
	    !in_words(row->cfa.off, abi->word_size, 16, &cfa_off))
		return;
	if (sp->kind == EHF_RULE_AT_CFA && arch->sp_slot && sp->off == arch->sp_slot)
		word |= EHU_SLOT_SP_SAVED;
	else if (sp->kind != EHF_RULE_UNSPEC)
		return;
	switch (fp->kind) {
	case EHF_RULE_UNSPEC:
	case EHF_RULE_SAME:
		word |= EHU_SLOT_FP_KEPT;
		break;
	case EHF_RULE_AT_CFA:
		if (!in_words(fp->off, abi->word_size, 9, &fp_off))
			return;
		word |= EHU_SLOT_FP_SAVED;
		break;
	case EHF_RULE_UNDEF:
	case EHF_RULE_STOP:
		word |= EHU_SLOT_FP_LOST;
		break;
	case EHF_RULE_AT_REG:
		if (fp->reg != abi->reg_fp || fp->off)
			return;
		word |= EHU_SLOT_FP_AT_FP;
		break;
	default:
		return;
	}
	word |= fp_off << EHU_SLOT_FP_OFF | ra_off << EHU_SLOT_RA_OFF;
	put(cache, generation, addr, cfa_off, word);
}

/**
 * ehu_row_cache_row() - unpack a slot
 * @slot: a slot that holds a row: without EHU_SLOT_STOP
 * @arch: the machine
 * @row: filled in: the rules as ehu_row_cache_put() got them, as far as a step can tell; an FP
 *	that cannot be followed becomes one that is undefined. No addresses
 */
void ehu_row_cache_row(const struct ehu_slot *slot, const struct ehu_arch *arch,
		       struct ehf_row *row)
{
	const u32 size = arch->abi.word_size;
	const u64 word = slot->word;
	struct ehf_rule *fp = &row->rule[EHF_FP];

	*row = (struct ehf_row){ .ra_reg = arch->abi.reg_ra };
	row->cfa.kind = word & EHU_SLOT_CFA_LOAD ? EHF_CFA_AT_REG : EHF_CFA_REG;
	row->cfa.reg = word & EHU_SLOT_CFA_FP ? arch->abi.reg_fp : arch->abi.reg_sp;
	row->cfa.off = (s64)ehu_slot_off(slot->key, EHU_SLOT_ADDR_BITS, 16, size);
	row->rule[EHF_RA].kind = EHF_RULE_AT_CFA;
	row->rule[EHF_RA].off = (s64)ehu_slot_off(word, EHU_SLOT_RA_OFF, 9, size);
	if (word & EHU_SLOT_SP_SAVED) {
		row->rule[EHF_SP].kind = EHF_RULE_AT_CFA;
		row->rule[EHF_SP].off = arch->sp_slot;
	}
	switch (word & EHU_SLOT_FP_MASK) {
	case EHU_SLOT_FP_SAVED:
		fp->kind = EHF_RULE_AT_CFA;
		fp->off = (s64)ehu_slot_off(word, EHU_SLOT_FP_OFF, 9, size);
		break;
	case EHU_SLOT_FP_AT_FP:
		fp->kind = EHF_RULE_AT_REG;
		fp->reg = arch->abi.reg_fp;
		break;
	case EHU_SLOT_FP_LOST:
		fp->kind = EHF_RULE_UNDEF;
		break;
	default:
		break;
	}
}
