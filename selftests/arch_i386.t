#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""32-bit programs on a 64-bit kernel: sampled in both modes, through the vDSO's signal frames."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import (CHECK, HERE, TARGETS, Run, agrees, end, need_samples, ok, refused, runs,
                    sampled, skip)

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


def through(run):
    """Traces of calls below a signal's frame."""
    return sum(len(t.get('frames', ())) > 5 and t['outcome'] == 'equal' and
               any(f.get('via') == 'eh-frame' for f in t['frames']) for t in run.of_type('trace'))


need_samples()
no_defer = refused('defer')
compared = {}
for name, flags, args, partial in SHAPES:
    full = '-'.join((name,) + args)
    program = build(name, flags)
    if not program or not runs(program):
        skip(full, 'no 32-bit programs here')
        continue
    for mode in ('copy', 'defer'):
        if mode == 'defer' and name not in ('recursion', 'signals', 'threads'):
            continue
        if mode == 'defer' and no_defer:
            skip('%s-%s' % (full, mode), no_defer)
            continue
        signals = name == 'signals' and mode == 'copy'
        r = sampled(lambda k: Run([CHECK, '--json', '--mode=' + mode, '--', program, MS * k,
                                   *args]),
                    enough=(lambda r: through(r) > 20) if signals else None)
        agrees('%s-%s' % (full, mode), r, partial=partial)
        compared[full, mode] = r.testable()
        if signals:
            vdso = [m for m in r.of_type('module') if m.get('path', m.get('name')) == '[vdso]']
            ok(full + '-through-the-vdso', through(r) > 20, r)
            ok(full + '-vdso-is-known', vdso and vdso[0]['status'] == 'ok' and
               vdso[0]['frames'] > 20, vdso)
if compared:
    ok('samples-compared', sum(compared.values()) >= 20 * len(compared), compared)
end()
