// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/user.c and unwind/user_plain.c: what a walk may know from before, and of sections that
 * change under it.
 */
#include "selftests/lib/user.h"

/* A return address beyond what a slot can name is walked as without a cache. */
TEST_F(user, addresses_of_more_than_48_bits)
{
	finish(self);
	word(self, 0, 1ULL << 48);
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	FRAME(1, 1ULL << 48, AT(1));
	word(self, 0, (1ULL << 48) + 1);
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(2, self->t.nr);
	word(self, 0, (1ULL << 48) + FN(LEAF) + 1);
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* Nothing is known that may not be: no number, one that no slot can hold, no place to keep it. */
TEST_F(user, generations_that_forbid_caching)
{
	static const unsigned long numbers[] = { 0, 1UL << 40, 1UL << 16, 3 };

	finish(self);
	word(self, 0, FN(LEAF) + 32);
	word(self, 1, FN(LEAF) + 33);
	word(self, 2, FN(START) + 32);
	for (u32 k = 0; k < EHF_ARRAY_SIZE(numbers); k++) {
		self->map.sections.generation = numbers[k];
		EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
		EXPECT_EQ(4, self->t.nr);
		EXPECT_EQ(k < 2, !self->cache.hits);
	}
}

/* Sections that change while they are searched. */
struct moving {
	struct ehu_sections sections;
	const struct ehu_sections *real;
	u32 calls;
	u32 change_at;
};

static const struct ehf_section *find_and_move(const struct ehu_sections *sections, u64 addr)
{
	struct moving *m = (struct moving *)sections;
	const struct ehf_section *s = m->real->find(m->real, addr);

	if (++m->calls == m->change_at)
		m->sections.generation++;
	return s;
}

/*
 * A row that was found while its section went away is used, but kept under no number that is
 * asked for again.
 */
TEST_F(user, sections_change_during_a_walk)
{
	struct moving m = { .sections = { .find = find_and_move } };

	finish(self);
	word(self, 0, FN(LEAF) + 32);
	word(self, 1, FN(LEAF) + 33);
	word(self, 2, FN(START) + 32);
	self->t = (struct ehu_trace){ .entry = self->entry, .max = MAX };
	self->u.sections = &m.sections;
	self->u.cache = &self->cache;
	self->u.memo = &self->memo;
	m.real = &self->map.sections;
	b_memory(&self->b, B_DIRECT);
	for (u32 at = 1; at <= 4; at++) {
		ASSERT_EQ(0, ehu_row_cache_init(&self->cache, self->slot, 64));
		m.sections.generation = 7;
		m.calls = 0;
		m.change_at = at;
		ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
		EXPECT_EQ(EHF_STOP_RA_UNDEFINED, self->t.stop);
		EXPECT_EQ(4, self->t.nr);
		EXPECT_EQ(8, m.sections.generation);
		for (u32 k = 0; k < at; k++) {
			u64 pc = self->entry[k].ip - !!k;
			const struct ehu_slot *s = ehu_row_cache_find(&self->cache, 8, pc);

			/* The one that was looked for again was found under the new number. */
			if (s)
				EXPECT_EQ(at - 1, k);
		}
	}
}

/* A section that another thread replaces by one at the same addresses. */
struct replaced {
	struct ehf_mem mem;
	struct ehu_sections sections;
	struct b b[2];
	u32 now;
	u32 finds;
	u32 replace_at;
	u64 stack[8];
};

#define REPLACED_STACK	0x10000

static bool replaced_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct replaced *r = (struct replaced *)mem;
	const u64 at = addr - REPLACED_STACK;

	if (at < sizeof(r->stack) && len <= sizeof(r->stack) - at) {
		memcpy(dst, (u8 *)r->stack + at, len);
		return true;
	}
	return b_read(&r->b[r->now].mem, addr, dst, len);
}

