// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/user.c: what machines other than x86-64 have of their own, walked in every way.
 */
#include "selftests/lib/user.h"

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

TEST_HARNESS_MAIN
