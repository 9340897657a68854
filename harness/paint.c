// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Decides where colour is wanted: on a terminal, unless NO_COLOR (no-color.org) says otherwise.
 */
#include "harness/paint.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wanted(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(out);		/* -1 for one in memory */

	/* The rule: set to anything but nothing. */
	return fd >= 0 && isatty(fd) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

/**
 * paint() - begin or end a colour
 * @out: where it is to be written
 * @how: which one
 *
 * Return: what to write; "" where no colour is wanted.
 */
const char *paint(FILE *out, enum paint how)
{
	static const char *const codes[] = {
		[PAINT_OFF] = "\033[0m", [PAINT_HEAD] = "\033[1m", [PAINT_GOOD] = "\033[1;32m",
		[PAINT_BAD] = "\033[1;31m",
	};

	return wanted(out) ? codes[how] : "";
}

/**
 * paint_head() - an empty line and a heading
 * @out: where to
 * @format: without newlines
 */
void paint_head(FILE *out, const char *format, ...)
{
	va_list ap;

	fprintf(out, "\n%s", paint(out, PAINT_HEAD));
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fprintf(out, "%s\n", paint(out, PAINT_OFF));
}

/**
 * paint_verdict() - a line that says how it went
 * @out: where to
 * @bad: badly
 * @text: without a newline
 */
void paint_verdict(FILE *out, bool bad, const char *text)
{
	fprintf(out, "%s%s%s\n", paint(out, bad ? PAINT_BAD : PAINT_GOOD), text,
		paint(out, PAINT_OFF));
}
