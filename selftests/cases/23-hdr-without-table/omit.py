# SPDX-License-Identifier: GPL-2.0-only OR MIT
# make an .eh_frame_hdr without a usable table: encodings "omit", or a count of 0, or only the count omitted
import struct, sys
src, dst, how = sys.argv[1:]
d = bytearray(open(src, 'rb').read())
phoff, = struct.unpack_from('<Q', d, 32)
phn, = struct.unpack_from('<H', d, 56)
for i in range(phn):
    t, fl, off, va, pa, fs, ms, al = struct.unpack_from('<IIQQQQQQ', d, phoff + 56 * i)
    if t == 0x6474e550:
        assert d[off:off + 4] == b'\x01\x1b\x03\x3b'
        if how == 'omit':
            d[off + 2:off + 4] = b'\xff\xff'
            struct.pack_into('<QQ', d, phoff + 56 * i + 32, 8, 8)
        elif how == 'nocount':
            d[off + 2] = 0xff
        else:
            struct.pack_into('<I', d, off + 8, 0)
open(dst, 'wb').write(d)
