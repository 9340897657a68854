# SPDX-License-Identifier: GPL-2.0-only OR MIT
# FDEs without a single instruction of their own (tail-jump thunks), FDE of one byte, and a gap between two FDEs
	.globl _start, thunk, one, after, gap
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
thunk:	.cfi_startproc
	mov %rsi, %rdx
	jmp after
	.cfi_endproc
one:	.cfi_startproc
	ret
	.cfi_endproc
gap:	.skip 7, 0x90
after:	.cfi_startproc
	nop
	ret
	.cfi_endproc
