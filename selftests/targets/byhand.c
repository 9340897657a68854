// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Calls the frames of byhand.S.
 */
#include "target.h"

long by_rbx(void (*work)(int), int n);
long by_load(void (*work)(int), int n);
long by_reg(void (*work)(int), int n);
long by_push(void (*work)(int), int n);

static void work(int n)
{
	target_spin(n);
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	while (target_ms() < until)
		for (int k = 0; k < 20; k++) {
			by_rbx(work, 300);
			by_load(work, 300);
			by_reg(work, 0);
			by_push(work, 0);
		}
	return 0;
}
