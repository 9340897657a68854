// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Does the test harness report what happens in a test? This program runs itself with
 * SELF_INNER set, where it is a test program with tests of every fate, and reads the output.
 * The verdicts here are plain code: the harness is not asked about itself.
 */
#include "selftests/kselftest_harness.h"

/* ---- the inner program ---- */

TEST(passes)
{
	unsigned int u = 7;
	unsigned char byte = 200;
	const char *s = "abc";
	struct { unsigned int bits : 3; } b = { 5 };
	int calls = 0;

	EXPECT_EQ(7, u);
	EXPECT_NE(-1, u);
	EXPECT_LT(-1, u) {
		TH_LOG("a handler of a check that holds must not run");
	}
	EXPECT_EQ(200, byte);
	EXPECT_EQ(5, b.bits);
	EXPECT_LE(-2, -1);
	EXPECT_GT(UINT64_MAX, INT64_MAX);
	EXPECT_GE(INT64_MIN, INT64_MIN);
	EXPECT_EQ(0, calls++);
	EXPECT_EQ(1, calls);
	EXPECT_TRUE(calls);
	EXPECT_FALSE(calls == 2);
	EXPECT_NULL(NULL);
	EXPECT_NE(NULL, s);
	EXPECT_STREQ("abc", s);
	EXPECT_STRNE("abd", s);
	if (calls)
		ASSERT_EQ(1, calls);
	else
		ASSERT_EQ(2, calls);
}

TEST(expect_goes_on)
{
	EXPECT_EQ(1, 2) {
		TH_LOG("handler ran");
	}
	TH_LOG("went on");
}

TEST(assert_stops)
{
	ASSERT_EQ(1, 2) {
		TH_LOG("handler ran");
	}
	TH_LOG("went on");
}

/* As C compares them these two would be equal. */
TEST(minus_one_is_no_unsigned)
{
	EXPECT_EQ(-1, UINT64_MAX);
}

TEST(crashes)
{
	signal(SIGSEGV, SIG_DFL); /* not the sanitizer's */
	raise(SIGSEGV);
}

TEST_TIMEOUT(hangs, 1)
{
	if (!fork())
		pause();
	for (;;)
		pause();
}

TEST(exits)
{
	exit(0);
}

TEST(skips)
{
	SKIP(return, "no such thing: %d", 42);
}

TEST(skip_hides_no_failure)
{
	EXPECT_TRUE(false);
	SKIP(return, "too late");
}

TEST(prints_to_stdout)
{
	printf("not ok 99 this is not TAP\n");
}

TEST_SIGNAL(dies_as_it_should, SIGABRT)
{
	abort();
}

TEST_SIGNAL(does_not_die, SIGABRT)
{
}

TEST_SIGNAL(dies_of_another, SIGABRT)
{
	raise(SIGKILL);
}

FIXTURE(box) {
	int value;
};
FIXTURE_VARIANT(box) {
	int value;
};
FIXTURE_VARIANT_ADD(box, one) { .value = 1 };
FIXTURE_VARIANT_ADD(box, two) { .value = 2 };
FIXTURE_VARIANT_ADD(box, none) { .value = 0 };
FIXTURE_SETUP(box)
{
	if (!variant->value)
		SKIP(return, "nothing in it");
	self->value = variant->value;
}
FIXTURE_TEARDOWN(box)
{
	TH_LOG("torn down");
	EXPECT_NE(100, self->value);
}

TEST_F(box, holds)
{
	EXPECT_EQ(variant->value, self->value);
	ASSERT_EQ(1, self->value);
	TH_LOG("only the first comes here");
}

TEST_F(box, teardown_fails)
{
	self->value = 100;
}

FIXTURE(bad) {
	int unused;
};
FIXTURE_SETUP(bad)
{
	ASSERT_EQ(1, self->unused);
}

TEST_F(bad, never_runs)
{
	TH_LOG("ran after a failed setup");
}

/* ---- the outer program ---- */

static int nr;
static int failures;
static char out[1 << 16]; /* what the last inner run wrote, a newline before the first line */
static int out_status;

static void ok(bool good, const char *name)
{
	printf("%s %d %s\n", good ? "ok" : "not ok", ++nr, name);
	failures += !good;
	if (!good)
		fprintf(stderr, "# harness_self: %s: the inner program wrote:%s\n", name, out);
	fflush(stdout);
}

