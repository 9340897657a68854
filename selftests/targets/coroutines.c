// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Coroutines whose stacks lie in .bss: memory of the program file that is not what the file
 * holds. A reader that takes it from there finds zeros.
 */
#include <ucontext.h>

#include "target.h"

#define NR 4

static char stack[NR][64 << 10] __attribute__((aligned(16)));
static ucontext_t home, context[NR];

static __attribute__((noinline)) void down(int self, int depth)
{
	volatile int d = depth;

	if (d) {
		down(self, d - 1);
	} else {
		target_spin(3000);
		swapcontext(&context[self], &home);
		target_spin(3000);
	}
	target_sum += (unsigned long)d;
}

static void body(int self)
{
	for (int k = 0;; k++)
		down(self, k % 12);
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	for (int k = 0; k < NR; k++) {
		getcontext(&context[k]);
		context[k].uc_stack.ss_sp = stack[k];
		context[k].uc_stack.ss_size = sizeof(stack[k]);
		context[k].uc_link = &home;
		makecontext(&context[k], (void (*)(void))body, 1, k);
	}
	while (target_ms() < until)
		for (int k = 0; k < NR; k++)
			swapcontext(&home, &context[k]);
	return 0;
}
