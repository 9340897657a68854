# SPDX-License-Identifier: GPL-2.0-only OR MIT
# one CIE per FDE pointer encoding
	.globl _start, abs, udata4, udata8, pcs8, pcu4, sdata2, textrel, datarel, aligned, indirect, omit, bad5, ulebp, ok
	.text
_start:	nop
	.irp s, abs, udata4, udata8, pcs8, pcu4, sdata2, textrel, datarel, aligned, indirect, omit, bad5, ulebp, ok
\s:	.skip 4, 0x90
	.endr
	.macro CF name, enc, off, body:vararg
c\name:	.long 2f-1f
1:	.long 0
	.byte 1, 'z', 'R', 0, 1, 0x78, 16, 1, \enc, 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
2:
e\name:	.long 2f-1f
1:	.long 1b-c\name
	\body
	.byte 0, 0x41, 0x0e, \off
	.balign 4, 0
2:
	.endm
	.section .ehraw,"a",@progbits
eh:
	.macro b1
	.quad abs, 4
	.endm
	CF 1, 0x00, 16, b1
	.macro b2
	.long udata4, 4
	.endm
	CF 2, 0x03, 24, b2
	.macro b3
	.quad udata8, 4
	.endm
	CF 3, 0x04, 32, b3
	.macro b4
	.quad pcs8-., 4
	.endm
	CF 4, 0x1c, 40, b4
	.macro b5
	.long pcu4-.                   # negative distance in an unsigned field: 0x1_00xx_xxxx, must wrap to 32 bits or be refused
	.long 4
	.endm
	CF 5, 0x13, 48, b5
	.macro b6
	.short 0x1000, 4               # sdata2 absolute: 0x1000, not one of ours
	.endm
	CF 6, 0x0a, 56, b6
	.macro b7
	.long textrel-_start, 4
	.endm
	CF 7, 0x2b, 64, b7
	.macro b8
	.long -0xfe3, 4                # datarel - 0x402000 (where raw.lds puts .eh_frame_hdr)
	.endm
	CF 8, 0x3b, 72, b8
	.macro b9
	.balign 8, 0
	.quad aligned, 4
	.endm
	CF 9, 0x50, 80, b9
	.macro b10
	.long ptr-., 4
	.endm
	CF 10, 0x9b, 88, b10
	CF 11, 0xff, 96, nop
	.macro b12
	.long bad5-., 4
	.endm
	CF 12, 0x15, 104, b12
	.macro b13
	.uleb128 0x401031
	.uleb128 4
	.endm
	CF 13, 0x01, 112, b13
	.macro b14
	.long ok-., 4
	.endm
	CF 14, 0x1b, 120, b14
	.long 0
	.balign 8
ptr:	.quad indirect
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, 0x1b, 3, 0x3b
	.long eh-.
	.long 14
	.long abs-hdr, e1-hdr, udata4-hdr, e2-hdr, udata8-hdr, e3-hdr, pcs8-hdr, e4-hdr, pcu4-hdr, e5-hdr
	.long sdata2-hdr, e6-hdr, textrel-hdr, e7-hdr, datarel-hdr, e8-hdr, aligned-hdr, e9-hdr, indirect-hdr, e10-hdr
	.long omit-hdr, e11-hdr, bad5-hdr, e12-hdr, ulebp-hdr, e13-hdr, ok-hdr, e14-hdr
