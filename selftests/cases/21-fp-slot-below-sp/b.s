# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, f, byfp, bysp
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
f:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov $1, %ebp
	pop %rbp
	.cfi_def_cfa_offset 8
	ret                        # FP rule still [CFA-16] = below rsp
	.cfi_endproc
byfp:	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	call f
	nop
	.cfi_endproc
bysp:	.cfi_startproc
	.cfi_def_cfa_offset 16
	call f
	nop
	.cfi_endproc
