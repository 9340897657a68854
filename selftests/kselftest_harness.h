/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A test harness with the macro names of the kernel's kselftest_harness.h: every test in
 * a process of its own, with a timeout, reported as TAP. Our own code.
 *
 *	FIXTURE(buf) { char *p; };
 *	FIXTURE_VARIANT(buf) { size_t len; };			(optional)
 *	FIXTURE_VARIANT_ADD(buf, small) { .len = 4 };
 *	FIXTURE_SETUP(buf) { self->p = malloc(variant->len); }
 *	FIXTURE_TEARDOWN(buf) { free(self->p); }		(both optional)
 *	TEST_F(buf, is_there) { ASSERT_NE(NULL, self->p); }	-> buf.small.is_there
 *	TEST(plain) { EXPECT_EQ(4, 2 + 2) { TH_LOG("why"); } }	-> plain
 *	TEST_HARNESS_MAIN
 *
 * Also TEST_SIGNAL(name, sig), TEST_F_SIGNAL(fixture, name, sig), and with a timeout of their
 * own TEST_TIMEOUT(name, seconds), TEST_F_TIMEOUT(fixture, name, seconds).
 *
 * EXPECT_x(expected, seen) notes a failure and goes on, ASSERT_x ends the test (the teardown
 * still runs); x is EQ NE LT LE GT GE, TRUE FALSE NULL, STREQ STRNE. A block or a statement
 * after it runs when it fails. Numbers compare as numbers, not as C compares them: -1 is never
 * equal to an unsigned value. They work in any function and file that includes this header,
 * but only in the test's own process and thread.
 *
 * SKIP(return, "reason %s", ...) ends a test, or in FIXTURE_SETUP all tests of the fixture.
 *
 * A test that crashes, times out or calls exit() is "not ok". What a test prints goes to
 * stderr, so that stdout is TAP and nothing else.
 */
#ifndef SELFTESTS_KSELFTEST_HARNESS_H
#define SELFTESTS_KSELFTEST_HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TH_DEFAULT_TIMEOUT 120 /* seconds: for what hangs, not for what is slow */
#define TH_UNUSED __attribute__((unused))

enum th_state { TH_RUNNING, TH_PASSED, TH_FAILED, TH_SKIPPED };

/* What the test's process tells its parent, in shared memory. */
struct th_shared {
	enum th_state state; /* TH_RUNNING: it never came to its end */
	char reason[256];    /* of a skip */
};

struct th_variant {
	const char *name;
	const void *data;
	struct th_variant *next;
};

struct th_fixture {
	const char *name;
	void (*setup)(void *self, const void *variant);
	void (*teardown)(void *self, const void *variant);
	struct th_variant *variants;
};

struct __test_metadata {
	const char *name;
	struct th_fixture *fixture; /* NULL for TEST() */
	void (*fn)(void *self, const void *variant);
	size_t self_size;
	int signal;      /* the one that has to end the test, or 0 */
	int timeout;     /* seconds, or 0 for the default */
	struct __test_metadata *next;
	/* While it runs: */
	char full[256];  /* fixture.variant.test */
	bool trigger;    /* a check has just failed, its handler block may run */
	bool failed;
	struct th_shared *shared;
	jmp_buf env;     /* where a failed ASSERT goes */
};

/* Weak: one object a program, whichever and however many files include this header. */
struct __test_metadata *_metadata __attribute__((weak));
struct __test_metadata *th_tests __attribute__((weak));

TH_UNUSED static void th_add_test(struct __test_metadata *t)
{
	struct __test_metadata **p = &th_tests;

	while (*p)
		p = &(*p)->next;
	*p = t;
}

TH_UNUSED static void th_add_variant(struct th_fixture *f, struct th_variant *v)
{
	struct th_variant **p = &f->variants;

	while (*p)
		p = &(*p)->next;
	*p = v;
}

#define TH_INIT(id) TH_UNUSED static void __attribute__((constructor)) id(void)

