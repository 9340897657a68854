# SPDX-License-Identifier: GPL-2.0-only OR MIT
# 64-bit entries (0xffffffff + 8-byte length); in .eh_frame the CIE id/pointer stays... see README
	.globl _start, a32, a64, mix, huge, resv, ok
	.text
_start:	nop
a32:	nop
	nop
a64:	nop
	nop
mix:	nop
	nop
ok:	nop
	nop
huge:	nop
	nop
resv:	nop
	nop
	.section .ehraw,"a",@progbits
eh:
c32:	.long 2f-1f
1:	.long 0
	.byte 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
2:
e32:	.long 2f-1f
1:	.long 1b-c32
	.long a32-., 2
	.byte 0, 0x41, 0x0e, 16
	.balign 4, 0
2:
c64:	.long 0xffffffff
	.quad 2f-1f
1:	.quad 0
	.byte 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
2:
e64:	.long 0xffffffff
	.quad 2f-1f
1:	.quad 1b-c64
	.long a64-., 2
	.byte 0, 0x41, 0x0e, 24
	.balign 4, 0
2:
emix:	.long 2f-1f                   # 32-bit FDE with a 64-bit CIE
1:	.long 1b-c64
	.long mix-., 2
	.byte 0, 0x41, 0x0e, 32
	.balign 4, 0
2:
eok:	.long 2f-1f
1:	.long 1b-c32
	.long ok-., 2
	.byte 0, 0x41, 0x0e, 40
	.balign 4, 0
2:
ehuge:	.long 0xffffffff              # 64-bit length that wraps when added
	.quad 0xfffffffffffffff0
1:	.quad 1b-c64
	.long huge-., 2
	.byte 0, 0x41, 0x0e, 48
	.balign 4, 0
eresv:	.long 0xfffffff4              # reserved length
1:	.long 1b-c32
	.long resv-., 2
	.byte 0, 0x41, 0x0e, 56
	.balign 4, 0
	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, 0x1b, 3, 0x3b
	.long eh-.
	.long 6
	.long a32-hdr, e32-hdr, a64-hdr, e64-hdr, mix-hdr, emix-hdr, ok-hdr, eok-hdr, huge-hdr, ehuge-hdr, resv-hdr, eresv-hdr
