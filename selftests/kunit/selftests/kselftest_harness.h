/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The macros of selftests/kselftest_harness.h as KUnit tests, so that selftests/core_*.c compile in
 * a kernel as they are. It is found by its path: this folder is searched before the root.
 *
 * Each file becomes a KUnit suite, each of its tests (times the variants of its fixture) a
 * parameter of the suite's one case; selftests/kunit/suites.c does that from a list in a section
 * that has the file's name. What a test leaves in the file's variables is undone before the next
 * one, as user space does it by a process for each.
 */
#ifndef SELFTESTS_KSELFTEST_HARNESS_H
#define SELFTESTS_KSELFTEST_HARNESS_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "ehframe/base.h"

#define TH_UNUSED __attribute__((unused))
#define INT64_MAX S64_MAX
#define INT64_MIN S64_MIN

enum th_kind { TH_IS_TEST, TH_IS_VARIANT, TH_IS_SETUP, TH_IS_TEARDOWN };

/* A line of the list: a test, or what a fixture has. */
struct th_item {
	enum th_kind kind;
	int line;
	const char *fixture;	/* NULL for TEST() */
	const char *name;
	void (*fn)(void *self, const void *variant);
	const void *data;	/* of a variant */
	size_t self_size;
	const char *skip;	/* why it cannot run in a kernel */
};

/* Of the test that runs. */
struct __test_metadata {
	bool failed;
};

extern struct __test_metadata *_metadata;

void __printf(3, 4) th_log(const char *file, int line, const char *fmt, ...);
void th_fail(void);
void th_skip(const char *why);
void __noreturn th_bail(void);
void *th_alloc(size_t size);
void th_free(void *p);

#define TH_ITEM(id, ...)                                                                 \
	static const struct th_item id = { .line = __LINE__, __VA_ARGS__ };             \
	static const struct th_item *const id##_p                                       \
		__attribute__((used, section("ehut_" KBUILD_BASENAME))) = &id

#define FIXTURE_DATA(f) struct th_data_##f
#define FIXTURE_VARIANT(f) struct th_variant_##f
#define FIXTURE(f)          \
	FIXTURE_VARIANT(f); \
	FIXTURE_DATA(f)

