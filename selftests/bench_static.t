#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The rows that ehunwind-bench-static times are libdw's: the same number, the same CFAs."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, Run, end, ok

BENCH = os.path.join(os.path.dirname(CHECK), 'ehunwind-bench-static')
LIBC = next(p for p in ('/lib/x86_64-linux-gnu/libc.so.6', '/lib64/libc.so.6', sys.executable)
            if os.path.exists(p))

r = Run([BENCH, '--rows', '--json', '-r', '2', LIBC])
found = {(o['phase'], o['pass']): o for o in r.of_type('bench-static')}
ok('all-phases', r.status == 0 and len(found) == 12, r)
for phase, least in (('rows', 2000), ('whole-rows', 2000), ('visit', 500), ('whole-visit', 500)):
    o, libdw = found[phase, 'first'], found['libdw-' + phase.replace('whole-', ''), 'first']
    ok(phase + '-are-libdws', o['same_sums'] and o['rows'] == libdw['rows'] > least, r)
    ok(phase + '-take-time', all(found[phase, p]['ps_least'] > 0 for p in ('first', 'later')), r)
r = Run([BENCH, '--rows', '-r', '1', LIBC])
ok('table', r.status == 0 and r.out.count('\n') == 13 and 'differ' not in r.out, r)
r = Run([BENCH, '--rows', '/etc/passwd'])
ok('no-elf-file', r.status == 3 and r.err and not r.out, r)
r = Run([BENCH, '--json', LIBC])
ok('json-without-rows', r.status == 2, r)
end()
