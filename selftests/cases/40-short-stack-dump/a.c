// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 60 levels of about 500 bytes: more than the 8 KiB that perf copies by default, less than 64 KiB */
static volatile unsigned long s;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) s += i * s + 1; }
__attribute__((noinline)) void rec(int d, int n)
{
  volatile char b[480];
  for (int i = 0; i < 480; i += 8) b[i] = d + i;
  if (d) rec(d - 1, n); else leaf(n);
  s += b[(d * 8) % 480];
}
int main(void) { for (int i = 0; i < 40; i++) rec(60, 2000000); return 0; }
