// SPDX-License-Identifier: GPL-2.0-only OR MIT
void _start(void) { for (;;); }
