/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * C++ and Rust names made readable, in bounded time and space; bytes made fit to print.
 */
#ifndef HARNESS_DEMANGLE_H
#define HARNESS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Longest name that is demangled at all: parsing is linear in it, and libiberty keeps its parse
 * tree (about 70 bytes a character) on the stack. Longest result, in bytes with the NUL: a few
 * hundred characters of substitutions can stand for more text than there is memory.
 */
#define DEMANGLE_MAX_IN		8192
#define DEMANGLE_MAX_OUT	16384

/*	symbol		name		meaning */
#define DEMANGLE_RESULTS(X) \
	X(PLAIN,	"plain",	"not a mangled name") \
	X(DONE,		"done",		"demangled") \
	X(REFUSED,	"refused",	"it begins like a mangled name, but it is none") \
	X(TOO_LONG,	"too-long",	"the name, or what it stands for, is past a limit")

enum demangle_result {
#define X(sym, name, text) DEMANGLE_##sym,
	DEMANGLE_RESULTS(X)
#undef X
};

enum demangle_result demangle(const char *mangled, char *out, size_t size);

size_t demangle_printable(const char *name, char *out, size_t size);

#endif /* HARNESS_DEMANGLE_H */
