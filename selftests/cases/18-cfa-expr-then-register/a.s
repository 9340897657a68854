# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, ok, badreg, badoff, back, good
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
# expression, then a full def_cfa: fine, the expression is forgotten
ok:	.cfi_startproc
	nop
	.cfi_escape 0x0f,3,0x77,8,6
	nop
	.cfi_escape 0x0c,7,24
	nop
	.cfi_escape 0x0e,32
	nop
	.cfi_endproc
# expression, then only a register or only an offset: invalid
badreg:	.cfi_startproc
	nop
	.cfi_escape 0x0f,3,0x77,8,6
	nop
	.cfi_escape 0x0d,6
	nop
	.cfi_endproc
badoff:	.cfi_startproc
	nop
	.cfi_escape 0x0f,3,0x77,8,6
	nop
	.cfi_escape 0x0e,16
	nop
	.cfi_endproc
# restore_state brings back register+offset after an expression
back:	.cfi_startproc
	nop
	.cfi_remember_state
	.cfi_escape 0x0f,3,0x77,8,6
	nop
	.cfi_restore_state
	.cfi_escape 0x0e,16
	nop
	.cfi_endproc
good:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
