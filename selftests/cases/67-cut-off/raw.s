# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Records that end inside something. "F" pads with DW_CFA_nop (0), so these set their length themselves.
	.include "../raw.inc"
	ZR c
	.macro CUT name, bytes:vararg
	FUNC \name
	ENTRY \name, e_\name
	OPEN e_\name, c
	.long \name-., 8
	.byte 0, \bytes
8:	.balign 4, 0x41
	.endm
# the record length has to stay a multiple of 4 for the next to be aligned: pad with no-ops first
	F cfa1, c, 0, 0x41, 0x0c, 7		# filled by nop: def_cfa 7, 0
	CUT cfa2, 0x41, 0x0e, 16, 0x41, 0x0c, 7, 0x80
	CUT reg, 0x41, 0x0e, 16, 0x41, 0, 0, 0x05
	CUT leb, 0x41, 0x0e, 16, 0x41, 0, 0x0e, 0x90
	CUT adv1, 0x41, 0x0e, 16, 0, 0, 0, 0x02
	CUT adv2, 0x41, 0x0e, 16, 0, 0, 0x03, 1
	CUT adv4, 0x41, 0x0e, 16, 0x04, 1, 0, 0
	CUT setloc, 0x41, 0x0e, 16, 0x01, 1, 0, 0
	CUT block, 0x41, 0x0e, 16, 0x41, 0x0f, 9, 0x77
	CUT rblock, 0x41, 0x0e, 16, 0x41, 0x10, 6, 9
	CUT xblock, 0x41, 0x0e, 16, 0x41, 0x10, 3, 9		# rbx: not ours, but as cut off
	CUT inop, 0x41, 0x0e, 16, 0x41, 0x0f, 1, 0x77		# breg7 without its offset
	CUT rinop, 0, 0x41, 0, 0x10, 6, 1, 0x08		# const1u without its byte
	CUT xinop, 0, 0x41, 0, 0x10, 3, 1, 0x08		# the same for rbx: passed over by length
	.macro SHORT name, bytes:vararg
	FUNC \name
	ENTRY \name, e_\name
	OPEN e_\name, c
	\bytes
8:	.balign 4, 0x41
	.endm
	.macro s0
	.endm
	.macro s4
	.long nolen-.
	.endm
	.macro s8
	.long noaug-., 8
	.endm
	SHORT nothing, s0			# an FDE of its CIE pointer only
	SHORT nolen, s4				# no range
	SHORT noaug, s8				# no augmentation length
	F good, c, 0x41, 0x0e, 16
	TABLE
