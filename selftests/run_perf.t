#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Files that perf record writes, plain, compressed and piped; and perf script reading ours."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import BUILD, CHECK, HERE, Run, agrees, end, ok, skip, targets

if not shutil.which('perf'):
    print('1..0 # SKIP no perf')
    sys.exit(0)
T = targets()
tmp = tempfile.TemporaryDirectory()
data = os.path.join(tmp.name, 'p.data')


def record(*args, stack=16384, out=data):
    return ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '999', '--call-graph',
            'dwarf,%d' % stack, '-o', out] + [str(a) for a in args]


for name, how in (('plain', []), ('compressed', ['-z'])):
    r = Run(record(*how, '--', os.path.join(T, 'throw'), 300))
    ok('perf-record-' + name, r.status == 0 and os.path.exists(data), r)
    agrees(name, Run([CHECK, '--json', '--perf-data', data]), partial=0.2)
p = subprocess.Popen(record('--', os.path.join(T, 'recursion'), 300, out='-'),
                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
agrees('piped', Run([CHECK, '--json', '--perf-data', '-'], stdin=p.stdout), partial=0.02)
p.wait()

ours = os.path.join(tmp.name, 'ours.data')
r = Run([CHECK, '--save', ours, '--', os.path.join(T, 'recursion'), 300])
ok('saved', r.status == 0, r)
r = Run(['perf', 'script', '-i', ours])
ok('perf-script-unwinds-ours', r.status == 0 and r.out.count('leaf+') > 50 and
   r.out.count('main+') > 50 and '__libc_start' in r.out, r)

# ../cases/40: 8 KiB cut deep stacks, and that is no complete stack; 64 KiB do not.
case = os.path.join(tmp.name, '40')
r = Run(['./build', case], cwd=os.path.join(HERE, 'cases/40-short-stack-dump'))
deep = os.path.join(case, 'deep')
if ok('case-40-builds', os.path.exists(deep), r):
    Run(record('--', deep, stack=8192))
    r = Run([CHECK, '--json', '--perf-data', data])
    agrees('case-40-8k', r)
    past = (r.of_type('trace-details') or [{}])[0].get('memory_stops', {}).get('past-stack', 0)
    ok('case-40-8k-is-partial', past > 0.9 * r.summary.get('samples', 0), r)
    Run(record('--', deep, stack=65528))
    r = Run([CHECK, '--json', '--perf-data', data])
    agrees('case-40-64k', r, partial=0.05)
    depths = [len(t['frames']) for t in r.of_type('trace')]
    ok('case-40-64k-depth', depths and sorted(depths)[len(depths) // 2] >= 63, depths)

# ../cases/36: what libdw finds by .debug_frame is counted, and neither ours nor compared.
case = os.path.join(tmp.name, '36')
r = Run(['./build', case], cwd=os.path.join(HERE, 'cases/36-debug-frame-only'))
mixed = os.path.join(case, 'mixed')
if ok('case-36-builds', os.path.exists(mixed), r):
    r = Run([CHECK, '--json', '--', mixed])
    agrees('case-36', r, least=10, partial=1)
    d = (r.of_type('trace-details') or [{}])[0]
    ok('case-36-debug-frame-is-counted', d.get('oracle_debug_frames', 0) > 0 and
       r.summary['stops'].get('no-fde', 0) > 0, r)
    r = Run([CHECK, '--', mixed])
    ok('case-36-says-debug-frame', '.debug_frame present' in r.out, r)
end()
