// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The comparison of traces: each outcome, the cuts, what explains a difference in length, and
 * what a fault may do to a trace.
 */
#include "harness/compare.h"
#include "selftests/kselftest_harness.h"

#define MAX 8

/* Frame k of the stack that both sides walk: pcs 0x1000, 0x1100.., SPs 0x7000, 0x7010.. */
#define PC(k)	(0x1000 + 0x100 * (u64)(k))
#define SP(k)	(0x7000 + 0x10 * (u64)(k))
#define FP(k)	(0x7800 + 0x10 * (u64)(k))

FIXTURE(two)
{
	struct ehu_entry entry[MAX];
	struct compare_frame frame[MAX];
	struct ehu_trace ours;
	struct compare_oracle oracle;
	struct compare_result r;
};

/* Both sides agree on five frames of a complete stack. */
FIXTURE_SETUP(two)
{
	for (u32 k = 0; k < MAX; k++) {
		self->entry[k] = (struct ehu_entry){ PC(k), SP(k), FP(k),
			k ? EHU_VIA_EH_FRAME : EHU_VIA_REGS, EHU_ENTRY_FP_KNOWN };
		self->frame[k] = (struct compare_frame){ PC(k), SP(k), FP(k),
			k ? COMPARE_VIA_EH_FRAME : COMPARE_VIA_REGS, true, true, !k };
	}
	self->ours = (struct ehu_trace){ self->entry, MAX, 5, EHF_STOP_RA_UNDEFINED, { 0 } };
	self->oracle = (struct compare_oracle){ self->frame, 5, false, COMPARE_FAULT_NONE, 0, 0 };
}

static void run(FIXTURE_DATA(two) *self)
{
	compare_traces(&self->ours, &self->oracle, &self->r);
}

TEST_F(two, equal)
{
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	EXPECT_EQ(5, self->r.nr_oracle);
	EXPECT_EQ(0, self->r.cut);
	EXPECT_FALSE(compare_failed(&self->r));
}

TEST_F(two, equal_but_partial)
{
	self->ours.stop = EHF_STOP_MEMORY;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
}

TEST_F(two, each_field_of_each_frame_differs)
{
	for (u32 k = 0; k < 5; k++) {
		static const enum compare_field field[] = { COMPARE_PC, COMPARE_SP, COMPARE_FP };

		for (u32 f = 0; f < 3; f++) {
			struct ehu_entry *e = &self->entry[k];
			u64 *v[] = { &e->ip, &e->sp, &e->fp };

			*v[f] += 8;
			run(self);
			EXPECT_EQ(COMPARE_DIFFERENT, self->r.outcome);
			EXPECT_EQ(k, self->r.at);
			EXPECT_EQ(field[f], self->r.field);
			EXPECT_TRUE(compare_failed(&self->r));
			*v[f] -= 8;
		}
	}
}

/* x32: of a saved register the oracle reads half. */
TEST_F(two, fp_counts_as_far_as_it_is_read)
{
	self->entry[2].fp |= 0xffffffffULL << 32;
	run(self);
	EXPECT_EQ(COMPARE_DIFFERENT, self->r.outcome);
	self->oracle.fp_lost = 0xffffffffULL << 32;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	self->entry[2].fp ^= 0x80000000;
	run(self);
	EXPECT_EQ(COMPARE_DIFFERENT, self->r.outcome);
	EXPECT_EQ(COMPARE_FP, self->r.field);
}

TEST_F(two, fp_counts_where_both_know_it)
{
	self->entry[2].fp = 1;
	self->frame[2].fp_known = false;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	self->frame[2].fp_known = true;
	self->entry[2].flags = 0;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	self->entry[2].flags = EHU_ENTRY_FP_KNOWN;
	run(self);
	EXPECT_EQ(COMPARE_DIFFERENT, self->r.outcome);
}

TEST_F(two, a_difference_wins_over_the_length)
{
	self->entry[1].ip++;
	self->ours.nr = 2;
	run(self);
	EXPECT_EQ(COMPARE_DIFFERENT, self->r.outcome);
	EXPECT_EQ(1, self->r.at);
}

