// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * AArch64's frame records beside traces: lists that confirm one, that contradict it, and that are
 * none.
 */
#include "harness/frame_records.h"
#include "selftests/kselftest_harness.h"

#define BASE	0x7000
#define WORDS	64
#define MAX	8

/* Frame k: pc 0x1000, 0x1100.., SP 0x7000, 0x7020..; a record at its SP. */
#define PC(k)	(0x1000 + 0x100 * (u64)(k))
#define SP(k)	(BASE + 0x20 * (u64)(k))
#define SIGNED	0x2f000000000000ULL

FIXTURE(records)
{
	struct ehf_mem mem;	/* first */
	u64 word[WORDS];
	struct ehu_regs regs;
	struct ehu_entry entry[MAX];
	struct ehu_trace ours;
	struct frame_records_input in;
	struct frame_records r;
};

static bool read_words(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	const FIXTURE_DATA(records) *self = (const void *)mem;

	if (addr < BASE || addr + len > BASE + sizeof(self->word))
		return false;
	memcpy(dst, (const u8 *)self->word + (addr - BASE), len);
	return true;
}

static bool is_code(void *arg, u64 addr)
{
	(void)arg;
	return addr >= 0x1000 && addr < 0x2000;
}

static void put(FIXTURE_DATA(records) *self, u64 at, u64 next, u64 lr)
{
	self->word[(at - BASE) / 8] = next;
	self->word[(at - BASE) / 8 + 1] = lr;
}

/* Six frames, each but the last with a record; libdw has two of them. */
FIXTURE_SETUP(records)
{
	self->mem.read = read_words;
	for (u32 k = 0; k < MAX; k++)
		self->entry[k] = (struct ehu_entry){ PC(k), SP(k), k < 5 ? SP(k) : 0,
			k ? EHU_VIA_EH_FRAME : EHU_VIA_REGS, EHU_ENTRY_FP_KNOWN };
	for (u32 k = 0; k < 5; k++)
		put(self, SP(k), k < 4 ? SP(k + 1) : 0, PC(k + 1) | (k ? SIGNED : 0));
	self->ours = (struct ehu_trace){ self->entry, MAX, 6, EHF_STOP_RA_UNDEFINED, { 0 } };
	self->regs.known = 1ULL << 29;
	self->regs.reg[29] = SP(0);
	self->in = (struct frame_records_input){ .arch = &ehu_arch_aarch64, .regs = &self->regs,
		.mem = &self->mem, .is_code = is_code };
}

static void run(FIXTURE_DATA(records) *self)
{
	frame_records_compare(&self->in, &self->ours, 2, &self->r);
}

TEST_F(records, to_the_end)
{
	run(self);
	EXPECT_TRUE(self->r.whole);
	EXPECT_FALSE(self->r.differs);
	EXPECT_EQ(5, self->r.records);
	EXPECT_EQ(4, self->r.beyond);
	EXPECT_EQ(4, self->r.named);
}

TEST_F(records, a_leaf_has_none)
{
	self->regs.reg[29] = SP(1);
	self->entry[0].fp = SP(1);
	run(self);
	EXPECT_TRUE(self->r.whole);
	EXPECT_EQ(4, self->r.named);
	/* Two of them in a row: one frame is passed over. */
	self->regs.reg[29] = SP(2);
	run(self);
	EXPECT_TRUE(self->r.whole);
	EXPECT_EQ(3, self->r.named);
}

TEST_F(records, each_pc_behind_libdw_is_compared)
{
	for (u32 k = 1; k < 6; k++) {
		self->entry[k].ip += 4;
		run(self);
		EXPECT_EQ(k >= 2, self->r.differs);
		EXPECT_FALSE(self->r.whole);
		EXPECT_EQ(k, self->r.at);
		EXPECT_EQ(PC(k), self->r.pc);
		self->entry[k].ip -= 4;
	}
}

TEST_F(records, each_frame_pointer_is_compared)
{
	for (u32 k = 2; k < 6; k++) {
		self->entry[k].fp += 8;
		run(self);
		EXPECT_TRUE(self->r.differs);
		EXPECT_EQ(k, self->r.at);
		self->entry[k].flags = 0;
		run(self);
		EXPECT_TRUE(self->r.whole);
		self->entry[k].fp -= 8;
		self->entry[k].flags = EHU_ENTRY_FP_KNOWN;
	}
}

TEST_F(records, a_frame_that_is_none)
{
	/* One too many, and one too few. */
	for (u32 k = 5; k > 3; k--)
		self->entry[k] = self->entry[k - 1];
	run(self);
	EXPECT_TRUE(self->r.differs);
	EXPECT_FALSE(self->r.whole);
	for (u32 k = 2; k < 5; k++)
		self->entry[k] = (struct ehu_entry){ PC(k + 1), SP(k + 1), k < 4 ? SP(k + 1) : 0,
			EHU_VIA_EH_FRAME, EHU_ENTRY_FP_KNOWN };
	self->ours.nr = 5;
	run(self);
	EXPECT_FALSE(self->r.named == self->r.beyond);
}

