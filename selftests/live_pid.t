#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Sampling processes that run already, in both modes: they agree, and go on as if nothing was."""
import os
import pwd
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, SCALE, Run, agrees, end, identities, ok, skip, targets

T = targets()

probe = Run([CHECK, '--mode', 'defer', '--', os.path.join(T, 'recursion'), '50'])
can_defer = not (probe.status == 4 and 'perf_event_open' in probe.err)
MODES = ('copy', 'defer') if can_defer else ('copy',)
if not can_defer:
    skip('live-deferral', 'no events with sigtrap here')


def start(program, *args, **how):
    p = subprocess.Popen([os.path.join(T, program)] + [str(a) for a in args],
                         stdout=subprocess.PIPE, **how)
    time.sleep(0.1)
    return p


def status_of(pid, key):
    with open('/proc/%d/status' % pid) as f:
        for line in f:
            if line.startswith(key + ':'):
                return line.split(None, 1)[1].strip()
    return ''


def left_alone(p):
    """Nobody traces it, and it is neither stopped nor ended."""
    return p.poll() is None and status_of(p.pid, 'TracerPid') == '0' and \
        status_of(p.pid, 'State')[0] in 'RSD'


def finish(p):
    try:
        out, _ = p.communicate(timeout=20 * SCALE)
        return p.returncode, out.decode().split()
    except subprocess.TimeoutExpired:
        p.kill()
        return -1000, []


def listens(pid):
    """Waits until a process takes SIGINT itself: before that it would die of it."""
    for _ in range(500):
        with open('/proc/%d/status' % pid) as f:
            masks = [int(l.split()[1], 16) for l in f if l.startswith(('SigBlk:', 'SigCgt:'))]
        if any(m >> (signal.SIGINT - 1) & 1 for m in masks):
            return
        time.sleep(0.02)


for mode in MODES:
    # A busy process of several threads: its own sum stays right.
    p = start('busy', 160000, 4)
    r = Run([CHECK, '--json', '--mode', mode, '--pid', p.pid, '--duration', 1])
    agrees(mode + ': busy threads', r, least=100)
    ok(mode + ': it goes on', left_alone(p), p.returncode)
    if mode == 'defer':
        s = (r.of_type('stops') or [{}])[0]
        ok('defer: all threads', s.get('threads') == 5 and s.get('undetached') == 0, s)
    done = finish(p)
    ok(mode + ': its sum is right', done == (0, ['ready', 'right']), done)

    # The target ends first.
    p = start('busy', 40000, 2)
    r = Run([CHECK, '--json', '--mode', mode, '--pid', p.pid, '--duration', 20])
    done = finish(p)
    ok(mode + ': ends with its target', r.status in (0, 4) and not identities(r) and
       done == (0, ['ready', 'right']), '%s %s' % (r, done))

    # Ctrl-C.
    p = start('busy', 130000, 3)
    c = subprocess.Popen([CHECK, '--json', '--mode', mode, '--pid', str(p.pid)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    listens(c.pid)
    time.sleep(0.3 * SCALE)
    c.send_signal(signal.SIGINT)
    out, err = c.communicate(timeout=10 * SCALE)
    ok(mode + ': interrupt', c.returncode == 0 and b'nterrupt' in err and b'"trace-summary"' in out,
       '%d %s' % (c.returncode, err))
    ok(mode + ': interrupt: it goes on', left_alone(p), p.returncode)
    done = finish(p)
    ok(mode + ': interrupt: its sum is right', done == (0, ['ready', 'right']), done)

    # Nobody there.
    p = start('recursion', 0)
    p.wait()
    r = Run([CHECK, '--mode', mode, '--pid', p.pid])
    ok(mode + ': no such process', r.status == 4 and 'o such process' in r.err and not r.out, r)
    r = Run([CHECK, '--json', '--mode', mode, '--pid', p.pid])
    ok(mode + ': no such process, in JSON', r.status == 4 and r.summary.get('type') == 'error', r)

if can_defer:
    # Attached to and left again and again, also while SIGTRAP is blocked and a trap waits.
    p = start('disturb', 2500, 'unblocks')
    for k in range(5):
        r = subprocess.Popen([CHECK, '--mode', 'defer', '--frequency', '4000', '--pid', str(p.pid)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.2)
        r.send_signal(signal.SIGINT)
        r.wait()
    ok('no-trap-is-left-behind', left_alone(p) and finish(p)[0] == 0, p.returncode)

    # Stopped by its terminal or shell before, during and after.
    p = start('busy', 60000, 2)
    p.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    r = Run([CHECK, '--json', '--mode', 'defer', '--pid', p.pid, '--duration', 1])
    ok('stopped: stays stopped', r.status == 4 and r.summary.get('samples') == 0 and
       status_of(p.pid, 'State').startswith('T'), '%s %s' % (r, status_of(p.pid, 'State')))
    c = subprocess.Popen([CHECK, '--json', '--mode', 'defer', '--pid', str(p.pid), '--duration', '1'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.3)
    p.send_signal(signal.SIGCONT)
    out, err = c.communicate(timeout=10 * SCALE)
    ok('stopped: continued under us', c.returncode == 0, '%s %s' % (out[-500:], err))
    done = finish(p)
    ok('stopped: its sum is right', done == (0, ['ready', 'right']), done)

    # Killed while it is stopped for us, as it is most of the time at this rate.
    p = start('deep', 60000, 2500)
    c = subprocess.Popen([CHECK, '--json', '--mode', 'defer', '--frequency', '20000', '--pid',
                          str(p.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.4 * SCALE)
    p.kill()
    out, err = c.communicate(timeout=10 * SCALE)
    ok('killed', c.returncode == 0 and b'"trace-summary"' in out, '%d %s' % (c.returncode, err))
    p.wait()

    # Two at a time: the second is told who the first is.
    p = start('busy', 150000, 2)
    c = subprocess.Popen([CHECK, '--mode', 'defer', '--pid', str(p.pid), '--duration', '1'],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    r = Run([CHECK, '--mode', 'defer', '--pid', p.pid])
    ok('already-traced', r.status == 4 and 'already traced' in r.err and str(c.pid) in r.err and
       not r.out, r)
    c.wait()
    done = finish(p)
    ok('already-traced: its sum is right', done == (0, ['ready', 'right']), done)

    # Our own death leaves a process that was attached to alive (unless it falls into a stop).
    p = start('disturb', 1500, 'work')
    c = subprocess.Popen([CHECK, '--mode', 'defer', '--frequency', '5', '--pid', str(p.pid)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    c.kill()
    c.wait()
    time.sleep(0.05)
    ok('our-death', left_alone(p) and finish(p)[0] == 0, p.returncode)

if os.geteuid() == 0 and can_defer:
    nobody = pwd.getpwnam('nobody').pw_uid
    p = start('disturb', 1500, 'work')

    def drop():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(nobody)

    try:
        for mode in MODES:
            r = Run([CHECK, '--mode', mode, '--pid', p.pid], preexec_fn=drop, cwd='/')
            ok(mode + ': of another user', r.status == 4 and not r.out and
               ('another user' in r.err or 'ermission' in r.err or 'not permitted' in r.err), r)
    except PermissionError as e:
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
