# SPDX-License-Identifier: GPL-2.0-only OR MIT
# s390x: CFA = r15 + 160 on entry, RA in r14, callee-saved GPRs parked in floating-point registers (ldgr)
	.globl _start, leaf, fpr, normal, alloc, dyn
	.text
_start:	.cfi_startproc
	.cfi_undefined r14
	aghi %r15,-160
	.cfi_adjust_cfa_offset 160
	brasl %r14, normal
	j .
	.cfi_endproc
leaf:	.cfi_startproc               # nothing saved: RA stays in r14
	lgr %r2,%r3
	br %r14
	.cfi_endproc
fpr:	.cfi_startproc               # r14 -> f0, r15 -> f2, r11 -> f4
	ldgr %f4,%r11
	.cfi_register 11, 18         # f4: by number, see README
	ldgr %f2,%r15
	.cfi_register 15, 17         # f2
	ldgr %f0,%r14
	.cfi_register 14, 16         # f0
	lgr %r11,%r15
	.cfi_def_cfa_register r11
	lghi %r14,5
	lghi %r15,7
	lgdr %r15,%f2
	.cfi_restore r15
	.cfi_def_cfa_register r15
	lgdr %r11,%f4
	.cfi_restore r11
	lgdr %r14,%f0
	.cfi_restore r14
	br %r14
	.cfi_endproc
normal:	.cfi_startproc
	stmg %r11,%r15,88(%r15)
	.cfi_rel_offset r11, 88
	.cfi_rel_offset r12, 96
	.cfi_rel_offset r13, 104
	.cfi_rel_offset r14, 112
	.cfi_rel_offset r15, 120
	lay %r15,-200(%r15)
	.cfi_adjust_cfa_offset 200
	lgr %r11,%r15
	.cfi_def_cfa_register r11
	brasl %r14, leaf
	lmg %r11,%r15,288(%r11)
	.cfi_restore r15
	.cfi_restore r14
	.cfi_restore r13
	.cfi_restore r12
	.cfi_restore r11
	.cfi_def_cfa r15, 160
	br %r14
	.cfi_endproc
names:	.cfi_startproc               # the same with register names: GNU as counts f2 = 18, f4 = 20, the ABI f2 = 17, f4 = 18
	ldgr %f4,%r11
	.cfi_register r11, f4
	lgdr %r11,%f4
	.cfi_restore r11
	br %r14
	.cfi_endproc
	.globl names