#define FIXTURE_VARIANT_ADD(f, v)                                                           \
	static const FIXTURE_VARIANT(f) th_variant_##f##_##v;                               \
	TH_ITEM(th_item_##f##_##v, .kind = TH_IS_VARIANT, .fixture = #f, .name = #v,        \
		.data = &th_variant_##f##_##v);                                             \
	static const FIXTURE_VARIANT(f) th_variant_##f##_##v =

#define TH_FN(id, f, ...)                                                                   \
	static void id(FIXTURE_DATA(f) *self TH_UNUSED,                                     \
		       const FIXTURE_VARIANT(f) *variant TH_UNUSED);                        \
	static void id##_call(void *self, const void *variant)                              \
	{                                                                                   \
		id(self, variant);                                                          \
	}                                                                                   \
	TH_ITEM(id##_item, .fixture = #f, .fn = id##_call, __VA_ARGS__);                    \
	static void id(FIXTURE_DATA(f) *self TH_UNUSED,                                     \
		       const FIXTURE_VARIANT(f) *variant TH_UNUSED)

#define FIXTURE_SETUP(f) TH_FN(th_setup_##f, f, .kind = TH_IS_SETUP)
#define FIXTURE_TEARDOWN(f) TH_FN(th_teardown_##f, f, .kind = TH_IS_TEARDOWN)

#define TH_TEST_F(f, test, why) \
	TH_FN(th_test_##f##_##test, f, .kind = TH_IS_TEST, .name = #test, \
	      .self_size = sizeof(FIXTURE_DATA(f)), .skip = why)
#define TEST_F(f, test) TH_TEST_F(f, test, NULL)
#define TEST_F_TIMEOUT(f, test, secs) TH_TEST_F(f, test, NULL)
#define TEST_F_SIGNAL(f, test, sig) TH_TEST_F(f, test, "a kernel has no signal for it")

#define TH_TEST(test, why)                                                                  \
	static void th_test_##test(void);                                                   \
	static void th_test_##test##_call(void *self TH_UNUSED, const void *variant TH_UNUSED) \
	{                                                                                   \
		th_test_##test();                                                           \
	}                                                                                   \
	TH_ITEM(th_test_##test##_item, .kind = TH_IS_TEST, .name = #test,                   \
		.fn = th_test_##test##_call, .skip = why);                                  \
	static void th_test_##test(void)
#define TEST(test) TH_TEST(test, NULL)
#define TEST_TIMEOUT(test, secs) TH_TEST(test, NULL)
#define TEST_SIGNAL(test, sig) TH_TEST(test, "a kernel has no signal for it")

#define TH_LOG(...) th_log(__FILE__, __LINE__, __VA_ARGS__)

#define SKIP(statement, ...)         \
	do {                         \
		th_skip(__VA_ARGS__); \
		statement;           \
	} while (0)

/* Any integer or pointer, with its sign. */
struct th_num {
	unsigned long long bits;
	bool neg;
};

enum th_op { TH_EQ, TH_NE, TH_LT, TH_LE, TH_GT, TH_GE };

TH_UNUSED static bool th_compare(const char *file, int line, struct th_num exp, const char *exp_s,
				 enum th_op op, struct th_num seen, const char *seen_s)
{
	static const char *const name[] = { "==", "!=", "<", "<=", ">", ">=" };
	int order;
	bool ok;

	if (exp.neg != seen.neg)
		order = exp.neg ? -1 : 1;
	else
		order = exp.bits < seen.bits ? -1 : exp.bits > seen.bits;
	ok = op == TH_EQ ? order == 0 : op == TH_NE ? order != 0 : op == TH_LT ? order < 0 :
	     op == TH_LE ? order <= 0 : op == TH_GT ? order > 0 : order >= 0;
	if (ok)
		return true;
	th_log(file, line, "Expected %s (%lld) %s %s (%lld)", exp_s, (long long)exp.bits, name[op],
	       seen_s, (long long)seen.bits);
	th_fail();
	return false;
}

TH_UNUSED static bool th_compare_str(const char *file, int line, const char *exp, bool same,
				     const char *seen, const char *seen_s)
{
	bool equal = exp && seen ? !strcmp(exp, seen) : exp == seen;

	if (equal == same)
		return true;
	th_log(file, line, "Expected %s %s \"%s\", seen \"%s\"", seen_s, same ? "==" : "!=",
	       exp ? exp : "(null)", seen ? seen : "(null)");
	th_fail();
	return false;
}

#define TH_TYPE(x) __typeof__(1 ? (x) : (x))
#define TH_IS_PTR(x) (__builtin_classify_type(x) == 5)
#define TH_INT(v) __builtin_choose_expr(TH_IS_PTR(v), (uintptr_t)(v), v)
#define TH_NUM(x)                                                                   \
	({                                                                          \
		TH_TYPE(x) th_v = (x);                                              \
		__typeof__(TH_INT(th_v)) th_i = TH_INT(th_v);                       \
		(struct th_num){ (unsigned long long)th_i,                          \
			(__typeof__(th_i))-1 < (__typeof__(th_i))1 && (long long)th_i < 0 }; \
	})

/* A block or a statement may follow: it runs when the check fails. */
#define TH_CHECK(fatal, ok) \
	for (bool th_bad = !(ok); th_bad; th_bad = (fatal) ? (th_bail(), false) : false)
#define TH_CMP(fatal, exp, exp_s, op, seen, seen_s) \
	TH_CHECK(fatal, th_compare(__FILE__, __LINE__, TH_NUM(exp), exp_s, op, TH_NUM(seen), seen_s))
#define TH_STR(fatal, exp, same, seen) \
	TH_CHECK(fatal, th_compare_str(__FILE__, __LINE__, exp, same, seen, #seen))

#define ASSERT_EQ(exp, seen) TH_CMP(true, exp, #exp, TH_EQ, seen, #seen)
#define ASSERT_NE(exp, seen) TH_CMP(true, exp, #exp, TH_NE, seen, #seen)
#define ASSERT_LT(exp, seen) TH_CMP(true, exp, #exp, TH_LT, seen, #seen)
#define ASSERT_LE(exp, seen) TH_CMP(true, exp, #exp, TH_LE, seen, #seen)
#define ASSERT_GT(exp, seen) TH_CMP(true, exp, #exp, TH_GT, seen, #seen)
#define ASSERT_GE(exp, seen) TH_CMP(true, exp, #exp, TH_GE, seen, #seen)
#define ASSERT_TRUE(seen) TH_CMP(true, false, "false", TH_NE, !!(seen), #seen)
#define ASSERT_FALSE(seen) TH_CMP(true, false, "false", TH_EQ, !!(seen), #seen)
#define ASSERT_NULL(seen) TH_CMP(true, NULL, "NULL", TH_EQ, seen, #seen)
#define ASSERT_STREQ(exp, seen) TH_STR(true, exp, true, seen)
#define ASSERT_STRNE(exp, seen) TH_STR(true, exp, false, seen)

#define EXPECT_EQ(exp, seen) TH_CMP(false, exp, #exp, TH_EQ, seen, #seen)
#define EXPECT_NE(exp, seen) TH_CMP(false, exp, #exp, TH_NE, seen, #seen)
#define EXPECT_LT(exp, seen) TH_CMP(false, exp, #exp, TH_LT, seen, #seen)
#define EXPECT_LE(exp, seen) TH_CMP(false, exp, #exp, TH_LE, seen, #seen)
#define EXPECT_GT(exp, seen) TH_CMP(false, exp, #exp, TH_GT, seen, #seen)
#define EXPECT_GE(exp, seen) TH_CMP(false, exp, #exp, TH_GE, seen, #seen)
#define EXPECT_TRUE(seen) TH_CMP(false, false, "false", TH_NE, !!(seen), #seen)
#define EXPECT_FALSE(seen) TH_CMP(false, false, "false", TH_EQ, !!(seen), #seen)
#define EXPECT_NULL(seen) TH_CMP(false, NULL, "NULL", TH_EQ, seen, #seen)
#define EXPECT_STREQ(exp, seen) TH_STR(false, exp, true, seen)
#define EXPECT_STRNE(exp, seen) TH_STR(false, exp, false, seen)

#define TEST_HARNESS_MAIN

/* What of a libc the tests use. */
TH_UNUSED static void *malloc(size_t size)
{
	return th_alloc(size);
}

TH_UNUSED static void free(void *p)
{
	th_free(p);
}

TH_UNUSED static void __noreturn abort(void)
{
	panic("abort");
}

/* No variable is set, so no number is read from one. */
TH_UNUSED static const char *getenv(const char *name TH_UNUSED)
{
	return NULL;
}

TH_UNUSED static int atoi(const char *s TH_UNUSED)
{
	return 0;
}

#endif
