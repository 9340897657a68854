# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, f, nest, at0
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
# restore_state brings back CFA and registers, but not the location
f:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	sub $48, %rsp
	.cfi_def_cfa_offset 64
	.cfi_remember_state
	add $48, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_restore rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
	nop
	.cfi_remember_state
	add $48, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_restore rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
	nop
	ret
	.cfi_endproc
# nested two and three deep, pops not next to their pushes; one left over at the end (allowed)
nest:	.cfi_startproc
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 16
	.cfi_remember_state
	nop
	.cfi_def_cfa rbp, 32
	.cfi_offset rbp, -32
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 48
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
	.cfi_remember_state
	ret
	.cfi_endproc
# remember before the first advance
at0:	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	nop
	.cfi_restore_state
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 8
	nop
	.cfi_restore_state
	ret
	.cfi_endproc
