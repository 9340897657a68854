#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Files that perf record writes, plain, compressed and piped; and perf script reading ours."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import (CHECK, HERE, Run, agrees, end, need_samples, ok, sampled, skip, skip_all,
                    targets)

if not shutil.which('perf'):
    skip_all('no perf')
T = targets()
need_samples()
tmp = tempfile.TemporaryDirectory()
data = os.path.join(tmp.name, 'p.data')


def record(*args, stack=16384, out=data):
    return ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '999', '--call-graph',
            'dwarf,%d' % stack, '-o', out] + [str(a) for a in args]


def recorded(*command, how=(), **more):
    """Our run on what perf recorded of a command, or perf's where there was nothing to read."""
    if os.path.exists(data):
        os.remove(data)
    r = Run(record(*how, '--', *command, **more))
    if r.status or not os.path.exists(data):
        return r
    return Run([CHECK, '--json', '--perf-data', data])


def times(program, k):
    """A program without a time of its own, one after the other."""
    loop = 'while [ $1 -gt 0 ]; do "$0" || exit; set -- $(($1 - 1)); done'
    return (program,) if k == 1 else ('sh', '-c', loop, program, k)


def skipped(folder):
    """Files of a case that cannot be made here, and why."""
    path = os.path.join(folder, 'skipped')
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return dict(line.rstrip('\n').split(' ', 1) for line in f)


r = Run(record('--', '/bin/true'))
if r.status:
    skip_all('perf record does not work here: ' + ' '.join(r.err.split()[:20]))
for name, how in (('plain', []), ('compressed', ['-z'])):
    r = sampled(lambda k: recorded(os.path.join(T, 'throw'), 300 * k, how=how))
    agrees('perf-record-' + name, r, partial=0.2)


def piped(k):
    p = subprocess.Popen(record('--', os.path.join(T, 'recursion'), 300 * k, out='-'),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    r = Run([CHECK, '--json', '--perf-data', '-'], stdin=p.stdout)
    p.stdout.close()
    p.wait()
    return r


agrees('piped', sampled(piped), partial=0.02)

ours = os.path.join(tmp.name, 'ours.data')
r = sampled(lambda k: Run([CHECK, '--json', '--save', ours, '--', os.path.join(T, 'recursion'),
                           300 * k]))
ok('saved', r.status == 0, r)
theirs = Run(['perf', 'script', '-i', ours], timeout=250)
for name in ('leaf+', 'main+', '__libc_start'):
    ok('perf-script-unwinds-ours: ' + name.rstrip('+'), theirs.status == 0 and
       theirs.out.count(name) > 0.2 * r.testable() > 0, '%s\n%s' % (r, theirs))

# Several processes print what one prints, whole files and damaged ones, in its order.
r = sampled(lambda k: recorded(os.path.join(T, 'recursion'), 300 * k, how=['-F', '20000']), 1700)
if r.testable() < 1700:
    skip('jobs', 'too few samples')
else:
    cut = os.path.join(tmp.name, 'cut.data')
    shutil.copy(data, cut)
    os.truncate(cut, os.path.getsize(data) // 4 * 3)
    for name, path, status in (('', data, 0), ('-of-a-cut-file', cut, 3)):
        one = Run([CHECK, '--print', '--no-symbols', '--perf-data', path])
        ok('one-job' + name, one.status == status and one.out.count(': \n') > 1100, one)
        for n in (2, 3, 7):
            many = Run([CHECK, '--print', '--no-symbols', '--perf-data', path, '--jobs', n])
            ok('%d-jobs%s' % (n, name), (many.status, many.out, many.err) ==
               (one.status, one.out, one.err), many.err)
    with open(data) as f:
        r = Run([CHECK, '--print', '--no-symbols', '--jobs=2', '--perf-data', '-'], stdin=f)
    ok('one-job-for-a-pipe', r.status == 0 and 'one job: ' in r.err and r.out.count(': \n') > 1600, r)
    r = Run(['sh', '-c', '"$1" --print --no-symbols -j 3 --perf-data "$2" | head -n 1; wait', 'sh',
             CHECK, data])
    ok('jobs-end-where-nobody-reads', r.status == 0 and r.out.count('\n') == 1, r)

# ../cases/40: 8 KiB cut deep stacks, and that is no complete stack; 64 KiB do not.
case = os.path.join(tmp.name, '40')
r = Run(['./build', case], cwd=os.path.join(HERE, 'cases/40-short-stack-dump'))
deep = os.path.join(case, 'deep')
if 'deep' in skipped(case):
    skip('case-40', skipped(case)['deep'])
elif ok('case-40-builds', os.path.exists(deep), r):
    r = sampled(lambda k: recorded(*times(deep, k), stack=8192))
    agrees('case-40-8k', r)
    past = r.one('trace-details').get('memory_stops', {}).get('past-stack', 0)
    ok('case-40-8k-is-partial', past > 0.6 * r.testable() > 0, r)
    r = sampled(lambda k: recorded(*times(deep, k), stack=65528))
    agrees('case-40-64k', r, partial=0.05)
    depths = r.depths()
    ok('case-40-64k-depth', depths and sorted(depths)[len(depths) // 2] >= 63, depths)

# ../cases/36: what libdw finds by .debug_frame is counted, and neither ours nor compared.
case = os.path.join(tmp.name, '36')
r = Run(['./build', case], cwd=os.path.join(HERE, 'cases/36-debug-frame-only'))
mixed = os.path.join(case, 'mixed')
if ok('case-36-builds', os.path.exists(mixed), r):
    r = sampled(lambda k: Run([CHECK, '--json', '--', *times(mixed, k)]), 10)
    agrees('case-36', r, least=10, partial=1)
    ok('case-36-debug-frame-is-counted', r.one('trace-details').get('oracle_debug_frames', 0) > 0 and
       r.summary['stops'].get('no-fde', 0) > 0, r)
    r = Run([CHECK, '--', mixed])
    ok('case-36-says-debug-frame', '.debug_frame present' in r.out, r)
end()
