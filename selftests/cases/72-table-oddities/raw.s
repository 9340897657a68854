# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Search tables that are wrong, one kind a file (N).
	.include "../raw.inc"
	.macro G name, off
	FUNC \name
	OPEN e_\name, c
	.long \name-., 8
	.byte 0, 0x41, 0x0e, \off
	SHUT
	.endm
	.macro EMPTY name, at
	OPEN \name, c
	.long \at-., 0
	.byte 0, 0x0e, 64
	SHUT
	.endm
	ZR c
	CIE odd, 9, 0				# ld.bfd drops empty ranges from what it understands
	G f, 16
	G g, 24
	G h, 32
	FUNC tail
	EMPTY zero1, g
	EMPTY zero2, g
	OPEN e_big, c
	.long f-., 0x7fffffff			# as long as a range can be
	.byte 0, 0x0e, 72
	SHUT
	.long 0
	.section .ehhdr,"a",@progbits
hdr:	.if N == 1
	.byte 2, 0x1b, 3, 0x3b			# 1: version 2
	.else
	.byte 1, 0x1b, 3, 0x3b
	.endif
	.if N == 2
	.long eh+16-.				# 2: .eh_frame is elsewhere
	.else
	.long eh-.
	.endif
	.if N == 3
	.long 1000				# 3: more entries than there is room for
	.elseif N == 4
	.long -1				# 4: ... than there can be
	.else
	.long (9f-7f)/8
	.endif
7:	.if N == 5				# 5: not sorted
	.long g-hdr, e_g-hdr, f-hdr, e_f-hdr, h-hdr, e_h-hdr
	.elseif N == 6				# 6: an entry whose FDE is another's
	.long f-hdr, e_f-hdr, g-hdr, e_f-hdr, h-hdr, e_h-hdr
	.elseif N == 7				# 7: entries that lead to a CIE, out of the section
	.long f-hdr, c-hdr, g-hdr, 0x7fffffff, h-hdr, e_h-hdr
	.elseif N == 8				# 8: empty ranges with the same start, before and behind
	.long f-hdr, e_f-hdr, g-hdr, zero1-hdr, g-hdr, e_g-hdr, g-hdr, zero2-hdr, h-hdr, e_h-hdr
	.elseif N == 9				# 9: an FDE over everything that follows
	.long f-hdr, e_big-hdr, h-hdr, e_h-hdr
	.else
	.long f-hdr, e_f-hdr, g-hdr, e_g-hdr, h-hdr, e_h-hdr
	.endif
9:
