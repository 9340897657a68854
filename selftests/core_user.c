// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/user.c and unwind/walk.c: frames of every kind and each reason to stop. Every walk is done
 * with memory that is copied and memory that is at hand, without and with the cache, and must give
 * the same trace; where the cache knows all rows, at the same cost.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "unwind/walk.h"

#define TEXT	(B_BASE + 0x100000)
#define STACK	0x1000			/* offset of the stack in the builder's memory */
#define SP	(B_BASE + STACK)
#define AT(n)	(SP + 8 * (u64)(n))	/* address of the nth word of the stack */
#define FN(n)	(TEXT + 0x100 * (u64)(n))
#define NOWHERE	0x666666ULL

enum { RDX = 1, RBX = 3, RDI = 5, RBP = 6, RSP = 7, R10 = 10, RIP = 16, MAX = 32 };

/* Functions that most tests have: 256 bytes each, from FN(n) on. */
enum { LEAF, START, FREE };	/* CFA = SP + 8; RA undefined; for tests */

FIXTURE(user)
{
	struct b b;
	u64 cie;
	struct ehu_arch arch;
	struct ehu_map map;
	struct ehu_range range[2];
	struct ehu_regs regs;
	struct ehu_unwind u;
	struct ehu_trace t;
	struct ehu_entry entry[MAX];
	struct ehu_slot slot[64];
	struct ehu_row_cache cache;
	struct ehf_memo memo;
};

#define FUNCTION(start, len, ...) do { \
	b_fde(&self->b, self->cie, start, len); \
	b_put(&self->b, __VA_ARGS__); \
	b_close(&self->b); \
} while (0)

static void begin(FIXTURE_DATA(user) *self, const struct ehu_arch *arch)
{
	struct b_cie cie = b_zr;

	self->arch = *arch;
	b_init(&self->b, &arch->abi);
	cie.ra = arch->abi.reg_ra;
	cie.data_align = -arch->abi.word_size;
	self->cie = b_cie(&self->b, &cie);
	self->regs = (struct ehu_regs){ .ip = FN(LEAF) + 16 };
	self->regs.reg[arch->abi.reg_sp] = SP;
	self->regs.known = 1ULL << arch->abi.reg_sp;
	self->u = (struct ehu_unwind){ .arch = &self->arch, .mem = &self->b.mem,
				       .sections = &self->map.sections,
				       .limits = &ehf_limits_walk };
}

static void x86_64(FIXTURE_DATA(user) *self)
{
	begin(self, &ehu_arch_x86_64);
	b_put(&self->b, 0x0c, RSP, 8, 0x80 | RIP, 1);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, RIP);
}

/* All is built: the rest of the memory is stack. */
static void finish(FIXTURE_DATA(user) *self)
{
	struct b *b = &self->b;

	b_end(b);
	b_hdr(b, 0x1b, 0x03, 0x3b);
	ASSERT_LE(b->len, STACK);
	b->len = B_SIZE;
	b_memory(b, B_COPY);
	ASSERT_EQ(EHF_STOP_NONE, ehf_section_init(&b->ctx, &b->s));
	ehu_map_init(&self->map, self->range, 2);
	ASSERT_EQ(0, ehu_map_add(&self->map, TEXT, TEXT + 0x10000, &b->s));
	self->map.sections.generation = 5;
}

static void word(FIXTURE_DATA(user) *self, u32 n, u64 value)
{
	u32 size = self->arch.abi.word_size;

	b_poke(&self->b, STACK + size * n, value, size);
}

static void set_reg(FIXTURE_DATA(user) *self, u32 reg, u64 value)
{
	self->regs.reg[reg] = value;
	self->regs.known |= 1ULL << reg;
}

static void check_same(FIXTURE_DATA(user) *self, const struct ehu_trace *first, int way)
{
	EXPECT_EQ(first->stop, self->t.stop) {
		TH_LOG("way %d: %s", way, ehf_stop_name(self->t.stop));
	}
	ASSERT_EQ(first->nr, self->t.nr);
	for (u32 k = 0; k < first->nr; k++) {
		EXPECT_EQ(first->entry[k].ip, self->t.entry[k].ip);
		EXPECT_EQ(first->entry[k].sp, self->t.entry[k].sp);
		EXPECT_EQ(first->entry[k].fp, self->t.entry[k].fp);
		EXPECT_EQ(first->entry[k].via, self->t.entry[k].via);
		EXPECT_EQ(first->entry[k].flags, self->t.entry[k].flags);
	}
}

/*
 * A walk with the cache, which then has served and missed as many lookups; what is read of stack
 * and code is counted alike where no section is read.
 */