static const struct ehf_section *replaced_find(const struct ehu_sections *sections, u64 addr)
{
	struct replaced *r = (struct replaced *)((u8 *)(uintptr_t)sections -
						 offsetof(struct replaced, sections));

	if (++r->finds == r->replace_at) {
		r->now = 1;
		r->sections.generation += 2;
	}
	return addr - 0x1000 < 0x100 ? &r->b[r->now].s : NULL;
}

TEST(section_is_replaced_while_it_is_looked_up)
{
	static struct replaced r;
	static struct ehf_memo memo;
	struct ehu_regs regs = { .ip = 0x1010, .known = 1ULL << 7, .reg[7] = REPLACED_STACK };

	r.mem.read = replaced_read;
	r.sections.find = replaced_find;
	/* The same addresses; what the CIE says of them is not the same. */
	for (u32 k = 0; k < 2; k++) {
		struct b *b = &r.b[k];
		struct b_cie o = b_zr;
		u64 cie;

		o.fde_enc = k ? 0x03 : 0x1b;
		b_init(b, &ehu_arch_x86_64.abi);
		cie = b_cie(b, &o);
		b_put(b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
		b_close(b);
		b_fde(b, cie, 0x1000, 0x100);
		b_close(b);
		b_end(b);
		b_hdr(b, 0x1b, 0x03, 0x3b);
		b->s.text_start = 0x1000;
		b->s.text_end = 0x1100;
		ASSERT_EQ(EHF_STOP_NONE, ehf_section_init(&b->ctx, &b->s));
	}
	for (u32 k = 0; k < 4; k++)
		r.stack[k] = 0x1011;
	for (u32 at = 1; at < 8; at++) {
		for (u32 with = 0; with < 2; with++) {
			struct ehu_entry entry[8];
			struct ehu_trace trace = { .entry = entry, .max = 8 };
			struct ehu_unwind u = {
				.arch = &ehu_arch_x86_64, .mem = &r.mem, .sections = &r.sections,
				.limits = &ehf_limits_walk, .memo = with ? &memo : NULL,
			};

			r.now = 0;
			r.finds = 0;
			r.replace_at = at;
			r.sections.generation = 5 + 10 * at + 100 * with;
			ASSERT_EQ(0, ehu_walk(&u, &regs, &trace));
			EXPECT_EQ(EHF_STOP_RA_ZERO, trace.stop) {
				TH_LOG("replaced at lookup %u: %u frames, %s", at, trace.nr,
				       ehf_stop_name(trace.stop));
			}
			EXPECT_EQ(5, trace.nr);
		}
	}
}

static const struct ehf_section *no_sections(const struct ehu_sections *sections, u64 addr)
{
	(void)sections;
	(void)addr;
	return NULL;
}

/* Without a cache no slot is the one of address 0. */
TEST(nothing_is_known_of_address_0)
{
	static u8 stack[128];
	struct ehu_near near;
	struct ehu_regs regs = { .ip = 0, .known = 1ULL << 15, .reg[15] = 96 };
	struct ehf_mem mem = { replaced_read, NULL };
	struct ehu_sections sections = { .find = no_sections };
	struct ehu_unwind u = {
		.arch = &ehu_arch_s390x, .mem = &mem, .sections = &sections,
		.limits = &ehf_limits_walk,
	};
	struct ehf_cost cost = { 0 };

	memset(stack, 0x10, sizeof(stack));
	for (u32 bit = 0; bit < 64; bit++) {
		struct ehu_user_state state = { .ip = 0, .sp = 96, .exact = true, .regs = &regs };
		enum ehf_stop stop = EHF_STOP_NONE;
		struct ehu_entry entry[4];

		sections.generation = 1ULL << bit;
		ehu_near_init(&near);
		state.near = &near;
		state.stack = (struct ehf_hand){ stack, 64, sizeof(stack) };
		EXPECT_EQ(0, ehu_user_run(&u, &state, entry, 4, &cost, &stop)) {
			TH_LOG("generation 1 << %u", bit);
		}
		EXPECT_EQ(EHF_STOP_NONE, stop);
	}
}

TEST_HARNESS_MAIN