TEST_F(records, a_trace_that_ends_too_early)
{
	self->ours.nr = 4;
	run(self);
	EXPECT_TRUE(self->r.differs);
	EXPECT_EQ(4, self->r.at);
	/* Where it says why, that is no contradiction. */
	self->ours.stop = EHF_STOP_MEMORY;
	run(self);
	EXPECT_FALSE(self->r.differs);
	EXPECT_FALSE(self->r.whole);
	EXPECT_EQ(2, self->r.named);
}

TEST_F(records, a_trace_that_lost_its_way)
{
	self->entry[3].ip += 4;
	self->ours.nr = 4;
	self->ours.stop = EHF_STOP_PC_NOT_IN_MODULE;
	run(self);
	EXPECT_FALSE(self->r.differs);
	EXPECT_TRUE(self->r.astray);
	EXPECT_EQ(3, self->r.at);
	/* What libdw has too is not theirs to judge. */
	self->entry[3].ip -= 4;
	self->entry[1].ip += 4;
	run(self);
	EXPECT_FALSE(self->r.differs || self->r.astray);
}

TEST_F(records, a_trace_that_goes_on)
{
	put(self, SP(3), 0, PC(4) | SIGNED);
	self->entry[4].fp = 0;
	run(self);
	EXPECT_FALSE(self->r.whole);
	EXPECT_EQ(3, self->r.named);
}

TEST_F(records, no_list)
{
	const u64 heads[] = { 0, 1, 4, SP(0) + 1, 0x10, ~7ULL, ~0ULL,
			      BASE + sizeof(self->word) - 8 };

	for (size_t k = 0; k < EHF_ARRAY_SIZE(heads); k++) {
		self->regs.reg[29] = heads[k];
		run(self);
		EXPECT_FALSE(self->r.whole || self->r.differs);
		EXPECT_EQ(0, self->r.named);
	}
	/* Something else lies there. */
	self->regs.reg[29] = SP(1);
	put(self, SP(1), 3, 0x123456);
	run(self);
	EXPECT_FALSE(self->r.whole || self->r.differs);
	self->regs.known = 0;
	run(self);
	EXPECT_EQ(0, self->r.records);
}

TEST_F(records, a_ring_ends)
{
	put(self, SP(2), SP(2), PC(3));
	self->entry[3].fp = SP(2);
	run(self);
	EXPECT_FALSE(self->r.whole);
	EXPECT_TRUE(self->r.records <= 2 * self->ours.nr + 1);
}

/* Frame 2 is a trampoline: the kernel's record has x29, x30 of frame 3, whose pc no record has. */
TEST_F(records, through_a_signal)
{
	self->entry[3].flags |= EHU_ENTRY_EXACT;
	self->entry[2].fp = SP(2) + 0x10;
	put(self, SP(1), SP(2) + 0x10, PC(2));
	put(self, SP(2) + 0x10, SP(3), 0x1234);
	run(self);
	EXPECT_TRUE(self->r.whole);
	EXPECT_EQ(4, self->r.beyond);
	EXPECT_EQ(3, self->r.named);
	self->entry[3].fp += 8;
	run(self);
	EXPECT_TRUE(self->r.differs);
	EXPECT_EQ(3, self->r.at);
}

/* The same with the handler on another stack, above the interrupted one. */
TEST_F(records, from_another_stack)
{
	const u64 alt = BASE + 0x180;

	self->entry[3].flags |= EHU_ENTRY_EXACT;
	for (u32 k = 0; k < 3; k++)
		self->entry[k].sp = alt + 0x20 * k;
	self->regs.reg[29] = alt;
	self->entry[1].fp = alt + 0x20;
	self->entry[2].fp = alt + 0x50;
	put(self, alt, alt + 0x20, PC(1));
	put(self, alt + 0x20, alt + 0x50, PC(2));
	put(self, alt + 0x50, SP(3), 0x1234);
	run(self);
	EXPECT_TRUE(self->r.whole);
	EXPECT_EQ(3, self->r.named);
}

TEST_F(records, the_mask_of_a_core)
{
	put(self, SP(2), SP(3), PC(3) | 1ULL << 47);
	run(self);
	EXPECT_FALSE(self->r.whole);
	self->in.ra_mask = (1ULL << 47) - 1;
	run(self);
	EXPECT_TRUE(self->r.whole);
}

TEST(which_machines)
{
	EXPECT_TRUE(frame_records_apply(&ehu_arch_aarch64));
	EXPECT_FALSE(frame_records_apply(&ehu_arch_s390x));
	EXPECT_FALSE(frame_records_apply(&ehu_arch_x86_64));
}

TEST_HARNESS_MAIN