static void same_cost(FIXTURE_DATA(user) *self)
{
	static const enum b_kind kinds[] = { B_COPY, B_DIRECT };
	u64 hits[2][2], misses[2][2];
	struct ehf_cost cost[2] = { { 0 } };

	self->u.cache = &self->cache;
	self->u.memo = NULL;
	for (u32 k = 0; k < 2; k++) {
		memset(self->slot, 0, sizeof(self->slot));
		ASSERT_EQ(0, ehu_row_cache_init(&self->cache, self->slot, 64));
		b_memory(&self->b, kinds[k]);
		for (u32 warm = 0; warm < 2; warm++) {
			ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
			hits[k][warm] = self->cache.hits;
			misses[k][warm] = self->cache.misses;
		}
		cost[k] = self->t.cost;
	}
	for (u32 warm = 0; warm < 2; warm++) {
		EXPECT_EQ(hits[0][warm], hits[1][warm]);
		EXPECT_EQ(misses[0][warm], misses[1][warm]);
	}
	if (misses[0][0] != misses[0][1] || hits[0][0] == hits[0][1])
		return;
	EXPECT_EQ(cost[0].reads, cost[1].reads);
	EXPECT_EQ(cost[0].bytes, cost[1].bytes);
	EXPECT_EQ(0, cost[1].insns);
}

/* Walks every way there is; the trace is in self->t. */
static enum ehf_stop walk(FIXTURE_DATA(user) *self)
{
	static const enum b_kind kinds[] = { B_COPY, B_DIRECT, B_CRUMBS };
	struct ehu_entry entry[MAX];
	struct ehu_trace first = { .entry = entry };

	self->t = (struct ehu_trace){ .entry = self->entry, .max = MAX };
	self->u.cache = NULL;
	self->u.memo = NULL;
	b_memory(&self->b, B_COPY);
	ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
	EXPECT_NE(EHF_STOP_NONE, self->t.stop);
	memcpy(entry, self->entry, sizeof(entry));
	first.nr = self->t.nr;
	first.stop = self->t.stop;
	for (int way = 1; way < 9; way++) {
		b_memory(&self->b, kinds[way % 3]);
		if (way == 3) {
			memset(self->slot, 0, sizeof(self->slot));
			memset(&self->memo, 0, sizeof(self->memo));
			ASSERT_EQ(0, ehu_row_cache_init(&self->cache, self->slot, 64));
		}
		if (way >= 3) {
			self->u.cache = &self->cache;
			self->u.memo = &self->memo;
		}
		ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
		check_same(self, &first, way);
	}
	if (self->map.sections.generation)
		same_cost(self);
	EXPECT_EQ(0, self->b.broken);
	return self->t.stop;
}

#define FRAME(n, want_ip, want_sp) do { \
	ASSERT_LT(n, self->t.nr); \
	EXPECT_EQ(want_ip, self->t.entry[n].ip); \
	EXPECT_EQ(want_sp, self->t.entry[n].sp); \
} while (0)

FIXTURE_SETUP(user)
{
	x86_64(self);
}

FIXTURE_TEARDOWN(user)
{
	EXPECT_FALSE(self->b.overflow);
}

TEST_F(user, outermost_is_complete)
{
	finish(self);
	word(self, 0, FN(LEAF) + 32);
	word(self, 1, FN(START) + 32);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(3, self->t.nr);
	FRAME(0, FN(LEAF) + 16, AT(0));
	FRAME(1, FN(LEAF) + 32, AT(1));
	FRAME(2, FN(START) + 32, AT(2));
	EXPECT_EQ(EHU_VIA_REGS, self->t.entry[0].via);
	EXPECT_EQ(EHU_VIA_EH_FRAME, self->t.entry[1].via);
	EXPECT_EQ(EHU_ENTRY_EXACT, self->t.entry[0].flags);
	EXPECT_EQ(0, self->t.entry[1].flags);
}

TEST_F(user, ra_zero_is_complete)
{
	finish(self);
	word(self, 0, FN(LEAF) + 32);
	word(self, 1, 0);
	EXPECT_EQ(EHF_STOP_RA_ZERO, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* As in the kernel: a last pc that leads nowhere is seen. */
TEST_F(user, entry_is_stored_before_the_step)
{
	finish(self);
	word(self, 0, NOWHERE);
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(2, self->t.nr);
	FRAME(1, NOWHERE, AT(1));
	word(self, 0, FN(FREE) + 9);	/* in the module, but no function */
	EXPECT_EQ(EHF_STOP_NO_FDE, walk(self));
	EXPECT_EQ(2, self->t.nr);
	self->regs.ip = NOWHERE;
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(1, self->t.nr);
	FRAME(0, NOWHERE, SP);
}

TEST_F(user, trace_has_an_end)
{
	finish(self);
	for (u32 k = 0; k < 10; k++)
		word(self, k, FN(LEAF) + 32);
	word(self, 3, FN(START) + 32);
	for (u32 max = 0; max <= 6; max++) {
		self->t = (struct ehu_trace){ .entry = self->entry, .max = max, .nr = 99 };
		self->entry[max].ip = 0x5a5a;
		EXPECT_EQ(max ? 0 : -EINVAL, ehu_walk(&self->u, &self->regs, &self->t));
		EXPECT_EQ(max < 5 ? max : 5, self->t.nr);
		if (max)
			EXPECT_EQ(max < 5 ? EHF_STOP_TRACE_FULL : EHF_STOP_RA_UNDEFINED,
				  self->t.stop);
		EXPECT_EQ(0x5a5a, self->entry[max].ip);
	}
}

TEST_F(user, no_stack_pointer_no_step)
{
	finish(self);
	self->regs.known = 0;
	EXPECT_EQ(EHF_STOP_CFA_REG, walk(self));
	EXPECT_EQ(1, self->t.nr);
}

/*
 * R1. A call of a noreturn function may be the last instruction: the return address is then the
 * next function's first. It belongs to the caller; an interrupted pc of the same value does not.
 */
TEST_F(user, return_address_is_looked_up_minus_1)
{
	FUNCTION(FN(FREE), 0x10, 0x0e, 16);		/* CFA = SP + 16 */
	FUNCTION(FN(FREE) + 0x10, 0x10, 0x0e, 32);	/* CFA = SP + 32 */
	finish(self);
	word(self, 0, FN(FREE) + 0x10);
	word(self, 2, FN(START) + 1);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(FREE) + 0x10, AT(1));
	FRAME(2, FN(START) + 1, AT(3));
	self->regs.ip = FN(FREE) + 0x10;
	word(self, 3, FN(START) + 1);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(START) + 1, AT(4));
}

