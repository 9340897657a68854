# SPDX-License-Identifier: GPL-2.0-only OR MIT
# a language runtime leaves its own stack for the C stack; the CFA is kept in rbx, or is read from a
# structure; the caller's frame lies at a LOWER address than the callee's
	.globl _start, ml_fun, ml_fun2, cfun
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	call ml_fun
	hlt
	.cfi_endproc
ml_fun:	.cfi_startproc
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	mov %rsp, %rbx
	.cfi_remember_state
	.cfi_def_cfa_register rbx
	mov 64(%r14), %rsp
	call cfun
	mov %rbx, %rsp
	.cfi_restore_state
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
# the old stack pointer saved in a context block whose address is on the new stack
ml_fun2: .cfi_startproc
	mov %rsp, %rax
	mov 64(%r14), %rsp
	push %rax
	.cfi_escape 0x0f,5,0x77,0,0x06,0x23,8       # CFA = *(rsp) + 8
	call cfun
	pop %rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
cfun:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	pop %rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
