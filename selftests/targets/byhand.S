/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Frames by hand for byhand.c (x86-64): a CFA in a callee-saved register, one loaded from the
 * stack, a return address kept in a register, and pushes in the middle of a loop.
 */
	.text
	.globl	by_rbx, by_load, by_reg, by_push

/* long by_X(void (*work)(int), int n): calls work(n) */
by_rbx:	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register rbx
	mov	%rdi, %rax
	mov	%esi, %edi
	and	$-64, %rsp
	mov	$400, %ecx
1:	dec	%ecx			/* topmost: rbx is known here */
	jnz	1b
	mov	%rbx, %rsp
	.cfi_def_cfa_register rsp
	sub	$16, %rsp
	.cfi_adjust_cfa_offset 16
	call	*%rax
	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
	.cfi_endproc

by_load: .cfi_startproc
	mov	%rsp, %rax
	.cfi_def_cfa_register rax
	sub	$256, %rsp
	and	$-64, %rsp
	mov	%rax, 24(%rsp)
	/* CFA = *(rsp + 24) + 8 */
	.cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8
	mov	%rdi, %rax
	mov	%esi, %edi
	call	*%rax
	mov	$400, %ecx
1:	dec	%ecx
	jnz	1b
	mov	24(%rsp), %rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc

by_reg:	.cfi_startproc
	pop	%rdx
	.cfi_def_cfa_offset 0
	.cfi_register rip, rdx
	mov	$400, %ecx
1:	dec	%ecx
	jnz	1b
	push	%rdx
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	ret
	.cfi_endproc

by_push: .cfi_startproc
	mov	$100, %ecx
1:	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	dec	%ecx
	jnz	1b
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
