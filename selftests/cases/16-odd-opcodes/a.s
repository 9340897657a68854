# SPDX-License-Identifier: GPL-2.0-only OR MIT
	.globl _start, args, negext, sf, win, op26, vendor, good
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
# DW_CFA_GNU_args_size between real instructions, with a long LEB operand
args:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_escape 0x2e,16
	nop
	.cfi_escape 0x2e,0xc0,0x80,0x80,0x00
	.cfi_def_cfa_offset 80
	nop
	.cfi_escape 0x2e,0
	nop
	.cfi_endproc
# DW_CFA_GNU_negative_offset_extended rbp 2 : at CFA + 16
negext:	.cfi_startproc
	nop
	.cfi_escape 0x2f,6,2
	nop
	.cfi_endproc
# signed, factored forms and extended forms of everyday rules
sf:	.cfi_startproc
	nop
	.cfi_escape 0x12,6,0x7e        # def_cfa_sf rbp, -2 * -8 = 16
	.cfi_escape 0x11,6,2           # offset_extended_sf rbp, 2 * -8
	nop
	.cfi_escape 0x13,0x7c          # def_cfa_offset_sf -4 * -8 = 32
	.cfi_escape 0x05,6,3           # offset_extended rbp, 3 * -8
	nop
	.cfi_escape 0x0d,7             # def_cfa_register rsp
	.cfi_escape 0x11,6,0x7f        # offset_extended_sf rbp, -1 * -8 = +8
	.cfi_escape 0x04,1,0,0,0       # advance_loc4 1
	.cfi_escape 0x0c,0x87,0x80,0x00,0x88,0x80,0x00   # def_cfa r7, 8 in padded LEB
	nop
	nop
	.cfi_endproc
# 0x2d: window_save on sparc, negate_ra_state on aarch64, nothing on x86-64
win:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	nop
	.cfi_escape 0x2d
	nop
	.cfi_endproc
# an opcode that nobody defines
op26:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	nop
	.cfi_escape 0x26,1
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
vendor:	.cfi_startproc
	.cfi_escape 0x3f
	nop
	.cfi_endproc
good:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
