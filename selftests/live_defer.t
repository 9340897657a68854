#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Deferral on live processes: stops, what deferral saves, and targets that do not sit still."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import (CHECK, SCALE, Run, agrees, end, identities, need_samples, ok, refused, runs,
                    sampled, skip, targets)

T = targets()
MS = 120 * SCALE
tmp = tempfile.TemporaryDirectory()

need_samples()
why = refused('defer')
if why:
    skip('live-deferral', why)
    end()


def run(program, *args, ms=MS, opts=(), least=50, enough=None):
    return sampled(lambda k: Run([CHECK, '--json', *opts, '--', os.path.join(T, program), ms * k,
                                  *args]), least, enough)


class Figures(dict):
    """Of a run that gave none all are 0, so that a test of them fails and says so."""

    def __missing__(self, key):
        return 0


def figures(o):
    return Figures({k: figures(v) if isinstance(v, dict) else v for k, v in o.items()})


def of_run(run):
    d = figures(run.one('copy-against-defer'))
    for k in ('copy', 'defer'):
        d.setdefault(k, Figures())
    return figures(run.one('stops')), d


def defer(name, program, *args, least=50, ms=MS, opts=(), enough=None, **more):
    r = run(program, *args, ms=ms, opts=('--mode', 'defer', *opts), least=least,
            enough=enough and (lambda r: enough(*of_run(r))))
    agrees(name, r, least=least, **more)
    s, d = of_run(r)
    ok(name + ': one walk a stop', r.summary.get('mode') == 'defer' and s['bad'] == 0 and
       s['walks'] == s['overflows'] == r.summary.get('samples') and s['walks'] > 0 and
       s['callbacks'] == s['requests'] and d['pairs'] == r.testable(), '%s %s' % (s, d))
    return r, s, d


r, s, d = defer('recursion', 'recursion', partial=0.02)
ok('recursion-reads-less-than-a-copy', 0 < d['live_bytes'] < d['copied_bytes'] / 4, d)
ok('recursion-nothing-is-cut', d['pairs'] and
   d['copy']['cut_by_window'] == 0 and d['defer']['cut_by_window'] == 0 and
   d['copy']['frames'] == d['defer']['frames'], d)

# A stack of 2,500 frames: all 510 entries deferred, cut at 16 KiB copied. Both reports say so.
r, s, d = defer('deep', 'deep', '2500', partial=1)
ok('deep-is-full-when-deferred', d['defer']['cut_by_window'] == 0 and
   d['defer']['deepest'] == 510 and d['defer']['full'] > 0.6 * d['pairs'], d)
ok('deep-is-cut-when-copied', d['copy']['cut_by_window'] > 0.6 * d['pairs'] and
   d['copy']['full'] == 0 and d['copy']['deepest'] < 300, d)
r = Run([CHECK, '--mode', 'defer', '--', os.path.join(T, 'deep'), MS, '2500'])
ok('deep-the-report-says-so', r.status == 0 and 'Copy against defer' in r.out and
   'cut by the window' in r.out and '510 at most' in r.out, r)
r = run('deep', '2500')
ok('deep-the-report-of-copies-says-so', r.status == 0 and r.summary.get('mode') == 'copy' and
   r.summary.get('cut_by_window', 0) > 0.6 * r.testable() and
   8000 < r.summary.get('copied_bytes_per_sample', 0) <= 16384, r)
# The window is the user's to choose.
r, s, d = defer('deep-with-a-larger-window', 'deep', '2500', partial=1,
                opts=('--stack-size', '65000'))
ok('deep-fits-in-a-larger-window', d['copy']['full'] == d['defer']['full'] > 0, d)

# Other threads, processes, programs and files.
defer('threads', 'threads', partial=0.02)
r, s, d = defer('fork-and-vfork', 'forks', 30, least=40, partial=0.4, ms=150)
ok('fork-and-vfork-all-followed', s['processes'] == 31 and s['execs'] == 16, s)
r, s, d = defer('dlopen', 'dlopen', *[os.path.join(T, 'plug%d.so' % n) for n in (1, 2, 3)],
                enough=lambda s, d: s['maps_resets'] > 5)
ok('dlopen-is-noticed', s['maps_resets'] > 5, s)
r, s, d = defer('signal-stack-in-bss', 'signals', 'alt')
ok('signal-stack-is-left', d['defer']['complete'] > 0.9 * d['pairs'] - 2, d)
defer('coroutines-in-bss', 'coroutines', partial=1)
defer('exec-by-another-thread', 'disturb', 'execs')
defer('first-thread-ends', 'disturb', 'leader-ends')
defer('mappings-change-under-the-walk', 'disturb', 'maps', least=15, untestable=0.5)
r, s, d = defer('500-threads', 'busy', '500', ms=400)
ok('500-threads-all-followed', s['threads'] == 501 and s['no_event'] == 0, s)
defer('faults', 'sorts', least=10, opts=('--fault-reads', '--frequency', '100'))

