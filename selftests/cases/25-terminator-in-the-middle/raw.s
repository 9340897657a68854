# SPDX-License-Identifier: GPL-2.0-only OR MIT
# hand-made .eh_frame and .eh_frame_hdr; zero words at the start (padding), between the FDEs and at the end.
# The table knows both functions.
	.globl _start, f, g
	.text
_start:	nop
f:	nop
	nop
g:	nop
	nop
	.section .ehraw,"a",@progbits
eh:	.long 0, 0, 0, 0               # padding in front
c:	.long 1f-0f
0:	.long 0
	.byte 1
	.asciz "zR"
	.byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
1:
ff:	.long 1f-0f
0:	.long 0b-c
	.long f-., 2
	.byte 0, 0x41, 0x0e, 16
	.balign 4, 0
1:
	.long 0                        # terminator in the middle
fg:	.long 1f-0f
0:	.long 0b-c
	.long g-., 2
	.byte 0, 0x41, 0x0e, 24
	.balign 4, 0
1:	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, 0x1b, 3, 0x3b
	.long eh-.
	.long 2
	.long f-hdr, ff-hdr
	.long g-hdr, fg-hdr
