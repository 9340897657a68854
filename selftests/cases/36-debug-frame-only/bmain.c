// SPDX-License-Identifier: GPL-2.0-only OR MIT
void nmid(int);
int main(void) { for (int i = 0; i < 40; i++) nmid(1000000); return 0; }
