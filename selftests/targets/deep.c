// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Stacks deeper than the entries of a trace, and longer than what a sample copies.
 */
#include "target.h"

static __attribute__((noinline)) unsigned long thin(int depth)
{
	if (!depth) {
		target_spin(20000);
		return target_sum;
	}
	return thin(depth - 1) + 1;
}

static __attribute__((noinline)) unsigned long thick(int depth)
{
	volatile char local[1000];

	local[depth % 1000] = 1;
	if (!depth) {
		target_spin(20000);
		return target_sum;
	}
	return thick(depth - 1) + (unsigned long)local[depth % 1000];
}

/* Frames of middling size: 510 of them do not fit in 16 KiB. */
static __attribute__((noinline)) unsigned long middling(int depth)
{
	volatile long local[9];

	local[depth % 9] = depth;
	if (!depth) {
		target_spin(20000);
		return target_sum;
	}
	return middling(depth - 1) + (unsigned long)local[depth % 9];
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	/* deep MS DEPTH: nothing but one recursion. */
	if (argc > 2) {
		while (target_ms() < until)
			target_sum += middling(atoi(argv[2]));
		return 0;
	}
	while (target_ms() < until)
		target_sum += thin(900) + thick(100);
	return 0;
}
