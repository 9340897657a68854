#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Samples each program of selftests/targets and compares every frame with libdw's."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, Run, agrees, end, ok, targets

T = targets()
MS = 250


def sample(name, program, *args, least=100, partial=0.2, ms=MS, **more):
    r = Run([CHECK, '--json', '--', os.path.join(T, program), ms, *args])
    agrees(name, r, least=least, partial=partial, **more)
    return r


def tops(run, n=1):
    """How many frames traces have at least n of."""
    return sum(len(t.get('frames', ())) >= n for t in run.of_type('trace'))


sample('recursion', 'recursion', partial=0.02)
sample('recursion-frame-pointers', 'recursion-fp')
sample('recursion-static-pie', 'recursion-static-pie', partial=0.02)
r = sample('deep', 'deep', partial=1)
s = r.summary.get('stops', {})
ok('deep-reaches-the-limit', s.get('trace-full') and
   max(len(t.get('frames', ())) for t in r.of_type('trace')) == 510, r)
ok('deep-ends-with-the-window', s.get('memory') and
   r.of_type('trace-details')[0]['memory_stops'].get('past-stack'), r)
sample('callbacks-and-alloca', 'sorts', partial=0.02)
sample('exceptions', 'throw')
sample('signal-handler', 'signals')
r = sample('signal-handler-on-a-stack-in-bss', 'signals', 'alt', partial=0.5)
ok('signal-handler-is-left', r.summary.get('complete', 0) > 50, r)
sample('threads', 'threads')
# Their first frame's return address is the start of a function without CFI before it.
r = sample('coroutines-in-bss', 'coroutines', partial=1)
ok('coroutines-have-frames', tops(r, 4) > 100, r)
sample('noreturn', 'noreturn', partial=0.02)
sample('realigned-stacks', 'drap', partial=0.05)
sample('lazy-plt', 'plt', partial=0.02)
sample('lazy-plt-ibt', 'plt-ibt', partial=0.02)
if os.path.exists(os.path.join(T, 'byhand')):
    sample('frames-by-hand', 'byhand', partial=0.02)
if os.path.exists(os.path.join(T, 'recursion-m32')):
    sample('32-bit', 'recursion-m32', partial=0.3)
sample('dlopen', 'dlopen', *[os.path.join(T, 'plug%d.so' % n) for n in (1, 2, 3)])
# A program that does not move, another one mapped as data, and libraries.
sample('programs-mapped-as-data', 'datamap', os.path.join(T, 'plt'), os.path.join(T, 'plug1.so'),
       os.path.join(T, 'datamap'), CHECK, partial=0.02)
sample('fork-and-vfork', 'forks', 30, least=50, partial=0.4)
end()
