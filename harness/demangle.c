// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * C++ and Rust names made readable, by libiberty's demanglers within limits of our own.
 */
#include "harness/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

/*
 * Pieces of output, empty ones included, before a name is given up: what bounds the time. The
 * longest names in libLLVM and node take a few thousand.
 */
#define MAX_PIECES	65536

struct sink {
	char *out;
	size_t size;
	size_t used;
	unsigned int pieces;
	bool too_long;
	jmp_buf away;
};

/*
 * Leaves the demangler by longjmp() when there is too much: it has no other way to be told, and
 * the callback forms keep all they need on the stack (one small buffer for a Rust identifier in
 * punycode is the exception, and is lost then).
 */
static void add(const char *text, size_t len, void *arg)
{
	struct sink *s = arg;

	if (++s->pieces > MAX_PIECES || len >= s->size - s->used) {
		s->too_long = true;
		longjmp(s->away, 1);
	}
	if (len)	/* @text may be NULL then */
		memcpy(s->out + s->used, text, len);
	s->used += len;
}

/* Rust's old mangling is C++'s with a hash for a last component. */
static bool looks_mangled(const char *name)
{
	while (*name == '_' && name[1] == '_')
		name++;
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

static bool run(const char *mangled, struct sink *s)
{
	if (setjmp(s->away))
		return false;
	if (rust_demangle_callback(mangled, DMGL_PARAMS | DMGL_ANSI, add, s))
		return true;
	s->used = 0;
	return cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES, add, s);
}

/**
 * demangle() - say in words what a linker's name stands for
 * @mangled: Itanium C++ (_Z), or Rust, old (_ZN...17h...) and v0 (_R)
 * @out: filled in with the name and a NUL where the result is DEMANGLE_DONE
 * @size: bytes at @out; more than DEMANGLE_MAX_OUT are not used
 *
 * A version ("@@GLIBC_2.2") must have been cut off before. Names longer than DEMANGLE_MAX_IN are
 * not tried. Recursion is limited by libiberty, output and time here.
 *
 * Return: what became of it; all but DEMANGLE_DONE mean: print the name as it is.
 */
enum demangle_result demangle(const char *mangled, char *out, size_t size)
{
	struct sink s = { .out = out, .size = size < DEMANGLE_MAX_OUT ? size : DEMANGLE_MAX_OUT };

	if (!looks_mangled(mangled))
		return DEMANGLE_PLAIN;
	if (!size || strnlen(mangled, DEMANGLE_MAX_IN + 1) > DEMANGLE_MAX_IN)
		return DEMANGLE_TOO_LONG;
	if (!run(mangled, &s))
		return s.too_long ? DEMANGLE_TOO_LONG : DEMANGLE_REFUSED;
	out[s.used] = '\0';
	return DEMANGLE_DONE;
}

/* Bytes of the UTF-8 character at @p, 0 where it is none, or one that is not for printing. */
static size_t utf8_length(const unsigned char *p)
{
	uint32_t c;
	size_t n;

	if (*p < 0x80)
		return *p >= 0x20 && *p != 0x7f;
	n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	c = *p & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < (n == 3 ? 0x800u : n == 4 ? 0x10000u : 0x80u) || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	/* C1 controls; marks that turn the direction of text around or hide in it. */
	if (c < 0xa0 || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff)
		return 0;
	return n;
}

/**
 * demangle_printable() - copy a name so that a terminal takes it for text
 * @name: any bytes
 * @out: filled in, ended by NUL
 * @size: bytes at @out, at least 64
 *
 * Control characters, bytes that are no UTF-8 and marks that reorder text become \xNN. What does
 * not fit is cut at a character, and "...[N bytes]" ends the name, N being its whole length.
 *
 * Return: bytes of @name that were left out; 0 where it fitted.
 */
size_t demangle_printable(const char *name, char *out, size_t size)
{
	const unsigned char *p = (const unsigned char *)name;
	size_t used = 0, room = size - 40;

	while (*p) {
		size_t n = utf8_length(p);

		if (used + (n ? n : 4) > room) {
			snprintf(out + used, size - used, "...[%zu bytes]", strlen(name));
			return strlen((const char *)p);
		}
		if (n)
			memcpy(out + used, p, n);
		else
			snprintf(out + used, 5, "\\x%02x", *p);
		used += n ? n : 4;
		p += n ? n : 1;
	}
	out[used] = '\0';
	return 0;
}
