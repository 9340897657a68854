# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, f, g
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	call f
	hlt
	.cfi_endproc
f:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	call g
	pop %rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.section .text.second,"ax",@progbits
g:	.cfi_startproc
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
