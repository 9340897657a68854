# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Files whose size makes a naive reader quadratic: gen.py KIND > FILE.s
import sys

kind = sys.argv[1]
print('\t.include "../raw.inc"')
ZR = '1, "z", "R", 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1'.replace('"', "'")


def fde(name, cie, start, length, program):
    print('%s:\t.long 2f-1f\n1:\t.long 1b-%s\n\t.long %s-., %s\n\t.byte 0\n\t%s\n\t.balign 4, 0\n2:'
          % (name, cie, start, length, program))


if kind in ('longcie', 'badcie'):	# every FDE runs a long CIE; one that ends badly is not worth keeping
    print('\tCIE c, %s\n\t.text\nf:\t.skip 20000, 0x90' % ZR)
    print('\t.section .ehraw,"a",@progbits\nlc:\t.long 2f-1f\n1:\t.long 0\n\t.byte %s\n\t.rept 200000\n\t.byte 0x0e, 8\n\t.endr\n\t.byte %s'
          '\n\t.balign 4, 0\n2:' % (ZR, '0, 0' if kind == 'longcie' else '0x3f, 0'))
    for i in range(2000):
        fde('e%d' % i, 'lc', 'f+%d' % i, 1, '.byte 0x0e, 16')
elif kind == 'overlap':		# all of the same range
    print('\tCIE c, %s\n\t.text\nf:\t.skip 40000, 0x90' % ZR)
    print('\t.section .ehraw,"a",@progbits')
    for i in range(40000):
        fde('e%d' % i, 'c', 'f', 40000, '.byte 0x41, 0x0e, 16')
elif kind == 'nested':		# each inside the one before, of many rows
    print('\tCIE c, %s\n\t.text\nf:\t.skip 4000, 0x90' % ZR)
    print('\t.section .ehraw,"a",@progbits')
    for i in range(2000):
        fde('e%d' % i, 'c', 'f+%d' % i, 4000 - 2 * i, '.rept 40\n\t.byte 0x41, 0x0e, 16, 0x41, 0x0e, 24\n\t.endr')
elif kind == 'cies':		# a CIE for every FDE
    print('\t.text\nf:\t.skip 40000, 0x90\n\t.section .ehraw,"a",@progbits')
    for i in range(40000):
        print('\tCIE c%d, %s' % (i, ZR))
        fde('e%d' % i, 'c%d' % i, 'f+%d' % i, 1, '.byte 0x0e, 16')
elif kind == 'equal':		# a table of empty ranges with one start
    print('\tCIE odd, 9, 0\n\tCIE c, %s\n\t.text\n\t.globl f\nf:\t.skip 16, 0x90' % ZR)
    print('\t.section .ehraw,"a",@progbits')
    fde('e', 'c', 'f', 16, '.byte 0x0e, 16')
    for i in range(30000):
        fde('e%d' % i, 'c', 'f', 0, '.byte 0x0e, 24')
    print('\t.section .ehhdr,"a",@progbits\n\t.subsection 1\n\t.long f-hdr, e-hdr')
    for i in range(30000):
        print('\t.long f-hdr, e%d-hdr' % i)
    print('\tTABLE')
elif kind == 'range':		# a range of nearly all addresses, rows at both ends
    print('\tCIE c, 1, \'z\', \'R\', 0, 1, 0x78, 16, 1, 0x1c, 0x0c, 7, 8, 0x90, 1')
    print('\t.text\nf:\t.skip 16, 0x90\n\t.section .ehraw,"a",@progbits')
    print('e:\t.long 2f-1f\n1:\t.long 1b-c\n\t.quad f-., 0x7fffffffffffffff\n\t.byte 0, 0x41, 0x0e, 16, 0x1d\n'
          '\t.quad 0x7ffffffffffffff0\n\t.byte 0x0e, 24, 0x41, 0x0e, 32\n\t.balign 8, 0\n2:')
