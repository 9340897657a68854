# SPDX-License-Identifier: GPL-2.0-only OR MIT
# DW_CFA_restore / restore_extended of registers the CIE says nothing of, and of the RA which it does
	.globl _start, f, g
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
f:	.cfi_startproc
	nop
	.cfi_offset rbp, -16
	.cfi_def_cfa_offset 16
	nop
	.cfi_restore rbp
	nop
	.cfi_restore rbx
	.cfi_restore r15
	.cfi_undefined rbp
	nop
	.cfi_escape 0x06,6             # restore_extended rbp
	nop
	.cfi_endproc
g:	.cfi_startproc
	nop
	.cfi_undefined rip
	nop
	.cfi_restore rip
	nop
	.cfi_offset rip, -24
	nop
	.cfi_escape 0x06,16            # restore_extended rip
	nop
	.cfi_endproc
