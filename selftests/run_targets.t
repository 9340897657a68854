#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Samples each program of selftests/targets and compares every frame with libdw's."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, Run, agrees, end, need_samples, ok, runs, sampled, targets

T = targets()
MS = 250
need_samples()


def sample(name, program, *args, least=100, partial=0.2, enough=None, **more):
    r = sampled(lambda k: Run([CHECK, '--json', '--', os.path.join(T, program), MS * k, *args]),
                least, enough)
    agrees(name, r, least=least, partial=partial, **more)
    return r


sample('recursion', 'recursion', partial=0.02)
sample('recursion-frame-pointers', 'recursion-fp')
sample('recursion-static-pie', 'recursion-static-pie', partial=0.02)


def full_and_cut(run):
    return {'trace-full', 'memory'} <= set(run.summary['stops'])


r = sample('deep', 'deep', partial=1, enough=full_and_cut)
s = r.summary.get('stops', {})
ok('deep-reaches-the-limit', s.get('trace-full') and max(r.depths()) == 510, r)
ok('deep-ends-with-the-window', s.get('memory') and
   r.one('trace-details').get('memory_stops', {}).get('past-stack'), r)
sample('callbacks-and-alloca', 'sorts', partial=0.02)
sample('exceptions', 'throw')
sample('signal-handler', 'signals')
r = sample('signal-handler-on-a-stack-in-bss', 'signals', 'alt', partial=0.5)
ok('signal-handler-is-left', r.summary.get('complete', 0) > 0.4 * r.testable() > 0, r)
sample('threads', 'threads')
# Their first frame's return address is the start of a function without CFI before it.
r = sample('coroutines-in-bss', 'coroutines', partial=1)
ok('coroutines-have-frames', sum(n >= 4 for n in r.depths()) > 0.5 * r.testable() > 0, r)
sample('noreturn', 'noreturn', partial=0.02)
sample('realigned-stacks', 'drap', partial=0.05)
sample('lazy-plt', 'plt', partial=0.02)
sample('lazy-plt-ibt', 'plt-ibt', partial=0.02)
if os.path.exists(os.path.join(T, 'byhand')):
    sample('frames-by-hand', 'byhand', partial=0.02)
if runs(os.path.join(T, 'recursion-m32')):
    sample('32-bit', 'recursion-m32', partial=0.3)
sample('dlopen', 'dlopen', *[os.path.join(T, 'plug%d.so' % n) for n in (1, 2, 3)])
# A program that does not move, another one mapped as data, and libraries.
sample('programs-mapped-as-data', 'datamap', os.path.join(T, 'plt'), os.path.join(T, 'plug1.so'),
       os.path.join(T, 'datamap'), CHECK, partial=0.02)
r = sampled(lambda k: Run([CHECK, '--json', '--', os.path.join(T, 'forks'), MS, 30 * k]), 50)
agrees('fork-and-vfork', r, least=50, partial=0.4)
end()
