// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gcc does not say that rbp is restored after its pop: the rule stays [CFA-N] although that slot is now below rsp */
static long g0(long a) { return a * 3 + 1; }
long (*volatile gp)(long) = g0;
__attribute__((noinline, noclone)) long f(long a, long b, long c)
{
  long x = gp(a), y = gp(b), z = gp(c);
  return gp(x + y * z + b) + x;
}
int main(int c, char **v) { return (int) f(c, c + 1, c + 2); }
