// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The steps of frames whose rows are plain and whose stack is at hand: nearly all of a profile.
 */
#include "unwind/user.h"

/* What changes from step to step. @fp is 0 where it is not known. */
struct frame {
	u64 addr;	/* to be looked up: one less than the pc after the first step */
	u64 sp;
	u64 fp;
	u64 kept;	/* steps that read no FP */
	u8 flags;	/* EHU_ENTRY_FP_KNOWN, as entries have it */
};

/* What does not change. */
struct plain_walk {
	const u8 *stack;
	u64 start;	/* target address of @stack */
	u64 last;	/* offset of the last word */
	u64 ra_mask;
	u64 align;	/* bits that are 0 in CFA and SP */
	u64 sp_off;
	const struct ehf_abi *abi;
};

/* What a row may say besides CFA, RA and an FP that is saved or not. */
#define RARE	(EHF_PLAIN_STOP | EHF_PLAIN_CFA_LOAD | EHF_PLAIN_SP_SAVED | EHF_PLAIN_FP_LOST)

#define MAX_ADDR	((1ULL << EHU_SLOT_ADDR_BITS) - 1)

/* May the stack be read by the host's own loads of 8 bytes, with no masks? */
static inline bool is_host_like(const struct ehf_abi *abi)
{
#ifdef __BYTE_ORDER__
	return abi->word_size == 8 && abi->addr_size == 8 && !abi->sp_off &&
	       abi->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
#else
	return false;
#endif
}

/* What the rows of a run come from. */
struct run {
	const struct ehu_unwind *u;
	struct ehu_near *near;
	struct ehu_row_cache *cache;
	struct ehf_cost *cost;
	u64 generation;	/* not 0 */
	u64 made;	/* rows that were not in the cache */
	u64 far;	/* words that were not at hand */
	u64 more;	/* words besides RA and FP */
	enum ehf_stop stop;
};

/* By value, so that what a step works on stays in registers. */
struct word {
	u64 value;
	bool good;
};

/* A word that is not at hand, from the source. */
static ehf_noinline struct word far_word(const struct run *r, u64 addr, u32 size)
{
	const struct ehf_abi *abi = &r->u->arch->abi;
	u8 bytes[8] = { 0 };

	size = size == 8 ? 8 : 4;
	if (!ehf_mem_read(r->u->mem, r->cost, ehf_addr(abi, addr), bytes, size))
		return (struct word){ 0, false };
	return (struct word){ ehf_number(bytes, size, abi->big_endian), true };
}

/* @size bytes at offset @off of the stack. @host: as is_host_like() says, and @size is 8. */
static ehf_always_inline bool
stack_word(struct run *r, const struct plain_walk *w, u64 off, u32 size, bool host, u64 *value)
{
	if (ehf_unlikely(off > w->last)) {
		const struct word far = far_word(r, off + w->start, size);

		r->far++;
		*value = far.value;
		return far.good;
	}
	if (host)
		__builtin_memcpy(value, w->stack + off, sizeof(*value));
	else
		*value = ehf_number(w->stack + off, size == 8 ? 8 : 4, w->abi->big_endian);
	return true;
}

/* An FP that is lost, or where FP points to. */
static ehf_always_inline void
other_fp(struct run *r, const struct plain_walk *w, u64 word, u32 size, bool host,
	 struct frame *f)
{
	if ((word & EHF_PLAIN_FP_KIND) == EHF_PLAIN_FP_AT_FP && f->flags) {
		r->more++;
		if (stack_word(r, w, f->fp - w->start, size, host, &f->fp))
			return;
	}
	f->fp = 0;
	f->flags = 0;
}

/*
 * One step, by the rules that a row's own step follows. False where anything is out of the
 * ordinary, with @f as it was: the ordinary way then finds out, and says why, if @r->stop does not.
 * @rare: the row may be of any form, else it has none of the bits RARE.
 */
