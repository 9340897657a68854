#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""32-bit programs on a 64-bit kernel: sampled in both modes, through the vDSO's signal frames."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, HERE, TARGETS, Run, agrees, end, ok, skip

MS = 450
DIR = os.path.join(TARGETS, 'm32')
# Programs, how many of their traces may end early, and in which mode.
SHAPES = (('recursion', ['-fno-optimize-sibling-calls'], (), 0.3),
          ('recursion-fp', ['-fno-omit-frame-pointer'], (), 0.3),
          ('deep', ['-fno-optimize-sibling-calls', '-fno-inline'], (), 1),
          ('sorts', ['-fomit-frame-pointer'], (), 0.5),
          ('signals', [], (), 0.3),
          ('signals', [], ('alt',), 0.5),
          ('threads', ['-pthread'], (), 0.2),
          ('noreturn', [], (), 0.5),
          ('drap', ['-fno-optimize-sibling-calls'], (), 0.3))


def build(name, flags):
    source = os.path.join(HERE, 'targets', name.replace('-fp', '') + '.c')
    out = os.path.join(DIR, name)
    os.makedirs(DIR, exist_ok=True)
    return out if subprocess.run(['gcc', '-m32', '-O2', '-o', out, source] + flags,
                                 capture_output=True).returncode == 0 else None


def runs(program):
    try:
        return subprocess.run([program, '1'], stdout=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


compared = {'copy': 0, 'defer': 0}
for name, flags, args, partial in SHAPES:
    full = '-'.join((name,) + args)
    program = build(name, flags)
    if not program or not runs(program):
        skip(full, 'no 32-bit programs here')
        continue
    for mode in compared:
        if mode == 'defer' and name not in ('recursion', 'signals', 'threads'):
            continue
        r = Run([CHECK, '--json', '--mode=' + mode, '--', program, MS, *args])
        agrees('%s-%s' % (full, mode), r, partial=partial)
        compared[mode] += r.summary.get('samples', 0) - r.summary.get('untestable', 0)
        if name == 'signals' and mode == 'copy':
            vdso = [m for m in r.of_type('module') if m.get('path', m.get('name')) == '[vdso]']
            through = sum(any(f.get('via') == 'eh-frame' for f in t['frames']) and
                          len(t['frames']) > 5 and t['outcome'] == 'equal'
                          for t in r.of_type('trace'))
            ok(full + '-through-the-vdso', through > 50, r)
            ok(full + '-vdso-is-known', vdso and vdso[0]['status'] == 'ok' and
               vdso[0]['frames'] > 50, vdso)
if compared['copy']:
    ok('samples-compared', compared['copy'] >= 1000, compared)
end()
