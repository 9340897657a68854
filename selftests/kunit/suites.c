// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One KUnit suite for each core test file. The files are named by EHU_SUITES, a list of
 * X(core_NAME) that the build makes.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "selftests/kselftest_harness.h"

/* A file's list, and the variables that its tests may change. */
struct th_suite {
	const struct th_item *const *items, *const *items_end;
	char *data, *data_end, *bss, *bss_end;
	char *saved;
	const struct th_item *test, *variant;	/* the last one that was handed out */
};

struct th_run {
	struct kunit *test;
	struct th_suite *suite;
	const struct th_item *item, *variant;
	void *self;
	bool set_up;
};

/* KUnit runs one test at a time. */
static struct th_run now;
static struct __test_metadata metadata;
struct __test_metadata *_metadata = &metadata;

void th_log(const char *file, int line, const char *fmt, ...)
{
	struct va_format vaf;
	va_list ap;

	va_start(ap, fmt);
	vaf.fmt = fmt;
	vaf.va = &ap;
	kunit_info(now.test, "%s:%d: %pV\n", file, line, &vaf);
	va_end(ap);
}

void th_fail(void)
{
	metadata.failed = true;
	KUNIT_FAIL(now.test, "see above");
}

void th_skip(const char *why)
{
	kunit_mark_skipped(now.test, "%s", why);
}

void th_bail(void)
{
	kunit_try_catch_throw(&now.test->try_catch);
}

void *th_alloc(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}

void th_free(void *p)
{
	kfree(p);
}

static const struct th_item *of_fixture(struct th_suite *s, const char *fixture, enum th_kind kind)
{
	const struct th_item *const *p;

	for (p = s->items; fixture && p < s->items_end; p++)
		if ((*p)->kind == kind && (*p)->fixture && !strcmp((*p)->fixture, fixture))
			return *p;
	return NULL;
}

/* The first item of its kind whose line is above that of @after. */
static const struct th_item *next_item(struct th_suite *s, enum th_kind kind, const char *fixture,
				       const struct th_item *after)
{
	const struct th_item *best = NULL;
	const struct th_item *const *p;

	for (p = s->items; p < s->items_end; p++) {
		const struct th_item *i = *p;

		if (i->kind != kind || (after && i->line <= after->line) ||
		    (best && i->line >= best->line))
			continue;
		if (kind == TH_IS_VARIANT && strcmp(i->fixture, fixture))
			continue;
		best = i;
	}
	return best;
}

/* Byte by byte, and without KASAN: there are red zones in between. */
static void copy(char *to, const char *from, size_t len)
{
	while (len--)
		*(volatile char *)to++ = *from++;
}

static int suite_begin(struct th_suite *s)
{
	size_t data = s->data_end - s->data, bss = s->bss_end - s->bss;

	s->saved = kvmalloc(data + bss + 1, GFP_KERNEL);
	if (!s->saved)
		return -ENOMEM;
	copy(s->saved, s->data, data);
	copy(s->saved + data, s->bss, bss);
	return 0;
}

static void forget(struct th_suite *s)
{
	size_t data = s->data_end - s->data;

	copy(s->data, s->saved, data);
	copy(s->bss, s->saved + data, s->bss_end - s->bss);
}

static const void *next_test(struct th_suite *s, const void *prev, char *desc)
{
	if (!prev) {
		s->test = NULL;
		s->variant = NULL;
	}
	if (s->variant)
		s->variant = next_item(s, TH_IS_VARIANT, s->test->fixture, s->variant);
	if (!s->variant) {
		s->test = next_item(s, TH_IS_TEST, NULL, s->test);
		if (!s->test)
			return NULL;
		if (s->test->fixture)
			s->variant = next_item(s, TH_IS_VARIANT, s->test->fixture, NULL);
	}
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s%s%s",
		 s->test->fixture ? s->test->fixture : "", s->test->fixture ? "." : "",
		 s->variant ? s->variant->name : "", s->variant ? "." : "", s->test->name);
	return s;
}

static void run_test(struct kunit *test, struct th_suite *s)
{
	const struct th_item *setup = of_fixture(s, s->test->fixture, TH_IS_SETUP);
	const void *variant = s->variant ? s->variant->data : NULL;

	forget(s);
	metadata.failed = false;
	now = (struct th_run){
		.test = test, .suite = s, .item = s->test, .variant = s->variant,
		.self = kvzalloc(s->test->self_size ?: 1, GFP_KERNEL),
	};
	KUNIT_ASSERT_NOT_NULL(test, now.self);
	if (s->test->skip) {
		kunit_skip(test, "%s", s->test->skip);
		return;
	}
	if (setup)
		setup->fn(now.self, variant);
	if (test->status != KUNIT_SUCCESS)
		return;
	now.set_up = true;
	s->test->fn(now.self, variant);
}

/* Called by KUnit however a test ended. */
static void end_test(struct kunit *test)
{
	const struct th_item *teardown;

	if (now.set_up) {
		teardown = of_fixture(now.suite, now.item->fixture, TH_IS_TEARDOWN);
		if (teardown)
			teardown->fn(now.self, now.variant ? now.variant->data : NULL);
	}
	kvfree(now.self);
	now = (struct th_run){ .test = test };
}

#define X(file) \
	extern const struct th_item *const __start_ehut_##file[], *const __stop_ehut_##file[]; \
	extern char __start_ehud_##file[] __weak, __stop_ehud_##file[] __weak; \
	extern char __start_ehub_##file[] __weak, __stop_ehub_##file[] __weak; \
	static struct th_suite of_##file = { \
		__start_ehut_##file, __stop_ehut_##file, __start_ehud_##file, \
		__stop_ehud_##file, __start_ehub_##file, __stop_ehub_##file, \
	}; \
	static const void *next_##file(const void *prev, char *desc) \
	{ \
		return next_test(&of_##file, prev, desc); \
	} \
	static void file(struct kunit *test) \
	{ \
		run_test(test, &of_##file); \
	} \
	static int begin_##file(struct kunit_suite *suite) \
	{ \
		return suite_begin(&of_##file); \
	} \
	static struct kunit_case cases_##file[] = { KUNIT_CASE_PARAM(file, next_##file), {} }; \
	static struct kunit_suite suite_##file = { \
		.name = #file, .suite_init = begin_##file, .exit = end_test, \
		.test_cases = cases_##file, \
	}; \
	kunit_test_suite(suite_##file);
EHU_SUITES
