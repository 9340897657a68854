# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, f, g, h
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
f:	.cfi_startproc
	push %rax
	.cfi_adjust_cfa_offset 8
	pop %rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
g:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	nop
	.ifndef CLEAN
	.cfi_escape 0x26,1
	.endif
	nop
	.cfi_endproc
h:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 24
	ret
	.cfi_endproc
