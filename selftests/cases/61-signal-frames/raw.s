# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A trampoline as glibc's __restore_rt: its FDE starts one byte early, so that pc - 1 finds it.
# The registers are in the frame: mcontext at rsp + 40, rbp at 120, rbx at 128, rsp at 160, rip at 168.
	.include "../raw.inc"
	ZR c
	CIE cs, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b
	FUNC handler
	ENTRY handler, ehandler
	OPEN ehandler, c
	.long handler-., 8
	.byte 0
	SHUT
	FUNC pad
	.text
	.globl restore
restore: .skip 9, 0x90
	ENTRY restore-1, erestore
	OPEN erestore, cs
	.long restore-1-., 10
	.byte 0
	.byte 0x0f, 4, 0x77, 0xa0, 0x01, 0x06			# CFA = *(rsp+160)
	.byte 0x10, 6, 3, 0x77, 0xf8, 0				# rbp at rsp+120
	.byte 0x10, 7, 3, 0x77, 0xa0, 1				# rsp
	.byte 0x10, 16, 3, 0x77, 0xa8, 1			# rip
	SHUT
	F first, c, 0x41, 0x0e, 16		# interrupted at its first instruction
	F inrbx, c, 0x0c, 3, 16			# CFA = rbx + 16: known through the frame
	F user, c, 0x0e, 32
	F outer, c, 0x07, 16
	TABLE