TEST_F(two, neither)
{
	self->ours.nr = self->oracle.nr = 1;
	self->ours.stop = EHF_STOP_NO_FDE;
	run(self);
	EXPECT_EQ(COMPARE_NEITHER, self->r.outcome);
	EXPECT_FALSE(compare_failed(&self->r));
	/* One frame that is a whole stack is no failure to unwind. */
	self->ours.stop = EHF_STOP_RA_UNDEFINED;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
}

TEST_F(two, shorter_is_explained_by_the_class_of_the_stop)
{
	for (u32 stop = EHF_STOP_NONE + 1; stop < EHF_NR_STOPS; stop++) {
		enum ehf_stop_class cls = ehf_stop_class((enum ehf_stop)stop);
		bool want = cls == EHF_CLASS_UNSUPPORTED || cls == EHF_CLASS_OVER_LIMIT ||
			    cls == EHF_CLASS_POLICY || cls == EHF_CLASS_UNKNOWN_REG ||
			    cls == EHF_CLASS_MALFORMED;

		if (stop == EHF_STOP_TRACE_FULL)
			continue;
		self->ours.nr = 3;
		self->ours.stop = (enum ehf_stop)stop;
		run(self);
		EXPECT_EQ(COMPARE_OURS_SHORTER, self->r.outcome);
		EXPECT_EQ(3, self->r.at);
		EXPECT_EQ(want, self->r.explained) {
			TH_LOG("%s", ehf_stop_name((enum ehf_stop)stop));
		}
		EXPECT_EQ(!want, compare_failed(&self->r));
	}
}

TEST_F(two, longer_is_explained_by_a_fault_of_the_oracle_only)
{
	self->oracle.nr = 4;
	run(self);
	EXPECT_EQ(COMPARE_OURS_LONGER, self->r.outcome);
	EXPECT_EQ(4, self->r.at);
	EXPECT_FALSE(self->r.explained);
	EXPECT_TRUE(compare_failed(&self->r));
	self->oracle.fault = COMPARE_FAULT_MODULE_REFUSED;
	run(self);
	EXPECT_EQ(COMPARE_OURS_LONGER, self->r.outcome);
	EXPECT_TRUE(self->r.explained);
}

TEST_F(two, cut_before_the_first_guess)
{
	self->oracle.nr = 7;
	self->frame[5].via = COMPARE_VIA_GUESS;
	self->ours.stop = EHF_STOP_NO_FDE;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	EXPECT_EQ(5, self->r.nr_oracle);
	EXPECT_EQ(2, self->r.cut);
	EXPECT_EQ(COMPARE_VIA_GUESS, self->r.cut_via);
	/* What lies behind the cut is no evidence, even where .eh_frame covers it again. */
	self->frame[6].pc = 0;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	/* Ours going on where the oracle guessed is a finding. */
	self->ours.nr = 7;
	run(self);
	EXPECT_EQ(COMPARE_OURS_LONGER, self->r.outcome);
	EXPECT_FALSE(self->r.explained);
}

TEST_F(two, cut_before_debug_frame)
{
	self->oracle.nr = 3;
	self->frame[1].via = COMPARE_VIA_DEBUG_FRAME;
	self->ours.nr = 1;
	self->ours.stop = EHF_STOP_NO_FDE;
	run(self);
	EXPECT_EQ(COMPARE_NEITHER, self->r.outcome);
	EXPECT_EQ(1, self->r.nr_oracle);
	EXPECT_EQ(2, self->r.cut);
	EXPECT_EQ(COMPARE_VIA_DEBUG_FRAME, self->r.cut_via);
}

TEST_F(two, cut_at_our_depth)
{
	self->ours.stop = EHF_STOP_TRACE_FULL;
	self->oracle.nr = 8;
	run(self);
	EXPECT_EQ(COMPARE_EQUAL, self->r.outcome);
	EXPECT_EQ(5, self->r.nr_oracle);
	/* But a full array does not excuse what differs below it. */
	self->frame[4].sp += 8;
	run(self);
	EXPECT_EQ(COMPARE_DIFFERENT, self->r.outcome);
}

TEST_F(two, nothing_to_compare_is_untestable)
{
	self->oracle.nr = 0;
	run(self);
	EXPECT_EQ(COMPARE_UNTESTABLE, self->r.outcome);
	self->oracle.nr = 5;
	self->ours.nr = 0;
	run(self);
	EXPECT_EQ(COMPARE_UNTESTABLE, self->r.outcome);
	EXPECT_FALSE(compare_failed(&self->r));
}

