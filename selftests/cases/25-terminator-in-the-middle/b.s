# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl g
	.text
g:	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
