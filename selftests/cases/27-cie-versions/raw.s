# SPDX-License-Identifier: GPL-2.0-only OR MIT
# CIE versions 1, 3, 4 in .eh_frame; also 2, 5 and a v4 with odd sizes; v1 whose RA byte looks like a LEB128
	.globl _start, v1, v3, v4, v2, v5, v4seg, v4a4, v3big
	.text
_start:	nop
v1:	nop
	nop
v3:	nop
	nop
v4:	nop
	nop
v2:	nop
	nop
v5:	nop
	nop
v4seg:	nop
	nop
v4a4:	nop
	nop
v3big:	nop
	nop
	.macro FDE name, ptr, fn, off
\name:	.long 2f-1f
1:	.long 1b-\ptr
	.long \fn-., 2
	.byte 0, 0x41, 0x0e, \off
	.balign 4, 0
2:
	.endm
	.macro CIE name, head:vararg
\name:	.long 2f-1f
1:	.long 0
	.byte \head
	.byte 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
2:
	.endm
	.section .ehraw,"a",@progbits
eh:	CIE c1, 1, 'z', 'R', 0, 1, 0x78, 16
	FDE e1, c1, v1, 16
	CIE c3, 3, 'z', 'R', 0, 1, 0x78, 0x90, 0     # RA = 16 as a two-byte LEB128
	FDE e3, c3, v3, 24
	CIE c4, 4, 'z', 'R', 0, 8, 0, 1, 0x78, 16    # address_size 8, segment_size 0
	FDE e4, c4, v4, 32
	CIE c2, 2, 'z', 'R', 0, 1, 0x78, 16
	FDE e2, c2, v2, 40
	CIE c5, 5, 'z', 'R', 0, 8, 0, 1, 0x78, 16
	FDE e5, c5, v5, 48
	CIE c6, 4, 'z', 'R', 0, 8, 4, 1, 0x78, 16    # segment_size 4
	FDE e6, c6, v4seg, 56
	CIE c7, 4, 'z', 'R', 0, 4, 0, 1, 0x78, 16    # address_size 4 in a 64-bit file
	FDE e7, c7, v4a4, 64
	CIE c8, 3, 'z', 'R', 0, 0x81, 0, 0xf8, 0x7f, 16  # factors in padded LEB128
	FDE e8, c8, v3big, 72
	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, 0x1b, 3, 0x3b
	.long eh-.
	.long 8
	.long v1-hdr, e1-hdr, v3-hdr, e3-hdr, v4-hdr, e4-hdr, v2-hdr, e2-hdr
	.long v5-hdr, e5-hdr, v4seg-hdr, e6-hdr, v4a4-hdr, e7-hdr, v3big-hdr, e8-hdr
