# SPDX-License-Identifier: GPL-2.0-only OR MIT
# unwinding that goes nowhere
	.globl _start, same, back, leafy, pingA, pingB
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
# the rule finds this very frame again: CFA = rsp+0, RA kept in place
same:	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_same_value rip
	nop
	nop
	.cfi_endproc
# the CFA lies below the stack pointer
back:	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_escape 0x13,0x02          # def_cfa_offset_sf 2 * -8 = -16
	nop
	nop
	.cfi_endproc
# two frames that hand over to each other through a saved rbp that points down again
pingA:	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	nop
	nop
	.cfi_endproc
pingB:	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	nop
	nop
	.cfi_endproc
