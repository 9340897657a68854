# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, setloc, back, over, big, wrap, same, ok
	.text
_start:	nop
	.irp s, setloc, back, over, big, wrap, same, ok
\s:	.skip 8, 0x90
	.endr
	.macro FDE name, fn, ins:vararg
\name:	.long 2f-1f
1:	.long 1b-c0
	.long \fn-., 8
	.byte 0
	\ins
	.balign 4, 0
2:
	.endm
	.section .ehraw,"a",@progbits
eh:
c0:	.long 2f-1f
1:	.long 0
	.byte 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
2:
	.macro i1
	.byte 0x01                     # set_loc with the FDE's encoding: pcrel sdata4
	.long setloc+4-.
	.byte 0x0e, 16
	.endm
	.macro i2
	.byte 0x44, 0x0e, 16, 0x01     # to +4, then back to +2
	.long back+2-.
	.byte 0x0e, 24
	.endm
	.macro i3
	.byte 0x44, 0x0e, 16, 0x46, 0x0e, 24, 0x0e, 32  # second advance goes past the end
	.endm
	.macro i4
	.byte 0x42, 0x0e, 16, 0x04
	.long 0x7fffffff
	.byte 0x0e, 24
	.endm
	.macro i5
	.byte 0x42, 0x0e, 16, 0x04
	.long 0xfffffffe               # would wrap back in 32 bits
	.byte 0x0e, 24
	.endm
	.macro i6
	.byte 0x42, 0x0e, 16, 0x40, 0x0e, 24, 0x02, 0, 0x0e, 32, 0x42, 0x0e, 40   # advances of 0
	.endm
	.macro i7
	.byte 0x42, 0x0e, 48
	.endm
	FDE e1, setloc, i1
	FDE e2, back, i2
	FDE e3, over, i3
	FDE e4, big, i4
	FDE e5, wrap, i5
	FDE e6, same, i6
	FDE e7, ok, i7
	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, 0x1b, 3, 0x3b
	.long eh-.
	.long 7
	.long setloc-hdr, e1-hdr, back-hdr, e2-hdr, over-hdr, e3-hdr, big-hdr, e4-hdr, wrap-hdr, e5-hdr, same-hdr, e6-hdr, ok-hdr, e7-hdr
