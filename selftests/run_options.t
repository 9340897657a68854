#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What ehunwind-check says and returns where there is little or nothing to sample, or too much."""
import os
import re
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import (CHECK, Background, Run, agrees, end, identities, need_samples, ok, sampled,
                    targets, wait_for, worked)

T = targets()
need_samples()
busy = [os.path.join(T, 'recursion'), 200]
tmp = tempfile.TemporaryDirectory()


def at(name):
    return os.path.join(tmp.name, name)


def busy_run(*options, least=50):
    """Samples the busy program; least is what makes it run longer, too."""
    return sampled(lambda k: Run([CHECK, '--json', *options, '--', busy[0], busy[1] * k]), least)


r = Run([CHECK, '--', at('nothing-here')])
ok('no-such-command', r.status == 4 and 'not found' in r.err and not r.out, r)
r = Run([CHECK, '--json', '--', at('nothing-here')])
ok('no-such-command-json', r.status == 4 and r.summary.get('type') == 'error', r)
with open(at('text'), 'w') as f:
    f.write('not a program')
r = Run([CHECK, '--', at('text')])
ok('not-executable', r.status == 4 and 'Permission denied' in r.err, r)
r = Run([CHECK, '--', '/bin/true'])
ok('ends-at-once', r.status in (0, 4) and ('agree' in r.out or 'nothing compared' in r.out), r)
r = Run([CHECK, '--json', '--', '/bin/true'])
ok('ends-at-once-json', not identities(r), identities(r))
r = Run([CHECK, '--', 'sh', '-c', 'kill -9 $$'])
ok('killed', r.status in (0, 4) and 'signal 9' in r.err, r)
for args in (['--'], ['a', '--', 'b'], ['--save', 'x', 'y'], ['--fault-reads', 'y'],
             ['--perf-data', 'x', 'y'], ['--perf-data', 'x', '--', 'y'], ['-j', '2', '--', 'y'],
             ['-j', '2', '--perf-data', 'x'], ['-j', '2', '--print', '--', 'y'],
             ['-j', '2', '--print', '--folded', 'x', '--perf-data', 'y'],
             ['--json', '--folded', '-', '--perf-data', 'x'],
             ['--print', '--folded', '-', '--perf-data', 'x']):
    r = Run([CHECK] + args)
    ok('usage: ' + ' '.join(args), r.status == 2 and not r.out and r.err, r)

# The report of a good run, and where the command's own output goes.
r = Run([CHECK, '--'] + busy)
ok('verdict-first', r.status == 0 and
   re.match(r'\d+ samples, all frames agree( \(\d+ untestable\))?\n', r.out), r)
for what in ('Why traces end', 'Modules by frames', 'Depth', 'Cost', 'lost by the kernel'):
    ok('report: ' + what, what in r.out, r)
r = sampled(lambda k: Run([CHECK, '--json', '--', 'sh', '-c', 'echo noise; exec "$@"', 'sh',
                           busy[0], busy[1] * k]), 50)
agrees('output-of-the-command-is-no-json', r, least=50)
ok('output-of-the-command-goes-to-stderr', 'noise' in r.err, r)
r = Run([CHECK, '--no-io-uring', '--'] + busy)
ok('no-io-uring', r.status == 0 and 'by pread' in r.out, r)

# Saved, read again, and over a pipe: the same samples.
saved = at('saved.data')
r = busy_run('--save', saved)
agrees('save', r, least=50)
again = Run([CHECK, '--json', '--perf-data', saved])
agrees('saved-file', again, least=50)
same = {k: r.summary.get(k) for k in ('samples', 'equal', 'frames', 'frames_oracle', 'stops')}
ok('saved-file-is-the-same', all(again.summary.get(k) == same[k] for k in same),
   '%s\n%s' % (r.summary, again.summary))
r = Run([CHECK, '--folded', '-', '--perf-data', saved])
ok('folded-stacks-alone-on-stdout', r.status == 0 and 'all frames agree' in r.err and
   r.out and all(re.fullmatch(r'[^;]+;.* \d+', l) for l in r.out.splitlines()), r)
