# SPDX-License-Identifier: GPL-2.0-only OR MIT
# functions of no bytes (only unreachable code in the source) share their address with the next function
	.section .text.a,"ax",@progbits
	.globl _start, empty1, real1, real2, empty2, tail, empty3
_start:	.cfi_startproc
	.cfi_undefined rip
	call real1
	hlt
	.cfi_endproc
empty1:	.cfi_startproc
	.cfi_endproc
real1:	.cfi_startproc
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	call real2
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
real2:	.cfi_startproc
	push %rax
	.cfi_adjust_cfa_offset 8
	pop %rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
tail:	.cfi_startproc
	nop
	ret
	.cfi_endproc
empty3:	.cfi_startproc          # at the very end
	.cfi_endproc
	.section .text.b,"ax",@progbits
real3:	.cfi_startproc          # here the empty one's FDE comes AFTER the real one's
	nop
	.cfi_def_cfa_offset 40
	nop
	.cfi_endproc
	.globl real3
	.section .text.a2,"ax",@progbits
	.cfi_startproc
	.cfi_endproc