static bool faulted(FIXTURE_DATA(two) *self, u32 nr, enum ehf_stop stop, u32 *at)
{
	struct ehu_trace t = { self->entry, MAX, nr, stop, { 0 } };

	return compare_faulted(&self->ours, &t, at);
}

TEST_F(two, a_faulted_trace_is_a_prefix_that_ends_by_the_fault)
{
	u32 at;

	EXPECT_TRUE(faulted(self, 5, EHF_STOP_RA_UNDEFINED, &at));	/* value not needed */
	EXPECT_TRUE(faulted(self, 3, EHF_STOP_MEMORY, &at));
	EXPECT_TRUE(faulted(self, 1, EHF_STOP_SECTION_MEMORY, &at));
	EXPECT_TRUE(faulted(self, 2, EHF_STOP_FP_UNKNOWN, &at));
	EXPECT_TRUE(faulted(self, 5, EHF_STOP_MEMORY, &at));
	EXPECT_FALSE(faulted(self, 3, EHF_STOP_RA_UNDEFINED, &at));	/* never "complete" */
	EXPECT_FALSE(faulted(self, 3, EHF_STOP_NO_FDE, &at));
	EXPECT_FALSE(faulted(self, 3, EHF_STOP_BAD_CIE, &at));
	EXPECT_FALSE(faulted(self, 6, EHF_STOP_MEMORY, &at));		/* longer */
	EXPECT_EQ(5, at);
}

TEST_F(two, a_fault_may_lose_a_frame_pointer_but_not_change_it)
{
	struct ehu_entry other[MAX];
	struct ehu_trace t = { other, MAX, 3, EHF_STOP_MEMORY, { 0 } };
	u32 at;

	memcpy(other, self->entry, sizeof(other));
	other[1].flags = 0;
	other[1].fp = 0;
	EXPECT_TRUE(compare_faulted(&self->ours, &t, &at));
	other[1] = self->entry[1];
	other[1].fp++;
	EXPECT_FALSE(compare_faulted(&self->ours, &t, &at));
	EXPECT_EQ(1, at);
	other[1] = self->entry[1];
	other[1].sp++;
	EXPECT_FALSE(compare_faulted(&self->ours, &t, &at));
	other[1] = self->entry[1];
	self->entry[1].flags = 0;	/* it was unknown: a fault cannot make it known */
	EXPECT_FALSE(compare_faulted(&self->ours, &t, &at));
}

TEST_F(two, a_signed_return_address_explains_its_own_frame_only)
{
	self->oracle.nr = 3;
	self->oracle.fault = COMPARE_FAULT_SIGNED_RA;
	self->oracle.next_pc = PC(3);
	run(self);
	EXPECT_EQ(COMPARE_OURS_LONGER, self->r.outcome);
	EXPECT_FALSE(compare_failed(&self->r));
	self->oracle.next_pc = PC(4);
	run(self);
	EXPECT_TRUE(compare_failed(&self->r));
}

TEST_F(two, chain)
{
	u64 pcs[MAX];
	struct compare_chain chain;

	for (u32 k = 0; k < MAX; k++)
		pcs[k] = PC(k);
	compare_chain(&self->ours, pcs, 5, &chain);
	EXPECT_TRUE(chain.equal && !chain.failed);
	/* Who made the chain could go to the end: ours may not end earlier, nor later. */
	compare_chain(&self->ours, pcs, 6, &chain);
	EXPECT_TRUE(chain.failed && !chain.equal);
	EXPECT_EQ(5, chain.at);
	compare_chain(&self->ours, pcs, 4, &chain);
	EXPECT_TRUE(chain.failed && !chain.equal);
	/* But it may end where what was copied of the stack does. */
	self->ours.stop = EHF_STOP_MEMORY;
	compare_chain(&self->ours, pcs, 6, &chain);
	EXPECT_FALSE(chain.failed || chain.equal);
	self->ours.stop = EHF_STOP_NO_FDE;
	compare_chain(&self->ours, pcs, 6, &chain);
	EXPECT_TRUE(chain.failed);
	pcs[2]++;
	self->ours.stop = EHF_STOP_MEMORY;
	compare_chain(&self->ours, pcs, 5, &chain);
	EXPECT_TRUE(chain.failed);
	EXPECT_EQ(2, chain.at);
}

TEST_HARNESS_MAIN
