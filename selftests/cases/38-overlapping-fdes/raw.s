# SPDX-License-Identifier: GPL-2.0-only OR MIT
# a big FDE over everything, smaller ones inside it, two for the same range, and a dead one at address 0 (what remains of a
# function that the linker threw away)
	.globl _start, big, inner, dup, tail, after
	.text
_start:	nop
big:	.skip 8, 0x90
inner:	.skip 4, 0x90
dup:	.skip 4, 0x90
tail:	.skip 8, 0x90
after:	.skip 4, 0x90
	.macro FDE name, start, len, off
\name:	.long 2f-1f
1:	.long 1b-c0
	.long \start-., \len
	.byte 0, 0x0e, \off
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
	FDE ebig, big, 24, 16
	FDE einner, inner, 4, 24
	FDE edup1, dup, 4, 32
	FDE edup2, dup, 4, 40
edead:	.long 2f-1f
1:	.long 1b-c0
	.long -0x402034-(.-eh), 0x2000000    # start 0 ... covers the whole program on paper (dead function, huge length)
	.byte 0, 0x0e, 96
	.balign 4, 0
2:
	FDE eafter, after, 4, 56
	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, 0x1b, 3, 0x3b
	.long eh-.
	.long 5
	.long big-hdr, ebig-hdr
	.long inner-hdr, einner-hdr
	.long dup-hdr, edup1-hdr
	.long dup-hdr, edup2-hdr
	.long after-hdr, eafter-hdr
