/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A scratch folder with compiled targets in it, for the tests of debuginfo and symbols. */
#ifndef SELFTESTS_LIB_SYMBOLS_BUILD_H
#define SELFTESTS_LIB_SYMBOLS_BUILD_H

#include "selftests/kselftest_harness.h"

#include <stdarg.h>

#define BUILD_PATH	512

/* Folder of this test's process; what is below it goes when build_remove() is called. */
static char build_dir[BUILD_PATH / 4];

/*
 * Run a shell command in the folder; $CC is gcc whatever compiles the tests: what is asked about
 * is debug information, and the references know gcc's best. True where the command succeeds.
 */
static inline bool build_try(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline bool build_try(const char *format, ...)
{
	char command[8192], full[9216];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(full, sizeof(full), "cd '%s' && CC=gcc CXX=g++ && { %s\n} >&2", build_dir, command);
	fflush(NULL);
	return system(full) == 0;
}

/* The same for a command that the test cannot do without. */
#define BUILD(...) ASSERT_TRUE(build_try(__VA_ARGS__))

static inline void build_enter(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(build_dir, sizeof(build_dir), "%s/ehunwind-test-XXXXXX", tmp ? tmp : "/tmp");
	ASSERT_NE(NULL, mkdtemp(build_dir));
}

static inline void build_remove(void)
{
	if (*build_dir)
		build_try("rm -rf '%s'", build_dir);
}

/* A path in the folder; good until seven more were asked for. */
static inline const char *build_path(const char *name)
{
	static char *path[8];
	static int next;
	char **p = &path[next++ % 8];

	free(*p);
	return asprintf(p, "%s/%s", build_dir, name) < 0 ? "" : *p;
}

static inline bool build_write(const char *name, const char *text)
{
	FILE *f = fopen(build_path(name), "w");

	if (!f)
		return false;
	fputs(text, f);
	return !fclose(f);
}

#endif /* SELFTESTS_LIB_SYMBOLS_BUILD_H */
