# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Files that lack something, made from a whole one: change.py FILE OUTPUT-FOLDER
import struct
import sys

src, out = sys.argv[1:]
whole = open(src, 'rb').read()
phoff, shoff = struct.unpack_from('<QQ', whole, 32)
phnum, = struct.unpack_from('<H', whole, 56)


def write(name, data):
    with open(out + '/' + name, 'wb') as f:
        f.write(data)


def patched(*changes):
    d = bytearray(whole)
    for fmt, at, value in changes:
        struct.pack_into(fmt, d, at, value)
    return d


def phdrs(kind):
    for i in range(phnum):
        if struct.unpack_from('<I', whole, phoff + 56 * i)[0] == kind:
            yield phoff + 56 * i


hdr = next(phdrs(0x6474e550))
write('nosections', patched(('<Q', 40, 0), ('<H', 60, 0), ('<H', 62, 0)))
write('nonames', patched(('<H', 62, 0)))
write('noprograms', patched(('<Q', 32, 0), ('<H', 56, 0)))
write('nophdr', patched(('<I', hdr, 0)))				# PT_NULL in place of PT_GNU_EH_FRAME
write('align', patched(*[('<Q', at + 48, 1 << 62) for at in phdrs(1)]))
write('badtype', patched(('<H', 16, 0x1234)))
write('core', patched(('<H', 16, 4)))
write('machine', patched(('<H', 18, 0x7777)))
write('phoff', patched(('<Q', 32, 1 << 63)))
write('shoff', patched(('<Q', 40, (1 << 64) - 8)))
write('shnum', patched(('<H', 60, 0xfff0)))
write('filesz', patched(*[('<Q', at + 32, (1 << 64) - 1) for at in phdrs(1)]))
write('hdraddr', patched(('<Q', hdr + 16, 0x1234567890)))		# of PT_GNU_EH_FRAME: nothing there
write('hdrsize', patched(('<Q', hdr + 40, 6), ('<Q', hdr + 32, 6)))	# cut inside the header
for n in (3, 20, 63, 64 + 30, len(whole) // 2, len(whole) - 1):
    write('cut%d' % n if n < 100 else 'cut-half' if n < len(whole) - 1 else 'cut-last', whole[:n])
