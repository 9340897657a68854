// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern void sysexit(void);
__attribute__((noinline)) long f(long a, long *p) { volatile long x[20]; for (long i = 0; i < a; i++) x[i % 20] = p[i]; return x[3]; }
void _start(void) { long q[4] = {1, 2, 3, 4}; f(4, q); __asm__ volatile("mov $60,%eax; xor %edi,%edi; syscall"); __builtin_unreachable(); }
