# SPDX-License-Identifier: GPL-2.0-only OR MIT
# three spellings of "outermost frame": undefined from the first byte, only after the first instruction
# (endbr64 in front of it), and a zero return address
	.globl _start, entry2, entry3, f, thread
	.text
_start:	.cfi_startproc
	endbr64
	.cfi_undefined rip
	xor %ebp, %ebp
	call f
	hlt
	.cfi_endproc
entry2:	.cfi_startproc
	.cfi_undefined rip
	call f
	hlt
	.cfi_endproc
entry3:	.cfi_startproc          # no undefined: the stack top holds 0
	call f
	hlt
	.cfi_endproc
entry4:	call f                  # no CFI at all
	hlt
f:	.cfi_startproc
	nop
	ret
	.cfi_endproc
