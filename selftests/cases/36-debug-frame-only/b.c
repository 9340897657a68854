// SPDX-License-Identifier: GPL-2.0-only OR MIT
void nmid(int);
extern volatile unsigned long s;
__attribute__((noinline)) void withfde(int n) { for (int i = 0; i < n; i++) nmid(1000000); s++; }
int main(void) { withfde(40); return 0; }