# What the target does with signals comes out as without us: its own check is its exit status.
for what in ('raises', 'steps', 'values', 'stops', 'sleeps', 'unblocks'):
    r, s, d = defer('signals: ' + what, 'disturb', what, least=20, opts=('--exit-status',),
                    enough=(lambda s, d: s['late'] > 0) if what == 'unblocks' else None)
    if what in ('raises', 'steps', 'values', 'stops'):
        ok('signals: %s: passed on' % what, s['signals'] >= 12, s)
    if what == 'unblocks':
        ok('signals: late traps are ours', s['late'] > 0 and s['blocked'] == 0, s)
r = Run([CHECK, '--json', '--mode', 'defer', '--exit-status', '--', os.path.join(T, 'disturb'), MS, 'own-event'])
ok('an-event-of-its-own', r.status in (0, 77) and not identities(r), r)
# The first trap would come after 20 ms: no code before the block gets one.
r = Run([CHECK, '--json', '--mode', 'defer', '--frequency', '50', '--', os.path.join(T, 'disturb'),
         1000 * SCALE, 'blocks'])
s = r.one('stops')
ok('blocked-trap-is-reported', r.status == 4 and s.get('blocked') == 1 and
   'disturb' in s.get('blocked_first', '') and 'blocks SIGTRAP' in r.err, r)

# How it ends.
for what, want in (('status-7', 7), ('killed', 137), ('work', 0)):
    r = Run([CHECK, '--mode', 'defer', '--exit-status', '--', os.path.join(T, 'disturb'), 80, what])
    ok('exit-status: ' + what, r.status == want and 'agree' in r.out, r)
    r = Run([CHECK, '--exit-status', '--', os.path.join(T, 'disturb'), 80, what])
    ok('exit-status: copy: ' + what, r.status == want and 'agree' in r.out, r)
r = Run([CHECK, '--mode', 'defer', '--', os.path.join(T, 'disturb'), 80, 'status-7'])
ok('exit-status-is-not-ours-unasked', r.status == 0, r)
for command, said in (('nothing-here', 'not found'), (tmp.name, 'Permission denied')):
    r = Run([CHECK, '--mode', 'defer', '--exit-status', '--', os.path.join(tmp.name, command)])
    ok('no-command: ' + said, r.status == 4 and said in r.err and not r.out, r)
r = Run([CHECK, '--json', '--mode', 'defer', '--', '/bin/true'])
ok('ends-at-once', r.status in (0, 4) and not identities(r), r)
r = sampled(lambda k: Run([CHECK, '--json', '--mode', 'defer', '--duration', k, '--',
                           os.path.join(T, 'recursion'), 60000]))
agrees('duration-of-a-command', r, least=100)

m32 = os.path.join(T, 'recursion-m32')
if runs(m32):
    r = sampled(lambda k: Run([CHECK, '--json', '--mode', 'defer', '--', m32, 100 * k]), 50)
    ok('32-bit', r.status in (0, 4) and not identities(r) and r.summary.get('samples', 0) > 10,
       '%s\n%s' % (identities(r), r))

# A saved run holds what a kernel with deferred callchains writes, and is read as that.
saved = os.path.join(tmp.name, 'saved.data')
r, s, d = defer('save', 'deep', '2500', partial=1, opts=('--save', saved))
ok('save: two ask, one walks', s['requests'] == 2 * s['walks'], s)
again = Run([CHECK, '--json', '--perf-data', saved])
agrees('saved-file', again, least=50)
m = again.one('deferred-callchains')
ok('saved-file-merges', m.get('samples') == m.get('records') == m.get('merged') == r.summary.get('samples') and
   m.get('different') == 0 and m.get('ours_shorter') == d['copy']['cut_by_window'] and
   m.get('longest') == 510, '%s %s' % (m, d))
r = Run([CHECK, '--mode', 'defer', '--save', '/dev/full', '--', os.path.join(T, 'recursion'), 50])
ok('full-disk', r.status == 3 and 'No space' in r.err, r)
for args in (['--mode', 'now', '--', 'true'], ['--mode', 'defer', 'file'], ['--exit-status', 'file'],
             ['--duration', '0', '--', 'true'], ['--mode', 'defer', '--perf-data', saved]):
    r = Run([CHECK] + args)
    ok('usage: ' + ' '.join(args[:4]), r.status == 2 and not r.out and r.err, r)
end()
