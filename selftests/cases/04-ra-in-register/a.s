# SPDX-License-Identifier: GPL-2.0-only OR MIT
# like a vfork wrapper: the return address is popped into rdi around the system call
	.globl _start, wrap, wrap2, mid
	.text
_start:
	.cfi_startproc
	.cfi_undefined rip
	call mid
	hlt
	.cfi_endproc
mid:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	call wrap
	pop %rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
wrap:
	.cfi_startproc
	pop %rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	mov $39, %eax
	syscall
	push %rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset rip, -8
	ret
	.cfi_endproc
# a thunk that keeps the return address in a callee-saved register over a call
wrap2:
	.cfi_startproc
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rbx
	call wrap
	jmp *%rbx
	.cfi_endproc
