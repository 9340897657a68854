// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
static volatile unsigned long s;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) s += i * s + 1; }
__attribute__((noinline)) void mid(int n) { unsigned char b[200]; for (int i = 0; i < 200; i++) b[i] = n + i; leaf(n); s += b[n & 127]; }
__attribute__((noinline)) void top(int n) { for (int i = 0; i < n; i++) mid(2000000); s++; }
int main(void) { top(60); printf("%lu\n", s); return 0; }
