# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.section .eh_frame,"a",@unwind
	.long 0, 0                     # end marker too early (a crtend file in the wrong place)
