# SPDX-License-Identifier: GPL-2.0-only OR MIT
# own hand-written form with fixed offsets: realigned frame, CFA kept at -24(%rbp)
	.globl _start, drap, leaf
	.text
_start:
	.cfi_startproc
	.cfi_undefined rip
	call drap
	hlt
	.cfi_endproc
drap:
	.cfi_startproc
	lea 8(%rsp), %r10
	.cfi_def_cfa r10, 0
	and $-64, %rsp
	pushq -8(%r10)
	push %rbp
	mov %rsp, %rbp
	.cfi_escape 0x10,6,2,0x76,0            # rbp saved at (rbp+0)
	push %rbx
	push %rax
	push %r10
	.cfi_escape 0x0f,3,0x76,0x68,0x06      # CFA = *(rbp-24)
	call leaf
	pop %r10
	.cfi_def_cfa r10, 0
	pop %rax
	pop %rbx
	pop %rbp
	.cfi_same_value rbp
	lea -8(%r10), %rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
leaf:	.cfi_startproc
	nop
	ret
	.cfi_endproc
