# SPDX-License-Identifier: GPL-2.0-only OR MIT
# AArch64: the return address is in x30, perhaps signed; code alignment 4, data alignment -8.
	.arch armv8.3-a
	.globl _start, leaf, frame, signed, twice, x15ra, nochain
	.text
_start:	.cfi_startproc
	.cfi_undefined x30
	mov x29, #0
	bl frame
	b .
	.cfi_endproc
leaf:	.cfi_startproc
	add x0, x0, #1
	ret
	.cfi_endproc
frame:	.cfi_startproc
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov x29, sp
	bl leaf
	ldp x29, x30, [sp], #32
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
signed:	.cfi_startproc
	paciasp
	.cfi_negate_ra_state
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov x29, sp
	.cfi_def_cfa_register x29
	.cfi_remember_state
	bl leaf
	ldp x29, x30, [sp], #16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa sp, 0
	autiasp
	.cfi_negate_ra_state
	ret
	.cfi_restore_state
	bl leaf
	.cfi_endproc
// 0x2d twice is not signed, 0x2c counts as well
twice:	.cfi_startproc
	nop
	.cfi_escape 0x2d
	nop
	.cfi_escape 0x2c
	nop
	.cfi_escape 0x2c
	nop
	.cfi_endproc
x15ra:	.cfi_startproc
	.cfi_return_column 15
	.cfi_register x15, x16
	nop
	.cfi_endproc
bkey:	.cfi_startproc
	.cfi_b_key_frame
	pacibsp
	.cfi_negate_ra_state
	nop
	.cfi_endproc
	.globl bkey
// a return address with a signature on top of its 48 bits
	.globl sra, sra_start
	.set sra, frame + 0xc + (0x2a << 48)
	.set sra_start, _start + 8 + (0x7d << 48)