/* The return address is the first byte of a row: the row before it holds. */
TEST_F(user, row_changes_at_the_return_address)
{
	FUNCTION(FN(FREE), 0x100, 0x0e, 16, 0x50, 0x0e, 32);	/* from +16 on SP + 32 */
	finish(self);
	word(self, 0, FN(FREE) + 16);
	word(self, 2, FN(START) + 1);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(2, FN(START) + 1, AT(3));
}

/* A return address that is a function's first byte, with nothing in front of it. */
TEST_F(user, return_to_the_first_byte)
{
	finish(self);
	word(self, 0, FN(LEAF));
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* R8: FP cannot be read; nobody needs it but the last. */
TEST_F(user, fp_is_lost_and_not_missed)
{
	FUNCTION(FN(FREE), 0x100, 0x10, RBP, 5, 0x70 + RSP, 0x80, 0x80, 0x80, 0x02);
	FUNCTION(FN(FREE + 1), 0x100, 0x0c, RBP, 16);
	finish(self);
	set_reg(self, RBP, AT(3));
	self->regs.ip = FN(FREE) + 1;
	word(self, 0, FN(LEAF) + 2);
	word(self, 1, FN(LEAF) + 3);
	word(self, 2, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(4, self->t.nr);
	EXPECT_TRUE(self->t.entry[0].flags & EHU_ENTRY_FP_KNOWN);
	for (u32 k = 1; k < 4; k++) {
		EXPECT_EQ(0, self->t.entry[k].flags);
		EXPECT_EQ(0, self->t.entry[k].fp);
	}
	word(self, 1, FN(FREE + 1) + 3);
	EXPECT_EQ(EHF_STOP_FP_UNKNOWN, walk(self));
	EXPECT_EQ(3, self->t.nr);
}

/* FP undefined, or with a rule that is not followed, is the same. */
TEST_F(user, fp_rules_do_not_stop)
{
	FUNCTION(FN(FREE), 0x100, 0x07, RBP);			/* undefined */
	FUNCTION(FN(FREE + 1), 0x100, 0x10, RBP, 1, 0x30);	/* expression: lit0 */
	FUNCTION(FN(FREE + 2), 0x100, 0x09, RBP, RDX);		/* in a register */
	FUNCTION(FN(FREE + 3), 0x100, 0x08, RBP);		/* unchanged */
	finish(self);
	word(self, 0, FN(START) + 2);
	for (u32 k = 0; k < 4; k++) {
		set_reg(self, RBP, 0x1230);
		self->regs.ip = FN(FREE + k) + 1;
		EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
		EXPECT_EQ(k == 3 ? EHU_ENTRY_FP_KNOWN : 0, self->t.entry[1].flags);
	}
	set_reg(self, RDX, 0x4560);
	self->regs.ip = FN(FREE + 2) + 1;
	walk(self);
	EXPECT_EQ(EHU_ENTRY_FP_KNOWN, self->t.entry[1].flags);
	EXPECT_EQ(0x4560, self->t.entry[1].fp);
}

/* R9: GCC's DRAP below the topmost frame: CFA = *(rbp - 8), rbp = *rbp. */
TEST_F(user, drap_below_the_top)
{
	FUNCTION(FN(FREE), 0x100, 0x10, RBP, 2, 0x70 + RBP, 0, 0x0f, 3, 0x70 + RBP, 0x78, 6);
	FUNCTION(FN(FREE + 1), 0x100, 0x0c, RBP, 16);
	finish(self);
	set_reg(self, RBP, AT(4));
	word(self, 0, FN(FREE) + 2);
	word(self, 3, AT(9));		/* rbp - 8: the CFA */
	word(self, 4, AT(12));		/* the caller's rbp */
	word(self, 8, FN(FREE + 1) + 3);
	word(self, 13, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(4, self->t.nr);
	FRAME(2, FN(FREE + 1) + 3, AT(9));
	EXPECT_EQ(AT(12), self->t.entry[2].fp);
	FRAME(3, FN(START) + 4, AT(14));
}

/* r10 is known in the topmost frame only. */
TEST_F(user, cfa_in_a_register)
{
	FUNCTION(FN(FREE), 0x100, 0x0c, R10, 0);
	finish(self);
	set_reg(self, R10, AT(4));
	self->regs.ip = FN(FREE);
	word(self, 3, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(START) + 4, AT(4));
	self->regs.ip = FN(LEAF);
	word(self, 0, FN(FREE) + 4);
	EXPECT_EQ(EHF_STOP_CFA_REG, walk(self));
	EXPECT_EQ(2, self->t.nr);
	self->regs.ip = FN(FREE);
	self->regs.known &= ~(1ULL << R10);
	EXPECT_EQ(EHF_STOP_CFA_REG, walk(self));
}

/* vfork: CFA == SP, the return address in rdi. In the topmost frame that is progress. */
TEST_F(user, ra_in_a_register)
{
	FUNCTION(FN(FREE), 0x100, 0x0e, 0, 0x09, RIP, RDI);
	finish(self);
	set_reg(self, RDI, FN(START) + 4);
	self->regs.ip = FN(FREE) + 1;
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(START) + 4, AT(0));
	/* Below, it is not known. */
	self->regs.ip = FN(LEAF);
	word(self, 0, FN(FREE) + 4);
	EXPECT_EQ(EHF_STOP_RA_REG, walk(self));
	EXPECT_EQ(2, self->t.nr);
	/* To itself: no progress. */
	self->regs.ip = FN(FREE) + 1;
	set_reg(self, RDI, FN(FREE) + 1);
	EXPECT_EQ(EHF_STOP_NO_PROGRESS, walk(self));
	EXPECT_EQ(1, self->t.nr);
}

TEST_F(user, cfa_equal_to_sp)
{
	FUNCTION(FN(FREE), 0x100, 0x0e, 0, 0x11, RIP, 0x7f);	/* return address at CFA + 8 */
	finish(self);
	self->regs.ip = FN(FREE);
	self->regs.reg[RSP] = AT(1);
	word(self, 2, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(START) + 4, AT(1));
	self->regs.ip = FN(LEAF);
	self->regs.reg[RSP] = AT(0);
	word(self, 0, FN(FREE) + 4);
	EXPECT_EQ(EHF_STOP_NO_PROGRESS, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* On x86 a pc that is "unchanged" is the pc of this frame. */
TEST_F(user, ra_unchanged_is_no_progress)
{
	FUNCTION(FN(FREE), 0x100, 0x08, RIP);
	finish(self);
	self->regs.ip = FN(FREE);
	EXPECT_EQ(EHF_STOP_NO_PROGRESS, walk(self));
	EXPECT_EQ(1, self->t.nr);
}

/* R10: the CFA below SP is a policy, with a name for each way to get there. */
TEST_F(user, cfa_below_sp_and_stack_switch)
{
	FUNCTION(FN(FREE), 0x100, 0x0c, RBP, 16);
	FUNCTION(FN(FREE + 1), 0x100, 0x0f, 3, 0x70 + RSP, 0, 6);	/* CFA = *rsp */
	finish(self);
	self->regs.ip = FN(FREE);
	self->regs.reg[RSP] = AT(8);
	set_reg(self, RBP, AT(2));
	EXPECT_EQ(EHF_STOP_CFA_BELOW_SP, walk(self));
	EXPECT_EQ(EHF_CLASS_POLICY, ehf_stop_class(self->t.stop));
	self->regs.ip = FN(FREE + 1);
	word(self, 8, AT(4));
	EXPECT_EQ(EHF_STOP_STACK_SWITCH, walk(self));
	/* Up is fine. */
	word(self, 8, AT(12));
	word(self, 11, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(START) + 4, AT(12));
}

TEST_F(user, misaligned)
{
	FUNCTION(FN(FREE), 0x100, 0x0e, 12);
	FUNCTION(FN(FREE + 1), 0x100, 0x0e, 16, 0x16, RSP, 2, 0x70 + RSP, 13);
	FUNCTION(FN(FREE + 2), 0x100, 0x0e, 12, 0x11, RIP, 1, 0x16, RSP, 2, 0x70 + RSP, 32);
	finish(self);
	self->regs.ip = FN(FREE);
	EXPECT_EQ(EHF_STOP_MISALIGNED, walk(self));
	self->regs.ip = FN(LEAF);
	self->regs.reg[RSP] = SP + 4;
	EXPECT_EQ(EHF_STOP_MISALIGNED, walk(self));
	/* An explicit SP. */
	self->regs.reg[RSP] = SP;
	self->regs.ip = FN(FREE + 1);
	word(self, 1, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_MISALIGNED, walk(self));
	/* An aligned one does not make up for the CFA. */
	self->regs.ip = FN(FREE + 2);
	b_poke(&self->b, STACK + 4, FN(START) + 4, 8);
	EXPECT_EQ(EHF_STOP_MISALIGNED, walk(self));
}

/* setcontext and GHC: SP has a rule of its own. */
TEST_F(user, explicit_sp)
{
	FUNCTION(FN(FREE), 0x100, 0x0e, 16, 0x16, RSP, 2, 0x70 + RSP, 32);
	FUNCTION(FN(FREE + 1), 0x100, 0x0e, 16, 0x07, RSP);
	finish(self);
	self->regs.ip = FN(FREE);
	word(self, 1, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(START) + 4, AT(4));
	self->regs.ip = FN(FREE + 1);
	EXPECT_EQ(EHF_STOP_SP_RULE, walk(self));
}

/* ---- signals ---- */

/*
 * glibc's __restore_rt: SP points to the ucontext. Its FDE starts a byte early, so that the
 * handler's return address minus 1 finds it.
 */
#define TRAMPOLINE	FN(8)
#define MCONTEXT(n)	(5 + (n))	/* words from SP */

static void trampoline(FIXTURE_DATA(user) *self)
{
	struct b_cie cie = b_zr;

	cie.aug = "zRS";
	self->cie = b_cie(&self->b, &cie);
	b_put(&self->b, 0x0f, 4, 0x77, 0xa0, 1, 6, 0x10, RSP, 3, 0x77, 0xa0, 1,
	      0x10, RIP, 3, 0x77, 0xa8, 1, 0x10, RBP, 3, 0x77, 0xf8, 0);
	b_close(&self->b);
	FUNCTION(TRAMPOLINE - 1, 10, 0);
}

/* A handler at LEAF, whose frame ends at word 0, was called for this context. */
static void interrupt(FIXTURE_DATA(user) *self, u64 ip, u64 sp, u64 fp, u64 rbx, u64 rdi)
{
	word(self, 0, TRAMPOLINE);
	word(self, 1 + MCONTEXT(16), ip);
	word(self, 1 + MCONTEXT(15), sp);
	word(self, 1 + MCONTEXT(10), fp);
	word(self, 1 + MCONTEXT(11), rbx);
	word(self, 1 + MCONTEXT(8), rdi);
}

/* R1 again: what a signal interrupted is looked up as it is. */
TEST_F(user, interrupted_pc_is_exact)
{
	FUNCTION(FN(FREE), 0x10, 0x0e, 16);
	FUNCTION(FN(FREE) + 0x10, 0x10, 0x0e, 32);
	trampoline(self);
	finish(self);
	interrupt(self, FN(FREE) + 0x10, AT(40), 0x123450, 0, 0);
	word(self, 43, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(4, self->t.nr);
	FRAME(1, TRAMPOLINE, AT(1));
	FRAME(2, FN(FREE) + 0x10, AT(40));
	EXPECT_EQ(0x123450, self->t.entry[2].fp);
	EXPECT_EQ(EHU_ENTRY_EXACT | EHU_ENTRY_FP_KNOWN, self->t.entry[2].flags);
	FRAME(3, FN(START) + 4, AT(44));
	EXPECT_FALSE(self->t.entry[3].flags & EHU_ENTRY_EXACT);
}

/* R10: a handler on a stack of its own: SP goes down, or anywhere. */
TEST_F(user, signal_stack)
{
	trampoline(self);
	finish(self);
	self->regs.reg[RSP] = AT(100);
	word(self, 100, TRAMPOLINE);
	word(self, 101 + MCONTEXT(16), FN(LEAF) + 3);
	word(self, 101 + MCONTEXT(15), AT(7));
	word(self, 7, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(2, FN(LEAF) + 3, AT(7));
	FRAME(3, FN(START) + 4, AT(8));
}

/* The interrupted frame's registers are in the signal frame, and used up by one step. */
TEST_F(user, signal_frame_has_the_register_file)
{
	FUNCTION(FN(FREE), 0x100, 0x0c, RBX, 16);
	FUNCTION(FN(FREE + 1), 0x100, 0x0e, 0, 0x09, RIP, RDI);
	trampoline(self);
	finish(self);
	interrupt(self, FN(FREE) + 4, AT(40), 0, AT(50), 0);
	word(self, 51, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(3, FN(START) + 4, AT(52));
	word(self, 51, FN(FREE) + 4);
	EXPECT_EQ(EHF_STOP_CFA_REG, walk(self));
	EXPECT_EQ(4, self->t.nr);
	/* CFA == SP and RA in rdi, as in a topmost frame. */
	interrupt(self, FN(FREE + 1) + 4, AT(40), 0, 0, FN(START) + 9);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(3, FN(START) + 9, AT(40));
}

/* A signal frame that leads to itself. */
TEST_F(user, signal_frame_without_progress)
{
	trampoline(self);
	finish(self);
	interrupt(self, TRAMPOLINE, AT(1), 0, 0, 0);
	EXPECT_EQ(EHF_STOP_NO_PROGRESS, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* Two of them that lead to each other end with the array, and nothing else. */
TEST_F(user, signal_frames_in_a_circle)
{
	trampoline(self);
	finish(self);
	interrupt(self, TRAMPOLINE, AT(60), 0, 0, 0);
	word(self, 60 + MCONTEXT(16), TRAMPOLINE);
	word(self, 60 + MCONTEXT(15), AT(1));
	EXPECT_EQ(EHF_STOP_TRACE_FULL, walk(self));
	EXPECT_EQ(MAX, self->t.nr);
}

/* ---- faults ---- */

/* Every read fails once: what is left is a prefix of the trace without the fault. */
TEST_F(user, any_read_may_fault)
{
	struct ehu_entry full[MAX];
	u32 reads, n, nr, k, shorter = 0;

	FUNCTION(FN(FREE), 0x100, 0x10, RBP, 2, 0x70 + RBP, 0, 0x0f, 3, 0x70 + RBP, 0x78, 6);
	FUNCTION(FN(FREE + 1), 0x100, 0x0c, RBP, 16, 0x86, 2);
	trampoline(self);
	finish(self);
	interrupt(self, FN(FREE) + 2, AT(40), AT(44), 0, 0);
	word(self, 43, AT(49));
	word(self, 44, AT(52));
	word(self, 48, FN(FREE + 1) + 3);
	word(self, 52, 0);
	word(self, 53, FN(LEAF) + 4);
	word(self, 54, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(6, self->t.nr);
	nr = self->t.nr;
	memcpy(full, self->entry, sizeof(full));
	self->u.cache = NULL;
	self->u.memo = NULL;
	b_memory(&self->b, B_COPY);
	ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
	reads = self->b.reads;
	for (n = 1; n <= reads; n++) {
		b_memory(&self->b, B_COPY);
		self->b.fault_at = n;
		ASSERT_EQ(0, ehu_walk(&self->u, &self->regs, &self->t));
		EXPECT_LE(self->t.nr, nr);
		for (k = 0; k < self->t.nr; k++) {
			EXPECT_EQ(full[k].ip, self->t.entry[k].ip);
			EXPECT_EQ(full[k].sp, self->t.entry[k].sp);
		}
		shorter += self->t.nr < nr;
		if (self->t.nr < nr && self->t.stop != EHF_STOP_FP_UNKNOWN)
			EXPECT_EQ(EHF_CLASS_FAULT, ehf_stop_class(self->t.stop)) {
				TH_LOG("read %u: %s", n, ehf_stop_name(self->t.stop));
			}
	}
	self->b.fault_at = 0;
	EXPECT_LT(reads / 2, shorter);
	TH_LOG("%u reads, %u of them end the trace early", reads, shorter);
}

/* ---- the frame pointer, where there is nothing else ---- */

TEST_F(user, fp_fallback_is_off_and_marked)
{
	finish(self);
	word(self, 0, NOWHERE);
	set_reg(self, RBP, AT(4));
	word(self, 4, AT(8));
	word(self, 5, NOWHERE + 5);
	word(self, 8, 0);
	word(self, 9, NOWHERE + 9);
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(2, self->t.nr);
	self->u.methods = EHU_METHOD_FP;
	EXPECT_EQ(EHF_STOP_END_MARKER, walk(self));
	EXPECT_EQ(4, self->t.nr);
	FRAME(2, NOWHERE + 5, AT(6));
	FRAME(3, NOWHERE + 9, AT(10));
	EXPECT_EQ(EHU_VIA_EH_FRAME, self->t.entry[1].via);
	EXPECT_EQ(EHU_VIA_FP, self->t.entry[2].via);
	EXPECT_EQ(EHU_VIA_FP, self->t.entry[3].via);
	/* Down the stack it does not go. */
	word(self, 4, AT(3));
	EXPECT_EQ(EHF_STOP_CFA_BELOW_SP, walk(self));
	/* Only what .eh_frame does not know is its business. */
	word(self, 0, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(2, self->t.nr);
	self->regs.known &= ~(1ULL << RBP);
	word(self, 0, NOWHERE);
	EXPECT_EQ(EHF_STOP_FP_UNKNOWN, walk(self));
}

/* ---- the PLT: by the exact pc, cached or not ---- */

TEST_F(user, plt_slot_depends_on_the_pc)
{
	FUNCTION(FN(FREE), 0x100, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
		 0x22);
	finish(self);
	for (u32 pc = 0; pc < 32; pc++) {
		word(self, 0, pc % 16 < 11 ? FN(START) + 4 : 77);
		word(self, 1, FN(START) + 4);
		self->regs.ip = FN(FREE) + pc;
		EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
		FRAME(1, FN(START) + 4, AT(pc % 16 < 11 ? 1 : 2));
	}
}

/* ---- other machines ---- */

TEST_F(user, i386_has_words_of_4_bytes)
{
	begin(self, &ehu_arch_i386);
	b_put(&self->b, 0x0c, 4, 4, 0x88, 1);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, 8);
	finish(self);
	self->regs.ip = 0xffffffff00000000ULL + FN(LEAF) + 1;
	word(self, 0, FN(LEAF) + 3);
	word(self, 1, FN(START) + 3);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(0, FN(LEAF) + 1, SP);
	FRAME(1, FN(LEAF) + 3, SP + 4);
	FRAME(2, FN(START) + 3, SP + 8);
}

/* s390x: SP = CFA - 160; a leaf has CFA - 160 == SP and its return address in r14. */
TEST_F(user, s390x_sp_is_cfa_minus_160)
{
	begin(self, &ehu_arch_s390x);
	b_put(&self->b, 0x0c, 15, 0xa0, 1);			/* CFA = r15 + 160 */
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, 14);
	FUNCTION(FN(FREE), 0x100, 0x8e, 6, 0x0e, 0xc0, 2);	/* r14 at CFA - 48; r15 + 320 */
	finish(self);
	set_reg(self, 14, FN(FREE) + 8);
	word(self, 34, FN(START) + 6);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(FREE) + 8, SP);
	FRAME(2, FN(START) + 6, SP + 160);
	/* The same leaf below has lost r14. */
	word(self, 34, FN(LEAF) + 6);
	EXPECT_EQ(EHF_STOP_RA_NOT_SAVED, walk(self));
	EXPECT_EQ(3, self->t.nr);
}

TEST_F(user, aarch64_return_addresses_are_stripped)
{
	const u64 pac = 0xabcdULL << 48;

	begin(self, &ehu_arch_aarch64);
	b_put(&self->b, 0x0c, 31, 0);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, 30);
	FUNCTION(FN(FREE), 0x100, 0x2d, 0x0e, 16, 0x9e, 1);	/* signed; x30 at CFA - 8 */
	finish(self);
	set_reg(self, 30, pac | (FN(FREE) + 8));
	word(self, 1, pac | (FN(START) + 8));
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(FREE) + 8, SP);
	FRAME(2, FN(START) + 8, SP + 16);
	/* 52 address bits: those that are kept are what the caller says. */
	self->u.ra_mask = (1ULL << 52) - 1;
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	FRAME(1, (0xdULL << 48) + FN(FREE) + 8, SP);
}

/* aarch64: no CFI for the trampoline, but two instructions that give it away. */
TEST_F(user, signal_frame_by_its_code)
{
	static const u8 code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
	const u32 at = STACK + 0xc00, base = (128 + 176) / 8;

	begin(self, &ehu_arch_aarch64);
	b_put(&self->b, 0x0c, 31, 0);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, 30);
	finish(self);
	memcpy(self->b.buf + at, code, sizeof(code));
	set_reg(self, 30, B_BASE + at);
	word(self, base + 1 + 32, FN(LEAF) + 4);	/* pc */
	word(self, base + 1 + 31, AT(200));		/* sp */
	word(self, base + 1 + 30, FN(START) + 4);	/* x30, known for one step */
	word(self, base + 1 + 29, 0x7770);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(4, self->t.nr);
	FRAME(2, FN(LEAF) + 4, AT(200));
	EXPECT_EQ(EHU_VIA_SIGNAL_CODE, self->t.entry[2].via);
	EXPECT_EQ(0x7770, self->t.entry[2].fp);
	FRAME(3, FN(START) + 4, AT(200));
	self->b.buf[at] ^= 1;
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* s390x: the trampoline has CFI that does not say 'S': by that it leads to itself. */
TEST_F(user, signal_frame_that_leads_to_itself)
{
	static const u8 code[] = { 0x0a, 0xad };
	const u32 at = STACK + 0xc00, base = (296 + 40) / 8;
	const u64 stub = B_BASE + at;

	begin(self, &ehu_arch_s390x);
	b_put(&self->b, 0x0c, 15, 0xa0, 1);
	b_close(&self->b);
	FUNCTION(stub, 0x10, 0);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, 14);
	finish(self);
	ASSERT_EQ(0, ehu_map_add(&self->map, stub, stub + 0x10, &self->b.s));
	memcpy(self->b.buf + at, code, sizeof(code));
	self->regs.ip = stub;
	set_reg(self, 14, stub);
	word(self, base + 1, FN(LEAF) + 4);		/* psw.addr */
	word(self, base + 2 + 15, AT(200));
	word(self, base + 2 + 14, FN(START) + 4);	/* known for one step */
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	FRAME(1, FN(LEAF) + 4, AT(200));
	EXPECT_EQ(EHU_VIA_SIGNAL_CODE, self->t.entry[1].via);
	FRAME(2, FN(START) + 4, AT(200));
	self->b.buf[at] ^= 1;
	EXPECT_EQ(EHF_STOP_NO_PROGRESS, walk(self));
	EXPECT_EQ(1, self->t.nr);
}

/* s390x: a prologue that has saved r15 says where it is: nothing else than CFA - 160, or else. */
TEST_F(user, s390x_sp_is_saved)
{
	begin(self, &ehu_arch_s390x);
	b_put(&self->b, 0x0c, 15, 0xa0, 1);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, 14);
	/* r11, r14, r15 at CFA - 72, - 48, - 40; the CFA is r15 + 320 */
	FUNCTION(FN(FREE), 0x100, 0x8b, 9, 0x8e, 6, 0x8f, 5, 0x0e, 0xc0, 2);
	finish(self);
	set_reg(self, 11, 0x4440);
	self->regs.ip = FN(FREE) + 4;
	word(self, 31, 0x7770);
	word(self, 34, FN(FREE) + 6);
	word(self, 35, AT(20));
	word(self, 51, 0x7778);
	word(self, 54, FN(START) + 6);
	word(self, 55, AT(50));
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(3, self->t.nr);
	FRAME(1, FN(FREE) + 6, AT(20));
	EXPECT_EQ(0x7770, self->t.entry[1].fp);
	FRAME(2, FN(START) + 6, AT(50));
	/* Not aligned; not above; nothing there. */
	word(self, 55, AT(50) + 4);
	EXPECT_EQ(EHF_STOP_MISALIGNED, walk(self));
	word(self, 55, AT(20));
	EXPECT_EQ(EHF_STOP_NO_PROGRESS, walk(self));
	word(self, 55, AT(19));
	EXPECT_EQ(EHF_STOP_STACK_SWITCH, walk(self));
	EXPECT_EQ(2, self->t.nr);
	word(self, 55, AT(50));
	self->regs.reg[15] = B_BASE + B_SIZE - 280;
	EXPECT_EQ(EHF_STOP_MEMORY, walk(self));
	EXPECT_EQ(1, self->t.nr);
}

/* x32: slots of 8 bytes, addresses of 4; also in what a CFA is loaded from. */
TEST_F(user, x32_loads_addresses_of_4_bytes)
{
	begin(self, &ehu_arch_x32);
	b_put(&self->b, 0x0c, RSP, 8, 0x80 | RIP, 1);
	b_close(&self->b);
	FUNCTION(FN(LEAF), 0x100, 0);
	FUNCTION(FN(START), 0x100, 0x07, RIP);
	/* CFA = *(rbp - 8), rbp = *rbp */
	FUNCTION(FN(FREE), 0x100, 0x10, RBP, 2, 0x70 + RBP, 0, 0x0f, 3, 0x70 + RBP, 0x78, 6);
	FUNCTION(FN(FREE + 1), 0x100, 0x0c, RBP, 16, 0x86, 2);
	finish(self);
	set_reg(self, RBP, AT(4));
	word(self, 0, FN(FREE) + 2);
	word(self, 3, 0x1234500000000000ULL + AT(9));
	/* A slot may hold more than the address. */
	word(self, 4, 0x5555500000000000ULL + AT(12));
	word(self, 8, 0x6666600000000000ULL + FN(FREE + 1) + 3);
	word(self, 12, 0x7770);
	word(self, 13, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(4, self->t.nr);
	FRAME(2, FN(FREE + 1) + 3, AT(9));
	EXPECT_EQ(0x5555500000000000ULL + AT(12), self->t.entry[2].fp);
	FRAME(3, FN(START) + 4, AT(14));
	/* rbp leads out of the memory: the CFA cannot be loaded. */
	set_reg(self, RBP, 0x10);
	EXPECT_EQ(EHF_STOP_MEMORY, walk(self));
	EXPECT_EQ(2, self->t.nr);
}

/* Where each load of a step that has three of them may fail, and what that counts as. */
TEST_F(user, words_that_cannot_be_read)
{
	FUNCTION(FN(FREE), 0x100, 0x10, RBP, 2, 0x70 + RBP, 0, 0x0f, 3, 0x70 + RBP, 0x78, 6);
	FUNCTION(FN(FREE + 1), 0x100, 0x0c, RBP, 16, 0x86, 2);
	FUNCTION(FN(FREE + 2), 0x100, 0x0e, 16, 0x86, 4);
	FUNCTION(FN(FREE + 3), 0x100, 0x0e, 16, 0x07, RBP);
	finish(self);
	self->regs.ip = FN(FREE) + 2;
	set_reg(self, RBP, 0x10);			/* the CFA */
	EXPECT_EQ(EHF_STOP_MEMORY, walk(self));
	set_reg(self, RBP, AT(4));
	word(self, 3, B_BASE + B_SIZE + 64);		/* the RA */
	EXPECT_EQ(EHF_STOP_MEMORY, walk(self));
	EXPECT_EQ(1, self->t.nr);
	/* The RA where CFA and FP cannot be: the end of the memory. */
	self->regs.ip = FN(FREE + 1) + 2;
	set_reg(self, RBP, B_BASE + B_SIZE - 8);
	EXPECT_EQ(EHF_STOP_MEMORY, walk(self));
	EXPECT_EQ(1, self->t.nr);
	/* FP from below the memory: lost, and the walk goes on without it. */
	self->regs.ip = FN(FREE + 2) + 2;
	self->regs.reg[RSP] = SP;
	word(self, 1, FN(FREE + 3) + 2);
	word(self, 3, FN(FREE) + 2);
	EXPECT_EQ(EHF_STOP_FP_UNKNOWN, walk(self));
	EXPECT_EQ(3, self->t.nr);
	/* A DRAP frame whose FP points nowhere has a CFA 8 bytes below that. */
	self->regs.ip = FN(FREE) + 2;
	set_reg(self, RBP, B_BASE + B_SIZE);
	b_poke(&self->b, B_SIZE - 8, AT(6), 8);
	word(self, 5, FN(START) + 4);
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, walk(self));
	EXPECT_EQ(2, self->t.nr);
	EXPECT_EQ(0, self->t.entry[1].flags);
}

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
