# SPDX-License-Identifier: GPL-2.0-only OR MIT
# `outer` ends with a call that never returns: its return address is the first byte of `next`, whose
# frame looks quite different; `last` ends where no FDE follows at all
	.globl _start, outer, next, stop, last
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	call outer
	hlt
	.cfi_endproc
outer:	.cfi_startproc
	sub $40, %rsp
	.cfi_adjust_cfa_offset 40
	call stop
	.cfi_endproc
next:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	pop %rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
stop:	.cfi_startproc
	jmp stop
	.cfi_endproc
last:	.cfi_startproc
	push %rax
	.cfi_adjust_cfa_offset 8
	call stop
	.cfi_endproc
