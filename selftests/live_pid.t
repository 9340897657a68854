#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Sampling processes that run already, in both modes: they agree, and go on as if nothing was."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import (CHECK, SCALE, Background, Run, agrees, cpu_time, end, identities, need_samples,
                    ok, refused, sampled, skip, targets, wait_for, worked)

T = targets()
need_samples()
why = refused('defer')
can_defer = not why
MODES = ('copy', 'defer') if can_defer else ('copy',)
if not can_defer:
    skip('live-deferral', why)


def start(program, *args):
    """A program that runs until finish(), and has begun to work."""
    p = subprocess.Popen([os.path.join(T, program)] + [str(a) for a in args], bufsize=0,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if program == 'busy':
        p.stdout.readline()     # "ready"
    else:
        worked(p.pid, 0.05)
    return p


def busy(threads):
    return start('busy', 0, threads)


def disturb(what):
    return start('disturb', 60000, what)


def status_of(pid, key):
    try:
        with open('/proc/%d/status' % pid) as f:
            for line in f:
                if line.startswith(key + ':'):
                    return line.split(None, 1)[1].strip()
    except OSError:
        pass
    return ''


def left_alone(p):
    """Nobody traces it, and it is neither stopped nor ended."""
    return wait_for(lambda: p.poll() is not None or (
        status_of(p.pid, 'TracerPid') == '0' and status_of(p.pid, 'State')[:1] in 'RSD'),
        20) and p.poll() is None


def finish(p, sig=None):
    """Its status and what it says in the end; standard input ends, too."""
    if sig:
        p.send_signal(sig)
    try:
        out, _ = p.communicate(timeout=120 * SCALE)
        return p.returncode, out.decode().split()
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return -1000, []


def tool(mode, p, *options):
    return Background([CHECK, '--json', '--mode', mode, *options, '--pid', p.pid])


for mode in MODES:
    # A busy process of several threads: its own sum stays right.
    p = busy(4)
    r = sampled(lambda k: Run([CHECK, '--json', '--mode', mode, '--pid', p.pid, '--duration', k]))
    agrees(mode + ': busy threads', r, least=100)
    ok(mode + ': it goes on', left_alone(p), p.returncode)
    if mode == 'defer':
        s = r.one('stops')
        ok('defer: all threads', s.get('threads') == 5 and s.get('undetached') == 0, s)
    done = finish(p)
    ok(mode + ': its sum is right', done == (0, ['right']), done)

    # The target ends first.
    p = busy(2)
    c = tool(mode, p)
    c.attached(threads=3)
    worked(p.pid, 0.2)
    done = finish(p)
    r = c.finish()
    ok(mode + ': ends with its target', r.status == 0 and not identities(r) and
       done == (0, ['right']), '%s %s %s' % (r, identities(r), done))

    # Ctrl-C.
    p = busy(3)
    c = tool(mode, p)
    c.attached(threads=4)
    worked(p.pid, 0.2)
    r = c.finish(signal.SIGINT)
    ok(mode + ': interrupt', r.status == 0 and 'nterrupt' in r.err and not identities(r), r)
    ok(mode + ': interrupt: it goes on', left_alone(p), p.returncode)
    done = finish(p)
    ok(mode + ': interrupt: its sum is right', done == (0, ['right']), done)

    # Nobody there.
    p = subprocess.Popen(['/bin/true'])
    p.wait()
    r = Run([CHECK, '--mode', mode, '--pid', p.pid])
    ok(mode + ': no such process', r.status == 4 and 'o such process' in r.err and not r.out, r)
    r = Run([CHECK, '--json', '--mode', mode, '--pid', p.pid])
    ok(mode + ': no such process, in JSON', r.status == 4 and r.summary.get('type') == 'error', r)

if can_defer:
    # Attached to and left again and again, also while SIGTRAP is blocked and a trap waits.
    p = disturb('unblocks')
    for k in range(5):
        c = tool('defer', p, '--frequency', '4000')
        c.attached()
        worked(p.pid, 0.1)
        r = c.finish(signal.SIGINT)
        if r.status:
            break
    ok('no-trap-is-left-behind: the tool', r.status == 0, r)
    going = left_alone(p)
    done = finish(p, signal.SIGUSR2)
    ok('no-trap-is-left-behind', going and done[0] == 0, '%s %s' % (going, done))

    # Stopped by its terminal or shell before, during and after.
    p = busy(2)
    p.send_signal(signal.SIGSTOP)
    wait_for(lambda: status_of(p.pid, 'State').startswith('T'))
    r = Run([CHECK, '--json', '--mode', 'defer', '--pid', p.pid, '--duration', 1])
    # Let go, a stopped thread wakes up for a moment, to stop again without a tracer.
    stopped = wait_for(lambda: status_of(p.pid, 'State').startswith('T'), 30)
    ok('stopped: stays stopped', r.status == 4 and r.summary.get('samples') == 0 and stopped,
       '%s %s' % (r, status_of(p.pid, 'State')))
    c = tool('defer', p)
    c.attached(threads=3)
    p.send_signal(signal.SIGCONT)
    worked(p.pid, 0.2)
    r = c.finish(signal.SIGINT)
    ok('stopped: continued under us', r.status == 0 and r.testable() > 0, r)
    done = finish(p)
    ok('stopped: its sum is right', done == (0, ['right']), done)

    # Killed while it is stopped for us, as it is most of the time at this rate.
    p = start('deep', 60000, 2500)
    c = tool('defer', p, '--frequency', '20000')
    c.attached()
    worked(p.pid, 0.1)
    p.kill()
    r = c.finish()
    ok('killed', r.status == 0 and r.summary.get('type') == 'trace-summary', r)
    finish(p)

    # Two at a time: the second is told who the first is.
    p = busy(2)
    c = tool('defer', p)
    c.attached(threads=3)
    r = Run([CHECK, '--mode', 'defer', '--pid', p.pid])
    ok('already-traced', r.status == 4 and 'already traced' in r.err and
       str(c.process.pid) in r.err and not r.out, r)
    worked(p.pid, 0.1)
    r = c.finish(signal.SIGINT)
    ok('already-traced: the first goes on', r.status == 0, r)
    done = finish(p)
    ok('already-traced: its sum is right', done == (0, ['right']), done)

    # Our own death leaves a process that was attached to alive, unless it is in a stop then: here
    # the first stop would come after a second of its time. Where that was up, once more.
    for k in range(10):
        p = disturb('work')
        before = cpu_time(p.pid)
        c = tool('defer', p, '--frequency', '1')
        c.attached()
        c.finish(signal.SIGKILL)
        used = (wait_for(lambda: cpu_time(p.pid) + 1) or 1) - 1 - before
        going = left_alone(p) and worked(p.pid, 0.1)
        done = finish(p, signal.SIGUSR2)
        if used < 0.9 or (going and done[0] == 0):
            break
    ok('our-death', going and done[0] == 0, '%s s, %s, %s' % (used, going, done))

if os.geteuid() == 0 and can_defer:
    p = disturb('work')

    def drop():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    try:
        for mode in MODES:
            r = Run([CHECK, '--mode', mode, '--pid', p.pid], preexec_fn=drop, cwd='/')
            ok(mode + ': of another user', r.status == 4 and not r.out and
               ('another user' in r.err or 'ermission' in r.err or 'not permitted' in r.err), r)
    except (PermissionError, subprocess.SubprocessError) as e:
        skip('of-another-user', e)
    p.kill()
    finish(p)
else:
    skip('of-another-user', 'not root')

for args in (['--pid', '0'], ['--pid', '1x'], ['--pid', '1', 'file'], ['--pid', '1', '--', 'true'],
             ['--pid', '1', '--perf-data', 'x'], ['--pid', '1', '--exit-status']):
    r = Run([CHECK] + args)
    ok('usage: ' + ' '.join(args), r.status == 2 and not r.out and r.err, r)
end()
