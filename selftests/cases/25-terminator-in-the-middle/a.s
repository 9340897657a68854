# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, f
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	call f
	hlt
	.cfi_endproc
f:	.cfi_startproc
	push %rax
	.cfi_adjust_cfa_offset 8
	call g
	pop %rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