static ehf_always_inline bool
plain_step(struct run *r, const struct plain_walk *w, struct ehf_plain row, struct frame *f,
	   bool host, bool rare)
{
	const u32 size = host ? 8 : w->abi->word_size;
	struct frame to = *f;
	u64 more = 0;	/* words besides RA and FP; those of a step that is given up do not count */
	u64 cfa, at, ra;

	if (rare && row.word & EHF_PLAIN_STOP) {
		/* The end of most stacks. */
		if (ehf_plain_stop(row) == EHF_STOP_RA_UNDEFINED)
			r->stop = EHF_STOP_RA_UNDEFINED;
		return false;
	}
	cfa = f->sp;
	if (row.word & EHF_PLAIN_CFA_FP) {
		if (ehf_unlikely(!f->flags))
			return false;
		cfa = f->fp;
	}
	cfa += ehf_plain_cfa_off(row, size);
	if (rare && row.word & EHF_PLAIN_CFA_LOAD) {
		/* Of another size than the words that are counted: x32. */
		if (!host && w->abi->addr_size != size)
			return false;
		more++;
		if (!stack_word(r, w, cfa - w->start, size, host, &cfa))
			goto fault;
	}
	if (!host)
		cfa = ehf_addr(w->abi, cfa);
	to.sp = host ? cfa : ehf_addr(w->abi, cfa + w->sp_off);
	if (ehf_unlikely(cfa & w->align))
		return false;
	if (ehf_unlikely(to.sp <= f->sp))
		return false;
	at = cfa - w->start;
	if (!stack_word(r, w, at + ehf_plain_ra_off(row, size), size, host, &ra)) {
		more++;
		goto fault;
	}
	/* An RA of 0 is the end; what no slot has room for is not looked up here. */
	to.addr = ((host ? ra : ehf_addr(w->abi, ra)) & w->ra_mask) - 1;
	if (ehf_unlikely(to.addr > MAX_ADDR))
		return false;
	if (rare && row.word & EHF_PLAIN_SP_SAVED) {
		more++;
		if (!stack_word(r, w, at + (u64)(s64)w->abi->sp_slot, size, host, &to.sp)) {
			more++;
			goto fault;
		}
		if (to.sp & w->align || to.sp <= f->sp)
			return false;
	}
	if (rare && row.word & EHF_PLAIN_FP_LOST) {
		to.kept++;
		other_fp(r, w, row.word, size, host, &to);
	} else if (row.word & EHF_PLAIN_FP_SAVED) {
		to.flags = EHU_ENTRY_FP_KNOWN;
		if (!stack_word(r, w, at + ehf_plain_fp_off(row, size), size, host, &to.fp))
			to.flags = 0;
	} else {
		to.kept++;
	}
	if (rare)
		r->more += more;
	*f = to;
	return true;
fault:
	r->more += more;
	r->stop = EHF_STOP_MEMORY;
	return false;
}

/* Asks the source for the bytes of another section, once while the walk stays in it. */
static void take_section(const struct ehu_unwind *u, struct ehu_near *near,
			 const struct ehf_section *s, u64 generation)
{
	near->section = s;
	near->generation = generation;
	near->ctx.mem = u->mem;
	near->ctx.abi = &u->arch->abi;
	near->ctx.limits = u->limits;
	near->ctx.plain = u->memo ? u->memo->plain : near->plain;
	near->ctx.nr_plain = u->memo ? EHF_MEMO_PLAIN : EHU_NEAR_PLAIN;
	near->ctx.generation = generation;
	near->ctx.hand = ehf_hand_ask(u->mem, s->eh_frame, s->eh_frame_end - s->eh_frame);
	near->table = (struct ehf_hand){ NULL, s->table, 0 };
	if (!s->table || s->nr_fdes >= ~0ULL / 16)
		return;
	near->table = ehf_hand_ask(u->mem, s->table, s->nr_fdes * s->entry_size);
	ehf_plain_table(s, &near->table);
}

/* The row of an address by the short way; the cache learns it. */
static bool make_row(struct run *r, u64 addr, struct ehf_plain *row)
{
	const struct ehu_unwind *u = r->u;
	const struct ehf_section *section = u->sections->find(u->sections, addr);
	struct ehu_near *near = r->near;

	/* A walk keeps nothing of sections that change under it. */
	if (!section || ehu_generation(u->sections) != r->generation)
		return false;
	if (section != near->section || r->generation != near->generation)
		take_section(u, near, section, r->generation);
	near->ctx.cost = r->cost;
	if (!ehf_plain_find(&near->ctx, section, &near->table, addr, row))
		return false;
	r->made++;
	if (r->cache) {
		r->cache->misses++;
		ehu_row_cache_put(r->cache, r->generation, addr, *row);
	}
	return true;
}

/* The row of an address that is not where the cache is looked at first; 0 where it is not plain. */
static ehf_noinline struct ehf_plain find_row(struct run *r, u64 addr)
{
	struct ehf_plain row = { 0 };
	const struct ehu_slot *slot;

	if (r->cache) {
		slot = ehu_row_cache_promote(r->cache, r->generation, addr);
		if (slot)
			return slot->row;
	}
	if (r->near && make_row(r, addr, &row))
		return row;
	return (struct ehf_plain){ 0 };
}

#define SLOT_SHIFT	4	/* log2 of a slot's size */

static inline const struct ehu_slot *slot_at(const struct ehu_slot *slots, u32 bytes)
{
	_Static_assert(sizeof(*slots) == 1 << SLOT_SHIFT, "slots have 16 bytes");
	return (const struct ehu_slot *)(const void *)((const u8 *)slots + bytes);
}

