// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Realigned stacks: locals that need 64-byte alignment, in frames that call, beside an alloca.
 * gcc finds the caller through a saved argument pointer (DRAP), by a CFA expression.
 */
#include <alloca.h>

#include "target.h"

static __attribute__((noinline)) unsigned long aligned(int depth, ...)
{
	volatile char local[128] __attribute__((aligned(64)));
	volatile char *more = alloca((size_t)depth + 16);

	more[depth] = local[depth & 127] = (char)depth;
	target_spin(200);
	if (depth)
		target_sum += aligned(depth - 1, depth, depth, depth, depth, depth, depth, depth);
	return (unsigned long)(local[depth & 127] + more[depth]);
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	while (target_ms() < until)
		for (int k = 0; k < 15; k++)
			target_sum += aligned(k);
	return 0;
}
