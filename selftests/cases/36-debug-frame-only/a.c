// SPDX-License-Identifier: GPL-2.0-only OR MIT
volatile unsigned long s;
__attribute__((noinline)) void nleaf(int n) { for (int i = 0; i < n; i++) s += i * s + 1; }
__attribute__((noinline)) void nmid(int n) { unsigned char b[96]; for (int i = 0; i < 96; i++) b[i] = n + i; nleaf(n); s += b[n & 63]; }
