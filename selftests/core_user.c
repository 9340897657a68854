// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/user.c and unwind/walk.c: frames of every kind and each reason to stop, on x86-64.
 */
#include "selftests/lib/user.h"

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

TEST_HARNESS_MAIN
