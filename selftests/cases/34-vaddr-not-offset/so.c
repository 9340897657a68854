// SPDX-License-Identifier: GPL-2.0-only OR MIT
static volatile unsigned long s;
__attribute__((noinline)) void so_leaf(int n) { for (int i = 0; i < n; i++) s += i * s + 1; }
void so_mid(int n) { so_leaf(n); s++; so_leaf(n / 2); s++; }