#define TH_TEST(test, sig, secs)                                                         \
	static void th_test_##test(void);                                                \
	static void th_call_##test(void *self TH_UNUSED, const void *variant TH_UNUSED)  \
	{                                                                                \
		th_test_##test();                                                        \
	}                                                                                \
	TH_INIT(th_init_##test)                                                          \
	{                                                                                \
		static struct __test_metadata t = { .name = #test,                       \
			.fn = th_call_##test, .signal = sig, .timeout = secs };          \
		th_add_test(&t);                                                         \
	}                                                                                \
	static void th_test_##test(void)

#define TEST(test) TH_TEST(test, 0, 0)
#define TEST_SIGNAL(test, sig) TH_TEST(test, sig, 0)
#define TEST_TIMEOUT(test, secs) TH_TEST(test, 0, secs)

#define FIXTURE_DATA(f) struct th_data_##f
#define FIXTURE_VARIANT(f) struct th_variant_##f

#define FIXTURE(f)                                              \
	FIXTURE_VARIANT(f);                                     \
	static struct th_fixture th_fixture_##f = { .name = #f }; \
	FIXTURE_DATA(f)

#define FIXTURE_VARIANT_ADD(f, v)                                                      \
	static const FIXTURE_VARIANT(f) th_variant_##f##_##v;                          \
	TH_INIT(th_init_##f##_##v)                                                     \
	{                                                                              \
		static struct th_variant d = { .name = #v, .data = &th_variant_##f##_##v }; \
		th_add_variant(&th_fixture_##f, &d);                                   \
	}                                                                              \
	static const FIXTURE_VARIANT(f) th_variant_##f##_##v =

#define TH_BODY(fn, f) \
	static void fn(FIXTURE_DATA(f) *self TH_UNUSED, const FIXTURE_VARIANT(f) *variant TH_UNUSED)

#define TH_HOOK(f, hook)                                                  \
	TH_BODY(th_##hook##_##f, f);                                      \
	static void th_call_##hook##_##f(void *self, const void *variant) \
	{                                                                 \
		th_##hook##_##f(self, variant);                           \
	}                                                                 \
	TH_INIT(th_init_##hook##_##f)                                     \
	{                                                                 \
		th_fixture_##f.hook = th_call_##hook##_##f;               \
	}                                                                 \
	TH_BODY(th_##hook##_##f, f)

#define FIXTURE_SETUP(f) TH_HOOK(f, setup)
#define FIXTURE_TEARDOWN(f) TH_HOOK(f, teardown)

#define TH_TEST_F(f, test, sig, secs)                                               \
	TH_BODY(th_test_##f##_##test, f);                                           \
	static void th_call_##f##_##test(void *self, const void *variant)           \
	{                                                                           \
		th_test_##f##_##test(self, variant);                                \
	}                                                                           \
	TH_INIT(th_init_##f##_##test##_)                                            \
	{                                                                           \
		static struct __test_metadata t = { .name = #test,                  \
			.fixture = &th_fixture_##f, .fn = th_call_##f##_##test,     \
			.self_size = sizeof(FIXTURE_DATA(f)), .signal = sig, .timeout = secs }; \
		th_add_test(&t);                                                    \
	}                                                                           \
	TH_BODY(th_test_##f##_##test, f)

#define TEST_F(f, test) TH_TEST_F(f, test, 0, 0)
#define TEST_F_SIGNAL(f, test, sig) TH_TEST_F(f, test, sig, 0)
#define TEST_F_TIMEOUT(f, test, secs) TH_TEST_F(f, test, 0, secs)

/* Messages: one write() each, so that tests that run side by side do not mix lines. */
TH_UNUSED static void __attribute__((format(printf, 3, 4)))
th_log(const char *file, int line, const char *fmt, ...)
{
	char buf[2048];
	va_list ap;
	int len;

	len = snprintf(buf, sizeof(buf) / 2, "# %s:%d:%s: ", file, line,
		       _metadata ? _metadata->full : "?");
	va_start(ap, fmt);
	vsnprintf(buf + len, sizeof(buf) - 1 - (size_t)len, fmt, ap);
	va_end(ap);
	strcat(buf, "\n");
	fflush(stdout);
	if (write(STDERR_FILENO, buf, strlen(buf)) < 0)
		return; /* nobody is left to be told */
}

#define TH_LOG(...) th_log(__FILE__, __LINE__, __VA_ARGS__)

/* A skip does not hide a failure that came before it. */
TH_UNUSED static void __attribute__((format(printf, 1, 2))) th_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(_metadata->shared->reason, sizeof(_metadata->shared->reason), fmt, ap);
	va_end(ap);
	for (char *c = _metadata->shared->reason; *c; c++)
		if (*c == '\n')
			*c = ' ';
	_metadata->shared->state = TH_SKIPPED;
}

#define SKIP(statement, ...)          \
	do {                          \
		th_skip(__VA_ARGS__); \
		statement;            \
	} while (0)

/* Any integer or pointer, with its sign: compared by value, whatever the two types are. */
struct th_num {
	unsigned long long bits;
	bool neg;
	bool ptr;
};

enum th_op { TH_EQ, TH_NE, TH_LT, TH_LE, TH_GT, TH_GE };

TH_UNUSED static struct th_num th_num(unsigned long long bits, bool has_sign, bool ptr)
{
	return (struct th_num){ bits, has_sign && (long long)bits < 0, ptr };
}

TH_UNUSED static void th_print(char *buf, size_t len, struct th_num n)
{
	if (n.ptr)
		snprintf(buf, len, "0x%llx", n.bits);
	else if (n.neg)
		snprintf(buf, len, "%lld", (long long)n.bits);
	else
		snprintf(buf, len, n.bits > 9 ? "%llu = 0x%llx" : "%llu", n.bits, n.bits);
}

TH_UNUSED static bool th_compare(const char *file, int line, struct th_num exp, const char *exp_s,
				 enum th_op op, struct th_num seen, const char *seen_s)
{
	static const char *const name[] = { "==", "!=", "<", "<=", ">", ">=" };
	char e[64], s[64];
	int order;
	bool ok;

	if (exp.neg != seen.neg)
		order = exp.neg ? -1 : 1;
	else /* two's complement keeps the order among the negative ones too */
		order = exp.bits < seen.bits ? -1 : exp.bits > seen.bits;
	ok = op == TH_EQ ? order == 0 : op == TH_NE ? order != 0 : op == TH_LT ? order < 0 :
	     op == TH_LE ? order <= 0 : op == TH_GT ? order > 0 : order >= 0;
	if (ok)
		return true;
	_metadata->failed = true;
	th_print(e, sizeof(e), exp);
	th_print(s, sizeof(s), seen);
	th_log(file, line, "Expected %s (%s) %s %s (%s)", exp_s, e, name[op], seen_s, s);
	return false;
}

TH_UNUSED static bool th_compare_str(const char *file, int line, const char *exp, const char *exp_s,
				     bool same, const char *seen, const char *seen_s)
{
	bool equal = exp && seen ? !strcmp(exp, seen) : exp == seen;

	if (equal == same)
		return true;
	_metadata->failed = true;
	th_log(file, line, "Expected %s (\"%s\") %s %s (\"%s\")", exp_s, exp ? exp : "(null)",
	       same ? "==" : "!=", seen_s, seen ? seen : "(null)");
	return false;
}

/* After the handler block: back for an EXPECT, out of the test for an ASSERT. */
TH_UNUSED static bool th_bail(bool fatal)
{
	if (fatal)
		longjmp(_metadata->env, 1);
	return false;
}

#define TH_TYPE(x) __typeof__(1 ? (x) : (x))
#define TH_IS_PTR(x) (__builtin_classify_type(x) == 5)
#define TH_INT(v) __builtin_choose_expr(TH_IS_PTR(v), (uintptr_t)(v), v)
#define TH_NUM(x)                                                              \
	({                                                                     \
		TH_TYPE(x) th_v = (x);                                         \
		__typeof__(TH_INT(th_v)) th_i = TH_INT(th_v);                  \
		th_num((unsigned long long)th_i,                               \
		       (__typeof__(th_i))-1 < (__typeof__(th_i))1, TH_IS_PTR(th_v)); \
	})

#define TH_CHECK(fatal, ok) \
	for (_metadata->trigger = !(ok); _metadata->trigger; _metadata->trigger = th_bail(fatal))
#define TH_CMP(fatal, exp, exp_s, op, seen, seen_s) \
	TH_CHECK(fatal, th_compare(__FILE__, __LINE__, TH_NUM(exp), exp_s, op, TH_NUM(seen), seen_s))
#define TH_STR(fatal, exp, same, seen) \
	TH_CHECK(fatal, th_compare_str(__FILE__, __LINE__, exp, #exp, same, seen, #seen))

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

TH_UNUSED static const char *th_signame(int sig)
{
	static const struct {
		int sig;
		const char *name;
	} names[] = {
		{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGABRT, "SIGABRT" },
		{ SIGFPE, "SIGFPE" }, { SIGILL, "SIGILL" }, { SIGTRAP, "SIGTRAP" },
		{ SIGSYS, "SIGSYS" }, { SIGKILL, "SIGKILL" }, { SIGTERM, "SIGTERM" },
		{ SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" }, { SIGINT, "SIGINT" },
		{ SIGHUP, "SIGHUP" }, { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" },
		{ SIGPROF, "SIGPROF" }, { SIGXCPU, "SIGXCPU" },
	};
	static char other[16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].sig == sig)
			return names[i].name;
	snprintf(other, sizeof(other), "signal %d", sig);
	return other;
}

/* Call one hook or test body; a failed ASSERT comes back here. */
TH_UNUSED static void __attribute__((noinline))
th_call(void (*fn)(void *self, const void *variant), void *self, const void *variant)
{
	if (fn && !setjmp(_metadata->env))
		fn(self, variant);
}

/* The test's own process: set up, test, tear down; never returns. */
TH_UNUSED static void __attribute__((noreturn))
th_child(struct __test_metadata *t, const struct th_variant *v)
{
	struct th_fixture *f = t->fixture;
	const void *variant = v ? v->data : NULL;
	void *self = calloc(1, t->self_size ? t->self_size : 1);

	_metadata = t;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (t->signal) /* a sanitizer's handler would turn it into an exit */
		signal(t->signal, SIG_DFL);
	if (!self)
		abort();

	th_call(f ? f->setup : NULL, self, variant);
	if (!t->failed && t->shared->state == TH_RUNNING) {
		th_call(t->fn, self, variant);
		th_call(f ? f->teardown : NULL, self, variant);
	}
	free(self);
	fflush(NULL);
	if (t->failed)
		t->shared->state = TH_FAILED;
	else if (t->shared->state == TH_RUNNING)
		t->shared->state = TH_PASSED;
	exit(0); /* not _exit(): leak and coverage reports are written at exit */
}

extern volatile sig_atomic_t th_child_pid __attribute__((weak));
extern volatile sig_atomic_t th_timed_out __attribute__((weak));
volatile sig_atomic_t th_child_pid;
volatile sig_atomic_t th_timed_out;

TH_UNUSED static void th_on_alarm(int sig TH_UNUSED)
{
	th_timed_out = 1;
	kill(-(pid_t)th_child_pid, SIGKILL);
	kill((pid_t)th_child_pid, SIGKILL);
}

/* Say "ok" or "not ok" for one test. Returns whether it was ok (a skip is). */
TH_UNUSED static bool th_verdict(struct __test_metadata *t, int nr, int status, int secs)
{
	enum th_state state = t->shared->state;
	char why[128] = "";

	if (th_timed_out)
		snprintf(why, sizeof(why), "timeout after %d s", secs);
	else if (WIFSIGNALED(status) && t->signal == WTERMSIG(status) && !t->failed)
		state = TH_PASSED;
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "killed by %s", th_signame(WTERMSIG(status)));
	else if (state == TH_RUNNING)
		snprintf(why, sizeof(why), "exit(%d) inside the test", WEXITSTATUS(status));
	else if (WEXITSTATUS(status))
		snprintf(why, sizeof(why), "exit status %d at its end", WEXITSTATUS(status));
	else if (t->signal && state != TH_SKIPPED)
		snprintf(why, sizeof(why), "not killed by %s", th_signame(t->signal));

	if (why[0])
		fprintf(stderr, "# %s: %s\n", t->full, why);
	if (!why[0] && state == TH_PASSED)
		printf("ok %d %s\n", nr, t->full);
	else if (!why[0] && state == TH_SKIPPED)
		printf("ok %d %s # SKIP %s\n", nr, t->full, t->shared->reason);
	else
		printf("not ok %d %s%s%s\n", nr, t->full, why[0] ? " - " : "", why);
	fflush(stdout);
	return !why[0] && state != TH_FAILED;
}

TH_UNUSED static bool th_run(struct __test_metadata *t, const struct th_variant *v, int nr,
			     int secs)
{
	int status = 0;
	pid_t pid;

	memset(t->shared, 0, sizeof(*t->shared));
	th_timed_out = 0;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		printf("not ok %d %s - fork: %s\n", nr, t->full, strerror(errno));
		return false;
	}
	if (!pid)
		th_child(t, v);
	setpgid(pid, pid); /* here too: whoever comes first */
	th_child_pid = pid;
	alarm((unsigned int)secs);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	alarm(0);
	kill(-pid, SIGKILL); /* what the test left running */
	return th_verdict(t, nr, status, secs);
}

TH_UNUSED static void th_full_name(struct __test_metadata *t, const struct th_variant *v)
{
	snprintf(t->full, sizeof(t->full), "%s%s%s%s%s", t->fixture ? t->fixture->name : "",
		 t->fixture ? "." : "", v ? v->name : "", v ? "." : "", t->name);
}

TH_UNUSED static void th_usage(FILE *f, const char *prog)
{
	fprintf(f,
		"usage: %s [-l] [-v] [-t NAME]... [-T SECONDS]\n"
		"  -l          list the tests\n"
		"  -t NAME     only this one (a shell pattern)\n"
		"  -v          say when each starts and how long it took\n"
		"  -T SECONDS  timeout of each, 0 for none\n",
		prog);
}

TH_UNUSED static int th_main(int argc, char **argv)
{
	const char *scale_s = getenv("EHU_TIMEOUT_SCALE");
	int scale = scale_s && atoi(scale_s) > 0 ? atoi(scale_s) : 1;
	int opt, total = 0, nr = 0, failed = 0, force_secs = -1;
	const char *only[64];
	bool list = false, verbose = false;
	size_t nr_only = 0;
	struct th_shared *shared;

	while ((opt = getopt(argc, argv, "lvt:T:h")) != -1) {
		if (opt == 'l')
			list = true;
		else if (opt == 'v')
			verbose = true;
		else if (opt == 't' && nr_only < sizeof(only) / sizeof(only[0]))
			only[nr_only++] = optarg;
		else if (opt == 'T')
			force_secs = atoi(optarg);
		else {
			th_usage(opt == 'h' ? stdout : stderr, argv[0]);
			return opt == 'h' ? 0 : 2;
		}
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = th_on_alarm }, NULL);

	/* Twice through the same list: TAP wants the number of tests first. */
	for (int pass = 0; pass < 2; pass++) {
		if (pass && !list)
			printf("TAP version 13\n1..%d\n", total ? total : 1);
		for (struct __test_metadata *t = th_tests; t; t = t->next) {
			const struct th_variant *v = t->fixture ? t->fixture->variants : NULL;

			do {
				int secs = t->timeout ? t->timeout : TH_DEFAULT_TIMEOUT;
				bool wanted = !nr_only;
				struct timespec a, b;

				th_full_name(t, v);
				for (size_t i = 0; i < nr_only; i++)
					wanted |= !fnmatch(only[i], t->full, 0);
				if (!wanted || (!pass && ++total)) {
					/* not asked for, or only counted */
				} else if (list) {
					printf("%s\n", t->full);
				} else {
					secs = force_secs >= 0 ? force_secs : secs * scale;
					t->shared = shared;
					if (verbose)
						fprintf(stderr, "# RUN %s\n", t->full);
					clock_gettime(CLOCK_MONOTONIC, &a);
					failed += !th_run(t, v, ++nr, secs);
					clock_gettime(CLOCK_MONOTONIC, &b);
					if (verbose)
						fprintf(stderr, "# %s took %.3f s\n", t->full,
							(double)(b.tv_sec - a.tv_sec) +
							(double)(b.tv_nsec - a.tv_nsec) / 1e9);
				}
				v = v ? v->next : NULL;
			} while (v);
		}
	}
	if (!total) {
		printf(list ? "" : "not ok 1 no test was run\n");
		fprintf(stderr, "# %s: no test of that name, or none at all\n", argv[0]);
	}
	return failed || !total;
}

#define TEST_HARNESS_MAIN                \
	int main(int argc, char **argv)  \
	{                                \
		return th_main(argc, argv); \
	}

#endif