with open(saved, 'rb') as f:
    piped = Run([CHECK, '--json', '--perf-data', '-'], stdin=f)
ok('file-on-standard-input', piped.summary.get('frames') == same['frames'], piped)
ok('full-disk', (lambda x: x.status == 3 and 'No space' in x.err)(
    Run([CHECK, '--save', '/dev/full', '--'] + busy)), 'status or message')
ok('save-nowhere', (lambda x: x.status == 3)(
    Run([CHECK, '--save', at('no/such/folder'), '--'] + busy)), 'status')

# Bad files: damaged, cut short, empty, another kind.
with open(saved, 'rb') as f:
    data = bytearray(f.read())
for name, content in (('empty', b''), ('text', b'just some text\n' * 99), ('header', data[:90])):
    with open(at(name), 'wb') as f:
        f.write(content)
    r = Run([CHECK, '--json', '--perf-data', at(name)])
    ok('bad-file: ' + name, r.status == 3 and r.err and r.summary.get('type') == 'error', r)
r = Run([CHECK, '--perf-data', at('nothing-here')])
ok('bad-file: missing', r.status == 3 and 'No such file' in r.err, r)
with open(at('cut'), 'wb') as f:
    f.write(data[:len(data) * 2 // 3])
r = Run([CHECK, '--json', '--perf-data', at('cut')])
ok('cut-file-is-read-up-to-the-cut', r.status in (0, 3) and r.err and not identities(r) and
   r.summary.get('equal', 0) > same['equal'] // 4, '%s\n%s' % (identities(r), r))
worst = []
for k in range(12):
    hurt = bytearray(data)
    for n in range(40):
        place = (k * 7919 + n * 104729 + n * n * 31) % len(hurt)
        hurt[place] ^= 1 << (n % 8)
    with open(at('hurt'), 'wb') as f:
        f.write(hurt)
    r = Run([CHECK, '--json', '--perf-data', at('hurt')])
    if r.status not in (0, 1, 3, 4) or 'Sanitizer' in r.err:
        worst.append('%d: %s' % (k, r))
ok('flipped-bits', not worst, '\n'.join(worst))

# The program file is replaced, or gone, when the samples are read: never silently used.
program, moved = at('program'), at('moved.data')
shutil.copy(busy[0], program)
r = Run([CHECK, '--save', moved, '--', program, 100])
ok('own-copy', r.status == 0, r)
os.remove(program)
shutil.copy(os.path.join(T, 'sorts'), program)
r = Run([CHECK, '--perf-data', moved])
ok('replaced-program-is-stale', r.status in (0, 4) and '[stale: ' in r.out and
   'module-stale' in r.out, r)
with open(program, 'wb') as f:
    f.write(b'no ELF any more' * 99)
r = Run([CHECK, '--perf-data', moved])
ok('overwritten-program', r.status in (0, 4) and 'module-' in r.out, r)
os.remove(program)
r = Run([CHECK, '--perf-data', moved])
ok('deleted-program', r.status in (0, 4) and '[deleted' in r.out and 'module-deleted' in r.out, r)

# Faults: every read fails once.
r = sampled(lambda k: Run([CHECK, '--json', '--fault-reads', '--frequency', '200', '--',
                           os.path.join(T, 'sorts'), 200 * k]), 20)
agrees('fault-reads', r, least=20)
d = r.one('trace-details')
ok('fault-reads-are-counted', d.get('faults_injected', 0) > 10 * r.testable() > 0 and
   d.get('windows_shortened', 0) > 0.5 * r.testable() and d.get('fault_not_prefix') == 0, d)

# Ctrl-C reports what was captured.
c = Background([CHECK, '--json', '--', 'sh', '-c', 'echo $$ > "$0"; exec "$@"', at('pid'), busy[0],
                60000])
wait_for(lambda: os.path.getsize(at('pid')))
with open(at('pid')) as f:
    worked(int(f.read()), 0.3)
r = c.finish(signal.SIGINT)
ok('interrupt', r.status == 0 and not identities(r) and r.testable() > 0 and
   'nterrupt' in r.err, '%s\n%s' % (identities(r), r))
end()
