# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Augmentation strings, what follows them, and the augmentation data of CIE and FDE.
	.include "../raw.inc"
# version, string, code, data, RA, [length, data], instructions
	CIE cnone, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1		# "": absolute pointers
	CIE cz, 1, 'z', 0, 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1		# "z": the same
	CIE ceh, 1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1
	CIE cplr, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cabsp, 1, 'z', 'P', 'R', 0, 1, 0x78, 16, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE culeb, 1, 'z', 'P', 'R', 0, 1, 0x78, 16, 5, 0x01, 0x80, 0x80, 0x01, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cpomit, 1, 'z', 'P', 'R', 0, 1, 0x78, 16, 2, 0xff, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE clong, 1, 'z', 'R', 0, 1, 0x78, 16, 0x86, 0x80, 0, 0x1b, 1, 2, 3, 4, 5, 0x0c, 7, 8, 0x90, 1
	CIE crx, 1, 'z', 'R', 'X', 0, 1, 0x78, 16, 3, 0x1b, 9, 9, 0x0c, 7, 8, 0x90, 1
	CIE cxr, 1, 'z', 'X', 'R', 0, 1, 0x78, 16, 3, 9, 9, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE crs, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE csr, 1, 'z', 'S', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cbg, 1, 'z', 'B', 'G', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cr, 1, 'R', 0, 1, 0x78, 16, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE carm, 1, 'a', 'r', 'm', 'c', 'c', '+', 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1
	CIE cshort, 1, 'z', 'R', 0, 1, 0x78, 16, 0, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cover, 1, 'z', 'R', 0, 1, 0x78, 16, 0x7f, 0x1b, 0x0c, 7, 8, 0x90, 1
	CIE cendless, 1, 'z', 'R', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'
	ZR c
	.macro FABS name, cie, bytes:vararg
	FUNC \name
	ENTRY \name, e_\name
	OPEN e_\name, \cie
	.quad \name, 8
	.byte \bytes
	SHUT
	.endm
	FABS none, cnone, 0x41, 0x0e, 16
	FABS z, cz, 0, 0x41, 0x0e, 16
	FABS eh_, ceh, 0x41, 0x0e, 16
	.macro FLSDA name, cie
	FUNC \name
	ENTRY \name, e_\name
	OPEN e_\name, \cie
	.long \name-., 8
	.byte 4, 1, 2, 3, 4, 0x41, 0x0e, 16
	SHUT
	.endm
	FLSDA plr, cplr
	F absp, cabsp, 0x41, 0x0e, 16
	F uleb, culeb, 0x41, 0x0e, 16
	F pomit, cpomit, 0x41, 0x0e, 16
	F long, clong, 0x41, 0x0e, 16
	F rx, crx, 0x41, 0x0e, 16
	F xr, cxr, 0x41, 0x0e, 16
	F rs, crs, 0x41, 0x0e, 16
	F sr, csr, 0x41, 0x0e, 16
	F bg, cbg, 0x41, 0x0e, 16
	F r_, cr, 0x41, 0x0e, 16
	F arm, carm, 0x41, 0x0e, 16
	F short, cshort, 0x41, 0x0e, 16
	F over, cover, 0x41, 0x0e, 16
	F endless, cendless, 0x41, 0x0e, 16
# 300 bytes of augmentation data in an FDE; a length in padded LEB128; one that reaches too far
	FUNC huge
	ENTRY huge, ehuge
	OPEN ehuge, c
	.long huge-., 8
	.byte 0xac, 2
	.skip 300, 0x0b			# would be restore_state
	.byte 0x41, 0x0e, 24
	SHUT
	FUNC padded
	ENTRY padded, epadded
	OPEN epadded, c
	.long padded-., 8
	.byte 0x82, 0x80, 0x80, 0, 0x0b, 0x0b, 0x41, 0x0e, 24
	SHUT
	FUNC toofar
	ENTRY toofar, etoofar
	OPEN etoofar, c
	.long toofar-., 8
	.byte 0x7f, 0x41, 0x0e, 24
	SHUT
	F good, c, 0x41, 0x0e, 16
	TABLE
