# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Where an FDE's CIE pointer may lead. It is a distance back from the pointer itself.
	.include "../raw.inc"
	ZR c0
	ZR c1
	CIE c16, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 16, 0x90, 1
	F far, c0, 0x41, 0x0e, 24
	F back, c16, 0x41, 0x0e, 24		# an earlier CIE than the nearest one
	F again, c1, 0x41, 0x0e, 24
	.macro FID name, id
	FUNC \name
	ENTRY \name, e_\name
	.section .ehraw,"a",@progbits
e_\name: .long 8f-7f
7:	.long \id
	.long \name-., 8
	.byte 0, 0x41, 0x0e, 24
	SHUT
	.endm
	FID forward, 7b-clate			# negative: the CIE comes later
	FID itself, 4				# its own length field
	FID another, 7b-e_far			# an FDE
	FID inside, 7b-c0-8			# the middle of a CIE
	FID before, 0x7ffffffc			# before the section
	FID wraps, 0xfffffffc
	FID theend, 7b-nothing			# a word of zero in a CIE
	ZR clate
	F good, clate, 0x41, 0x0e, 16
	.section .ehraw,"a",@progbits
	TABLE
	.set nothing, c0+20
