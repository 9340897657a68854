# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Locations: set_loc in other encodings, and advances at the edges. "S" has pointers of 8 bytes.
	.include "../raw.inc"
	ZR c
	CIE cabs, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1
	CIE c4, 1, 'z', 'R', 0, 4, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.macro S name, to, off
	FUNC \name
	ENTRY \name, e_\name
	OPEN e_\name, cabs
	.quad \name, 8
	.byte 0, 0x01
	.quad \to
	.byte 0x0e, \off
	SHUT
	.endm
	S absloc, absloc+4, 16
	S sameloc, sameloc, 16			# no move: the later rule counts
	S endloc, endloc+8, 16			# to the end
	S pastloc, pastloc+0x1000, 16
	S backloc, backloc-1, 16
	S zeroloc, 0, 16
	S toploc, 0xffffffffffffffff, 16
	FUNC unaligned
	ENTRY unaligned, e_unaligned
	OPEN e_unaligned, c4
	.long unaligned-., 8
	.byte 0, 0x41, 0x0e, 16, 0x01		# +4, then set_loc to +6: no multiple of 4
	.long unaligned+6-.
	.byte 0x0e, 24, 0x41, 0x0e, 32
	SHUT
	F zeros, c, 0x40, 0x40, 0x02, 0, 0x0e, 16, 0x40, 0x0e, 24
	F lastbyte, c, 0x47, 0x0e, 16, 0x41, 0x0e, 24
	F adv8, c, 0x42, 0x0e, 16, 0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0e, 24
	F badend, c, 0x48, 0x3f			# an unknown opcode that is never reached
	F cutend, c, 0x48, 0, 0, 0, 0, 0x0e
	F setcie, c, 0
	TABLE
