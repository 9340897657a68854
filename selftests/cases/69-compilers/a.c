// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Frames that are realigned, of variable size, or both, as other compilers than 64-bit gcc make them.
void use(void *);
__attribute__((noinline)) void use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

__attribute__((noinline)) int realigned(int n)
{
	char buf[64] __attribute__((aligned(64)));

	use(buf);
	return buf[n];
}

__attribute__((noinline)) int both(int n)
{
	char buf[64] __attribute__((aligned(64)));
	char *p = __builtin_alloca(n);

	use(buf);
	use(p);
	return buf[n] + p[0];
}

void _start(void)
{
	realigned(1);
	both(2);
	for (;;)
		;
}
