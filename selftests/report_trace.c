// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The figures of a run: do they add up whatever comes, and does the verdict say the worst of it?
 */
#include "harness/report_trace.h"
#include "selftests/kselftest_harness.h"

FIXTURE(run)
{
	struct report_trace f;
	struct ehu_entry entry[4];
	struct compare_frame frame[4];
	struct ehu_trace ours;
	struct compare_oracle oracle;
	struct replay_cost cost;
	char verdict[256];
};

FIXTURE_SETUP(run)
{
	self->ours = (struct ehu_trace){ self->entry, 4, 3, EHF_STOP_RA_UNDEFINED, { 0 } };
	self->oracle = (struct compare_oracle){ .frame = self->frame, .nr = 3 };
	self->cost = (struct replay_cost){ .reads = 7, .bytes = 56, .pages = 2 };
	self->entry[1].via = self->entry[2].via = EHU_VIA_EH_FRAME;
}

static void add(FIXTURE_DATA(run) *self, enum compare_outcome outcome, bool explained, u32 cut)
{
	const struct compare_result result = {
		.outcome = outcome, .explained = explained, .nr_oracle = 3, .cut = cut,
		.cut_via = COMPARE_VIA_GUESS,
	};

	report_trace_add(&self->f, &self->ours, &self->oracle, &result, &self->cost);
}

static const char *verdict(FIXTURE_DATA(run) *self)
{
	report_trace_verdict(&self->f, self->verdict, sizeof(self->verdict));
	return self->verdict;
}

TEST_F(run, agrees)
{
	add(self, COMPARE_EQUAL, false, 0);
	add(self, COMPARE_NEITHER, false, 5);
	EXPECT_STREQ("2 samples, all frames agree", verdict(self));
	EXPECT_FALSE(report_trace_failed(&self->f));
	EXPECT_EQ(5, self->f.guessed);
}

TEST_F(run, another_length_with_a_reason_is_said)
{
	add(self, COMPARE_EQUAL, false, 0);
	add(self, COMPARE_OURS_SHORTER, true, 0);
	EXPECT_STREQ(
		"2 samples, all common frames agree, 1 of ours end earlier for a stated reason",
		verdict(self));
	EXPECT_FALSE(report_trace_failed(&self->f));
	self->oracle.fault = COMPARE_FAULT_MODULE_REFUSED;
	add(self, COMPARE_OURS_LONGER, true, 0);
	EXPECT_NE(NULL, strstr(verdict(self), "1 go on where libdw fails"));
	EXPECT_EQ(1, self->f.fault[COMPARE_FAULT_MODULE_REFUSED]);
	EXPECT_FALSE(report_trace_failed(&self->f));
}

TEST_F(run, what_must_not_be_fails)
{
	add(self, COMPARE_DIFFERENT, false, 0);
	EXPECT_TRUE(report_trace_failed(&self->f));
	EXPECT_STREQ("1 samples, 1 differ, 0 end elsewhere without a reason", verdict(self));
	self->f = (struct report_trace){ 0 };
	add(self, COMPARE_OURS_SHORTER, false, 0);
	add(self, COMPARE_OURS_LONGER, false, 0);
	EXPECT_TRUE(report_trace_failed(&self->f));
	EXPECT_STREQ("2 samples, 0 differ, 2 end elsewhere without a reason", verdict(self));
	self->f = (struct report_trace){ 0 };
	add(self, COMPARE_EQUAL, false, 0);
	self->f.fault_bad = 1;
	EXPECT_TRUE(report_trace_failed(&self->f));
	EXPECT_NE(NULL, strstr(verdict(self), "faulted traces are no prefix"));
	self->f.fault_bad = 0;
	self->f.cache_bad = 1;
	EXPECT_TRUE(report_trace_failed(&self->f));
	EXPECT_NE(NULL, strstr(verdict(self), "traces differ with caches"));
}

TEST_F(run, nothing_testable_is_no_agreement)
{
	EXPECT_STREQ("nothing compared: 0 samples, none testable", verdict(self));
	report_trace_untestable(&self->f, REPLAY_COMPAT);
	report_trace_no_oracle(&self->f, "some reason");
	EXPECT_STREQ("nothing compared: 2 samples, none testable", verdict(self));
	EXPECT_STREQ("some reason", self->f.no_oracle_why);
	add(self, COMPARE_EQUAL, false, 0);
	EXPECT_STREQ("3 samples, all frames agree (2 untestable)", verdict(self));
}

TEST_F(run, sums_add_up)
{
	u64 outcomes = 0, stops = 0, depths = 0, via = 0;
	u32 k;

	for (k = 0; k < 300; k++) {
		self->ours.stop = (enum ehf_stop)(1 + k % (EHF_NR_STOPS - 1));
		self->ours.nr = 1 + k % 4;
		if (k % 11 == 0)
			report_trace_untestable(&self->f, 1 + k % (REPLAY_NR_UNTESTABLES - 1));
		else
			add(self, COMPARE_EQUAL + k % (COMPARE_NR_OUTCOMES - COMPARE_EQUAL), k & 1,
			    0);
	}
	for (k = 0; k < COMPARE_NR_OUTCOMES; k++)
		outcomes += self->f.outcome[k];
	for (k = 0; k < EHF_NR_STOPS; k++)
		stops += self->f.stop[k];
	for (k = 0; k < REPORT_TRACE_DEPTHS; k++)
		depths += self->f.depth[k];
	for (k = 0; k < EHU_NR_VIA; k++)
		via += self->f.via[k];
	EXPECT_EQ(300, self->f.samples);
	EXPECT_EQ(300, outcomes);
	EXPECT_EQ(report_trace_testable(&self->f), stops);
	EXPECT_EQ(stops, self->f.complete + self->f.partial);
	EXPECT_EQ(stops, depths);
	EXPECT_EQ(self->f.frames, via);
	EXPECT_EQ(self->f.explained + self->f.unexplained,
		  self->f.outcome[COMPARE_OURS_SHORTER] + self->f.outcome[COMPARE_OURS_LONGER]);
	EXPECT_EQ(7 * stops, self->f.cost.reads);
}

TEST_F(run, a_short_buffer_is_not_left)
{
	char text[10];

	add(self, COMPARE_EQUAL, false, 0);
	report_trace_verdict(&self->f, text, sizeof(text));
	EXPECT_STREQ("1 samples", text);
}

TEST_HARNESS_MAIN
