# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Code and data alignment factors, and the return address column.
	.include "../raw.inc"
	.macro C name, code, data, ra=16, v=1
	CIE \name, \v, 'z', 'R', 0, \code, \data, \ra, 1, 0x1b, 0x0c, 7, 8, 0x80+\ra, 1
	.endm
	C c4, 4, 0x78
	C c0, 0, 0x78
	C cd0, 1, 0
	C cpos, 1, 8				# data factor +8: [CFA+8]
	C cm4, 1, 0x7c				# -4
	C cm1, 1, 0x7f				# -1
	C crbx, 1, 0x78, 3			# the return address is in column 3
	C crbp, 1, 0x78, 6			# ... in FP's own
	C crsp, 1, 0x78, 7			# ... in SP's own
	CIE cbig, 1, 'z', 'R', 0, 0x80, 0x80, 0x04, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1	# code 65536
	CIE cwide, 1, 'z', 'R', 0, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cra200, 1, 'z', 'R', 0, 1, 0x78, 200, 1, 0x1b, 0x0c, 7, 8, 0x05, 0xc8, 1, 1
	F by4, c4, 0x41, 0x0e, 16, 0x86, 2	# advance 1 * 4
	F by0, c0, 0x41, 0x0e, 16
	F d0, cd0, 0x41, 0x0e, 16
	F pos, cpos, 0x41, 0x86, 2, 0x12, 6, 2	# rbp at CFA + 16; def_cfa_sf rbp, 2 * 8
	F m4, cm4, 0x41, 0x86, 4, 0x13, 0x7c	# rbp at CFA - 16; def_cfa_offset_sf -4 * -4
	F m1, cm1, 0x41, 0x86, 16
	F rbx_, crbx, 0x41, 0x83, 3, 0x90, 5	# rip's rule is not the return address's here
	F rbp_, crbp, 0x41, 0x0e, 16
	F rsp_, crsp, 0x41, 0x0e, 16
	F big, cbig, 0x41, 0x0e, 16
	F wide, cwide, 0x41, 0x86, 2		# 2 * -2^63 does not fit
	F ra200, cra200, 0x41, 0x0e, 16
	F good, c4, 0x42, 0x0e, 16
	TABLE