static ehf_always_inline u32
run(struct run *r, struct ehu_user_state *state, struct ehu_entry *entry, u32 room, bool host)
{
	/* No cache: whatever matches one of these is left to the general way. */
	static const struct ehu_slot nothing[2] = {
		{ ~0ULL, { EHF_PLAIN_STOP | EHU_SLOT_FREE } },
		{ ~0ULL, { EHF_PLAIN_STOP | EHU_SLOT_FREE } },
	};
	const struct ehu_slot *slots = r->cache ? r->cache->slot : nothing, *slot;
	/* In bytes: what ehu_row_cache_first() counts in slots. */
	const u32 mask = (r->cache ? r->cache->mask : 0) * (u32)sizeof(*slot);
	struct ehu_entry *const end = entry + room, *e = entry;
	const u64 generation = r->generation;
	const struct ehu_arch *arch = r->u->arch;
	const struct plain_walk w = {
		.stack = state->stack.p, .start = state->stack.start,
		.last = state->stack.len - arch->abi.word_size,
		.ra_mask = ehu_arch_ra_mask(arch, r->u->ra_mask),
		.align = arch->sp_align - 1U, .sp_off = (u64)(s64)arch->abi.sp_off,
		.abi = &arch->abi,
	};
	struct frame f = {
		.addr = ehu_lookup_addr(state), .sp = state->sp,
		.fp = state->fp_known ? state->fp : 0,
		.flags = state->fp_known ? EHU_ENTRY_FP_KNOWN : 0,
	};
	struct ehf_plain row;
	u64 loads;
	u32 at;

	for (; e < end; e++) {
		at = ehu_row_cache_hash(f.addr) >> (16 - SLOT_SHIFT) & mask;
		slot = slot_at(slots, at);
		row = slot->row;
		if (ehf_unlikely(!ehu_slot_is(slot, generation, f.addr))) {
			/* One more, before it takes a call. */
			slot = slot_at(slots, at ^ (u32)sizeof(*slot));
			row = slot->row;
			if (!ehu_slot_is(slot, generation, f.addr)) {
				row = find_row(r, f.addr);
				if (!row.word)
					break;
			}
		}
		if (ehf_unlikely(row.word & RARE)) {
			if (!plain_step(r, &w, row, &f, host, true))
				break;
		} else if (!plain_step(r, &w, row, &f, host, false)) {
			break;
		}
		e->ip = f.addr + 1;
		e->sp = f.sp;
		e->fp = f.fp;
		e->via = EHU_VIA_EH_FRAME;
		e->flags = f.flags;
	}
	/* A step reads RA and FP; what was not at hand has been counted. */
	loads = 2 * (u64)(e - entry) - f.kept + r->more - r->far;
	r->cost->reads += loads;
	r->cost->bytes += loads * arch->abi.word_size;
	if (e == entry)
		return 0;
	state->ip = f.addr + 1;
	state->sp = f.sp;
	state->fp = f.fp;
	state->fp_known = f.flags;
	state->exact = false;
	state->via = EHU_VIA_EH_FRAME;
	state->regs = NULL;
	state->layout = NULL;
	return (u32)(e - entry);
}

/* For machines that the host is not like. */
static ehf_noinline u32
run_any(struct run *r, struct ehu_user_state *state, struct ehu_entry *entry, u32 room)
{
	/* Addresses of 4 bytes do not go on where they end. */
	if (r->u->arch->abi.addr_size == 4 && state->stack.start + state->stack.len > 1ULL << 32)
		return 0;
	return run(r, state, entry, room, false);
}

/**
 * ehu_user_run() - take the steps whose rows are plain and whose stack is at hand
 * @u: the walk
 * @state: the frame; becomes the last one that was reached
 * @entry: where the frames that are reached go
 * @room: how many @entry has room for
 * @cost: counters, added to
 * @stop: set where it is known why the last frame has no caller, else left alone
 *
 * Whatever is unusual ends it; ehu_user_step() then says what that was.
 *
 * Return: how many frames were reached, perhaps 0.
 */
u32 ehu_user_run(const struct ehu_unwind *u, struct ehu_user_state *state,
		 struct ehu_entry *entry, u32 room, struct ehf_cost *cost, enum ehf_stop *stop)
{
	const u64 generation = ehu_generation(u->sections);
	const struct ehf_abi *abi = &u->arch->abi;
	struct run r = {
		.u = u, .near = u->mem->direct ? state->near : NULL, .cost = cost,
		.cache = u->cache, .generation = generation,
	};
	u32 n;

	if (!generation || state->stack.len < abi->word_size || ehu_lookup_addr(state) > MAX_ADDR)
		return 0;
	if (!ehu_row_cache_can(generation, 0))
		r.cache = NULL;
	if (is_host_like(abi))
		n = run(&r, state, entry, room, true);
	else
		n = run_any(&r, state, entry, room);
	if (r.stop)
		*stop = r.stop;
	/* A row that was made for a step that was given up is a hit of the one that follows. */
	if (r.cache)
		r.cache->hits += n + !!r.stop - r.made;
	return n;
}
