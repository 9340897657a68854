# SPDX-License-Identifier: GPL-2.0-only OR MIT
# two epilogues in one function, the first not bracketed by remember/restore: the running offset of the
# second one starts from 8 and ends below zero
	.globl _start, helper, target
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	call helper
	hlt
	.cfi_endproc
helper:	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	sub $136, %rsp
	.cfi_adjust_cfa_offset 136
	call target
	test %eax, %eax
	jne 1f
	add $136, %rsp
	.cfi_adjust_cfa_offset -136
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
1:	nop                       # here the frame is still 152 bytes, the CFI says 8
	add $136, %rsp
	.cfi_adjust_cfa_offset -136
	pop %rbp
	.cfi_adjust_cfa_offset -8
	jmp target
	.cfi_endproc
target:	.cfi_startproc
	ret
	.cfi_endproc
