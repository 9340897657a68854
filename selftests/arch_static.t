#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Every row of every library that Debian's cross and multilib packages bring, against libdw's."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, Run, end, ok, skip

# The fewest rows that a folder is known to have, about: a file that is not read shows here.
LIBS = (('s390x', '/usr/s390x-linux-gnu/lib', 50000),
        ('aarch64', '/usr/aarch64-linux-gnu/lib', 80000),
        ('i386', '/usr/lib32', 50000),
        ('x32', '/usr/libx32', 100000))

for arch, path, least in LIBS:
    if not os.path.exists(os.path.join(path, 'libc.so.6')):
        skip('libraries-' + arch, 'no ' + path)
        continue
    r = Run([CHECK, '--json', '-j', 2, path], timeout=200)
    rows, size = r.summary.get('rows', {}), r.summary.get('bytes', {})
    ok('libraries-' + arch,
       r.status == 0 and rows['different'] == 0 and rows['total'] >= least and
       rows['equal'] >= 0.999 * rows['total'] and
       size['unsupported'] + size['malformed'] + size['over_limit'] < 0.001 * size['total'] and
       not r.summary['files_failed'] and not r.summary['files_skipped']['other-machine'], r)
    if arch == 's390x':
        faults = {f['kind'] for f in r.of_type('finding')}
        ok('s390x-sp-is-the-one-fault', faults == {'libdw-s390-sp-same'} and
           rows['equal'] + rows['oracle_wrong'] == rows['total'], faults)

# What one compiler flag changes, in programs of our own.
PROGRAM = '''
#include <alloca.h>
#include <string.h>
extern int other(void *, int);
int leaf(int n) { return n * 3; }
int frames(int n) { char *p = alloca(n); memset(p, n, n); return other(p, n) + leaf(n); }
int aligned(int n) { _Alignas(64) char buf[128]; return other(buf, n) + other(buf + n, 1); }
int last(int n) { return n > 3 ? other(&n, n) : other(0, n); }
'''
BUILDS = (('s390x', 's390x-linux-gnu-gcc', ['-O2']),
          ('s390x-backchain', 's390x-linux-gnu-gcc', ['-O2', '-mbackchain']),
          ('s390x-O0', 's390x-linux-gnu-gcc', ['-O0']),
          ('aarch64', 'aarch64-linux-gnu-gcc', ['-O2']),
          ('aarch64-signed', 'aarch64-linux-gnu-gcc', ['-O2', '-mbranch-protection=standard']),
          ('aarch64-signed-leaf', 'aarch64-linux-gnu-gcc',
           ['-O2', '-mbranch-protection=pac-ret+leaf+b-key']),
          ('i386', 'gcc', ['-O2', '-m32']),
          ('i386-realigned', 'gcc', ['-O2', '-m32', '-mpreferred-stack-boundary=2']),
          ('i386-regparm', 'gcc', ['-Os', '-m32', '-mregparm=3', '-mno-accumulate-outgoing-args']),
          ('x32', 'gcc', ['-O2', '-mx32']),
          ('x32-O0', 'gcc', ['-O0', '-mx32']))
with tempfile.TemporaryDirectory() as work:
    source = os.path.join(work, 'p.c')
    with open(source, 'w') as f:
        f.write(PROGRAM)
    for name, cc, flags in BUILDS:
        out = os.path.join(work, name + '.so')
        try:
            built = subprocess.run([cc, '-shared', '-fPIC', '-nostdlib', '-o', out, source] + flags,
                                   capture_output=True).returncode == 0
        except FileNotFoundError:
            built = False
        if not built:
            skip('built-' + name, '%s %s builds nothing here' % (cc, ' '.join(flags)))
            continue
        r = Run([CHECK, '--json', out])
        rows = r.summary.get('rows', {})
        ok('built-' + name, r.status == 0 and rows['total'] >= 10 and
           rows['equal'] == rows['total'], r)
end()
