// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Plain calls, 40 deep, with and without a frame pointer as it is compiled.
 */
#include "target.h"

static __attribute__((noinline)) void leaf(void)
{
	target_spin(300);
}

static __attribute__((noinline)) unsigned long down(int depth)
{
	volatile char local[64];

	local[depth & 63] = (char)depth;
	if (depth)
		target_sum += down(depth - 1);
	else
		leaf();
	return target_sum + (unsigned long)local[depth & 63];
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	while (target_ms() < until)
		for (int k = 0; k < 50; k++)
			down(k % 41);
	return 0;
}
