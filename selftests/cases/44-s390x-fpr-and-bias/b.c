// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>
#ifdef SOFT
void _exit(int);
#endif
__attribute__((noinline, noclone)) long few(long a, long b, long c, long d, long e, long *p)
{ /* gcc -O2 -march=z10 and later may park r12..r15 in FPRs in leaf functions with high register pressure */
  long s = 0; for (long i = 0; i < a; i++) { s += p[i] * b; s ^= c << (i & 7); s -= d * p[i ^ 1]; s += e; b += s & 3; c ^= b; d += c; e -= d; p[i] = s; }
  return s + b + c + d + e;
}
__attribute__((noinline, noclone)) long frame(long n, long *p) { long x[40]; memset(x, n, sizeof x); return few(n, 1, 2, 3, 4, x) + few(n, 4, 3, 2, 1, p); }
int main(int c, char **v) { long q[64]; memset(q, c, sizeof q); return (int) frame(c, q); }
