# SPDX-License-Identifier: GPL-2.0-only OR MIT
# a: one FDE with 100,000 rows; b: one with 2,000,000 no-ops between two rows; c: 60,000 small FDEs
print('\t.globl _start, a, b, last\n\t.text\n_start:\t.cfi_startproc\n\t.cfi_undefined rip\n\thlt\n\t.cfi_endproc')
print('a:\t.cfi_startproc\n\t.rept 50000\n\tpush %rax\n\t.cfi_adjust_cfa_offset 8\n\tpop %rax\n\t.cfi_adjust_cfa_offset -8\n\t.endr\n\tret\n\t.cfi_endproc')
print('b:\t.cfi_startproc\n\tnop\n\t.cfi_def_cfa_offset 16')
for _ in range(20000):
    print('\t.cfi_escape ' + ','.join(['0'] * 100))
print('\t.cfi_def_cfa_offset 24\n\tnop\n\tret\n\t.cfi_endproc')
print('\t.rept 60000\n\t.cfi_startproc\n\tpush %rax\n\t.cfi_adjust_cfa_offset 8\n\tpop %rax\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t.cfi_endproc\n\t.endr')
print('last:\t.cfi_startproc\n\tnop\n\t.cfi_def_cfa_offset 40\n\tret\n\t.cfi_endproc')
