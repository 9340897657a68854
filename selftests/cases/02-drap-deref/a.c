// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <string.h>
#include <alloca.h>
/* over-aligned locals and a variable part: gcc keeps the incoming argument pointer (DRAP) and saves it
   at a fixed place off rbp; the CFA is then read from memory. */
__attribute__((noinline, noclone)) long work(char *p, int n) { long s = 0; while (n--) s = s * 31 + *p++; return s; }
__attribute__((noinline, noclone)) long big(int n, long a, long b, long c, long d, long e, long f, long g)
{
  char x[64] __attribute__((aligned(64)));
  char *y = alloca(n);
  memset(x, n, 64); memset(y, n, n);
  return work(x, 64) + work(y, n) + a + b + c + d + e + f + g;
}
int main(int c, char **v) { return (int) big(c * 16, 1, 2, 3, 4, 5, 6, c); }
