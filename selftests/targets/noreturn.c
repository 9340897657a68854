// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Functions whose last instruction is a call that does not return: the return address belongs
 * to whatever follows, or to nothing. The way back is a longjmp.
 */
#include <setjmp.h>

#include "target.h"

static jmp_buf home;

static __attribute__((noinline, noreturn)) void never(int n)
{
	target_spin(n);
	longjmp(home, 1);
}

/* Each has another frame, and ends in the call. */
static __attribute__((noinline, noreturn)) void last_a(int n)
{
	volatile char room[24];

	room[n % 24] = 1;
	never(n + room[n % 24]);
}

static __attribute__((noinline, noreturn)) void last_b(int n)
{
	volatile char room[200];

	room[n % 200] = 1;
	last_a(n + room[n % 200]);
}

static __attribute__((noinline, noreturn)) void last_c(int n)
{
	last_b(n + 2);
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);
	volatile int k = 0;

	setjmp(home);
	while (target_ms() < until) {
		k++;
		if (k % 3 == 0)
			last_a(2000);
		if (k % 3 == 1)
			last_b(2000);
		last_c(2000);
	}
	return 0;
}
