// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The steps of frames whose rows are cached and whose stack is at hand: nearly all of a profile.
 */
#include "unwind/user.h"

/* What changes from step to step. */
struct cached {
	u64 ip;
	u64 sp;
	u64 fp;
	u64 loads;	/* words of the stack that were read */
	bool fp_known;
};

/* May the stack be read by the host's own loads of 8 bytes? */
static inline bool is_host_like(const struct ehf_abi *abi)
{
#ifdef __BYTE_ORDER__
	return abi->word_size == 8 && abi->addr_size == 8 &&
	       abi->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
#else
	return false;
#endif
}

/* @size bytes of the stack that is at hand. @host: as is_host_like() says, and @size is 8. */
static inline __attribute__((always_inline)) bool
stack_word(const struct ehf_abi *abi, const struct ehf_hand *stack, u64 addr, u32 size, bool host,
	   u64 *value)
{
	const u8 *p = ehf_at_hand(stack, host ? addr : ehf_addr(abi, addr), size);

	if (!p)
		return false;
	if (host)
		__builtin_memcpy(value, p, sizeof(*value));
	else
		*value = ehf_number(p, size == 8 ? 8 : 4, abi->big_endian);
	return true;
}

/*
 * One step, by the rules that a row's own step follows. False where anything is out of the
 * ordinary, with @c as it was: the ordinary way then finds out, and says why.
 */
static inline __attribute__((always_inline)) bool
step(const struct ehu_unwind *u, const struct ehf_hand *stack, const struct ehu_slot *slot,
     struct cached *c, u64 mask, bool host)
{
	const struct ehf_abi *abi = &u->arch->abi;
	const u64 word = slot->word, align = u->arch->sp_align - 1U;
	const u32 size = host ? 8 : abi->word_size;
	u64 cfa = c->sp, sp, ra = 0, fp = c->fp, loads = 1;
	bool fp_known = c->fp_known;

	if (ehf_unlikely(word & EHU_SLOT_STOP) || (word & EHU_SLOT_CFA_FP && !fp_known))
		return false;
	if (word & EHU_SLOT_CFA_FP)
		cfa = fp;
	cfa += ehu_slot_off(slot->key, EHU_SLOT_ADDR_BITS, 16, size);
	if (ehf_unlikely(word & EHU_SLOT_CFA_LOAD)) {
		if (!stack_word(abi, stack, cfa, host ? 8 : abi->addr_size, host, &cfa))
			return false;
		loads++;
	}
	sp = cfa + (u64)(s64)abi->sp_off;
	if (!host) {
		cfa = ehf_addr(abi, cfa);
		sp = ehf_addr(abi, sp);
	}
	if (cfa & align || sp <= c->sp ||
	    !stack_word(abi, stack, cfa + ehu_slot_off(word, EHU_SLOT_RA_OFF, 9, size), size, host, &ra))
		return false;
	ra = (host ? ra : ehf_addr(abi, ra)) & mask;
	if (!ra)
		return false;
	if (ehf_unlikely(word & EHU_SLOT_SP_SAVED)) {
		if (!stack_word(abi, stack, cfa + (u64)(s64)u->arch->sp_slot, size, host, &sp) ||
		    sp & align || sp <= c->sp)
			return false;
		loads++;
	}
	if ((word & EHU_SLOT_FP_MASK) == EHU_SLOT_FP_SAVED) {
		if (!stack_word(abi, stack, cfa + ehu_slot_off(word, EHU_SLOT_FP_OFF, 9, size), size,
				host, &fp))
			return false;
		fp_known = true;
		loads++;
	} else if ((word & EHU_SLOT_FP_MASK) == EHU_SLOT_FP_AT_FP) {
		if (!fp_known || !stack_word(abi, stack, fp, size, host, &fp))
			return false;
		loads++;
	} else if ((word & EHU_SLOT_FP_MASK) == EHU_SLOT_FP_LOST) {
		fp = 0;
		fp_known = false;
	}
	c->ip = ra;
	c->sp = sp;
	c->fp = fp;
	c->fp_known = fp_known;
	c->loads += loads;
	return true;
}

static inline __attribute__((always_inline)) u32
run(const struct ehu_unwind *u, const struct ehu_user_state *f, struct cached *c,
    struct ehu_entry *entry, u32 room, bool host)
{
	const u64 generation = ehu_generation(u->sections), mask = ehu_ra_mask(u);
	const struct ehf_hand stack = f->stack;
	const struct ehu_slot *slot;
	u64 addr = ehu_lookup_addr(f);
	u32 n;

	for (n = 0; n < room && ehu_row_cache_can(generation, addr); n++) {
		slot = ehu_row_cache_find(u->cache, generation, addr);
		if (!slot || !step(u, &stack, slot, c, mask, host))
			break;
		entry[n] = (struct ehu_entry){
			.ip = c->ip, .sp = c->sp, .fp = c->fp_known ? c->fp : 0,
			.via = EHU_VIA_EH_FRAME, .flags = c->fp_known ? EHU_ENTRY_FP_KNOWN : 0,
		};
		addr = c->ip - 1;
	}
	return n;
}

/**
 * ehu_user_run() - take the steps whose rows are cached and whose stack is at hand
 * @u: the walk
 * @state: the frame; becomes the last one that was reached
 * @entry: where the frames that are reached go
 * @room: how many @entry has room for
 * @cost: counters, added to
 *
 * Whatever is unusual ends it; ehu_user_step() then says what that was. The machine that the
 * host is like has a loop of its own, with whole loads and no masks.
 *
 * Return: how many frames were reached, perhaps 0.
 */
u32 ehu_user_run(const struct ehu_unwind *u, struct ehu_user_state *state,
		 struct ehu_entry *entry, u32 room, struct ehf_cost *cost)
{
	struct cached c = { state->ip, state->sp, state->fp, 0, state->fp_known };
	u32 n;

	if (!u->cache)
		return 0;
	if (is_host_like(&u->arch->abi))
		n = run(u, state, &c, entry, room, true);
	else
		n = run(u, state, &c, entry, room, false);
	if (!n)
		return 0;
	u->cache->hits += n;
	cost->reads += c.loads;
	cost->bytes += c.loads * u->arch->abi.word_size;
	state->ip = c.ip;
	state->sp = c.sp;
	state->fp = c.fp;
	state->fp_known = c.fp_known;
	state->exact = false;
	state->via = EHU_VIA_EH_FRAME;
	state->regs = NULL;
	state->layout = NULL;
	return n;
}
