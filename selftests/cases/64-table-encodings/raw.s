# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The three encodings of .eh_frame_hdr: .eh_frame's address (FRAME), the count (COUNT), the table (ENC).
	.ifndef COUNT
	.set COUNT, 3
	.endif
	.ifndef FRAME
	.set FRAME, 0x1b
	.endif
	.include "../raw.inc"
	.macro G name, off
	FUNC \name
	OPEN e_\name, c
	.long \name-., 8
	.byte 0, 0x41, 0x0e, \off
	SHUT
	.endm
	ZR c
	G f, 16
	FUNC gap
	G g, 24
	G h, 32
	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.byte 1, FRAME, COUNT, ENC
	.if FRAME == 0x00 || FRAME == 0x04
	.quad eh
	.elseif FRAME == 0x03
	.long eh
	.elseif FRAME == 0x1b
	.long eh-.
	.elseif FRAME == 0x1c
	.quad eh-.
	.elseif FRAME == 0x3b
	.long eh-hdr
	.endif
	.if COUNT == 0x00 || COUNT == 0x04 || COUNT == 0x0c
	.quad 3
	.elseif COUNT == 0x01
	.byte 0x83, 0x80, 0
	.elseif COUNT == 0x02
	.short 3
	.else
	.long 3
	.endif
	.macro E start, fde
	.if ENC == 0x3b || ENC == 0x33
	.long \start-hdr, \fde-hdr
	.elseif ENC == 0x3c
	.quad \start-hdr, \fde-hdr
	.elseif ENC == 0x1b
	.long \start-., \fde-.
	.elseif ENC == 0x03
	.long \start, \fde
	.elseif ENC == 0x04 || ENC == 0x00
	.quad \start, \fde
	.elseif ENC == 0x3a
	.short \start-hdr, \fde-hdr
	.else
	.byte 1, 1
	.endif
	.endm
	E f, e_f
	E g, e_g
	E h, e_h