static void inner(const char *args)
{
	char cmd[256];
	size_t len;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "SELF_INNER=1 EHU_TIMEOUT_SCALE=1 '%s' %s",
		 program_invocation_name, args);
	f = popen(cmd, "r");
	out[0] = '\n';
	len = f ? fread(out + 1, 1, sizeof(out) - 2, f) : 0;
	out[len + 1] = '\0';
	out_status = f ? pclose(f) : -1;
}

static bool says(const char *text)
{
	return strstr(out, text);
}

static int count(const char *text)
{
	int n = 0;

	for (const char *p = out; (p = strstr(p, text)); p++)
		n++;
	return n;
}

static void check_fates(void)
{
	const char *text;
	double took;

	inner("-v 2>&1");
	ok(WIFEXITED(out_status) && WEXITSTATUS(out_status) == 1, "a failure is status 1");
	ok(says("\nTAP version 13\n1..20\n"), "plan");
	ok(count("\nok ") + count("\nnot ok ") - says("\nnot ok 99") == 20, "a line for each");
	ok(says("\nok 1 passes\n"), "pass");
	ok(!says("must not run"), "handler of a check that holds");
	ok(says("\nnot ok 2 expect_goes_on\n"), "EXPECT fails");
	ok(says(":expect_goes_on: Expected 1 (1) == 2 (2)\n"), "EXPECT says both values");
	ok(says(":expect_goes_on: handler ran\n"), "EXPECT's handler");
	ok(says(":expect_goes_on: went on\n"), "EXPECT goes on");
	ok(says("\nnot ok 3 assert_stops\n"), "ASSERT fails");
	ok(says(":assert_stops: handler ran\n"), "ASSERT's handler");
	ok(!says(":assert_stops: went on\n"), "ASSERT ends the test");
	ok(says("\nnot ok 4 minus_one_is_no_unsigned\n"), "numbers compare as numbers");
	ok(says("\nnot ok 5 crashes - killed by SIGSEGV\n"), "crash");
	ok(says("\nnot ok 6 hangs - timeout after 1 s\n"), "timeout");
	ok(says("\nnot ok 7 exits - exit(0) inside the test\n"), "exit(0) is no pass");
	ok(says("\nok 8 skips # SKIP no such thing: 42\n"), "skip");
	ok(says("\nnot ok 9 skip_hides_no_failure\n"), "skip after a failure");
	ok(says("\nok 11 dies_as_it_should\n"), "TEST_SIGNAL");
	ok(says("\nnot ok 12 does_not_die - not killed by SIGABRT\n"), "TEST_SIGNAL, no signal");
	ok(says("\nnot ok 13 dies_of_another - killed by SIGKILL\n"), "TEST_SIGNAL, another");
	ok(says("\nok 14 box.one.holds\n"), "variant");
	ok(says("\nnot ok 15 box.two.holds\n"), "variant that fails");
	ok(count("only the first comes here") == 1, "ASSERT in a variant");
	ok(says("\nok 16 box.none.holds # SKIP nothing in it\n"), "skip in the setup");
	ok(count("torn down") == 4, "teardown after pass and failure, not after a skip");
	ok(says("\nnot ok 17 box.one.teardown_fails\n"), "a check in the teardown");
	ok(says("\nnot ok 20 bad.never_runs\n"), "a failed setup fails the test");
	ok(!says("ran after a failed setup"), "no test after a failed setup");
	text = strstr(out, "# hangs took ");
	ok(text && sscanf(text, "# hangs took %lf s", &took) == 1 && took >= 1, "-v tells the time");
}

static void check_options(void)
{
	inner("2>/dev/null");
	ok(!says("not ok 99"), "stdout is TAP only");
	inner("-t passes -t 'box.one.h*' 2>&1");
	ok(out_status == 0, "all passed is status 0");
	ok(says("\n1..2\nok 1 passes\n") && says("\nok 2 box.one.holds\n"), "-t");
	inner("-t nothing_like_it 2>&1");
	ok(WEXITSTATUS(out_status) == 1 && says("\nnot ok 1 no test was run\n"), "zero tests fail");
	inner("-l");
	ok(out_status == 0 && count("\n") == 21 && says("\nbox.two.holds\n"), "-l");
	inner("-x 2>&1");
	ok(WEXITSTATUS(out_status) == 2 && says("usage:"), "unknown option");
}

int main(int argc, char **argv)
{
	if (getenv("SELF_INNER"))
		return th_main(argc, argv);
	check_fates();
	check_options();
	printf("1..%d\n", nr);
	return !!failures;
}
