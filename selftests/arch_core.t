#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Core dumps: native ones of 64 and 32 bits, cut short, and those that qemu-user writes."""
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, HERE, Run, end, identities, ok, skip

# Frames of selftests/targets/crash.c: three threads that wait 2, 3 and 4 calls deep below
# waits(), thread(), start_thread() and clone(); the one that died has a handler's frames above.
work = tempfile.mkdtemp()
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def build(cc, name, flags):
    out = os.path.join(work, name)
    try:
        r = subprocess.run([cc, '-O2', '-pthread', '-fno-optimize-sibling-calls', '-o', out,
                            os.path.join(HERE, 'targets', 'crash.c')] + flags, capture_output=True)
    except FileNotFoundError:
        return None
    return None if r.returncode else out


def dump(name, command):
    """Runs it to its death; the path of its core, or None."""
    folder = os.path.join(work, name + '.d')
    os.makedirs(folder)
    subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
    cores = glob.glob(os.path.join(folder, 'qemu_*.core')) or \
        glob.glob(os.path.join(folder, 'core*'))
    for extra in glob.glob(os.path.join(folder, 'core*')):
        if extra not in cores:
            os.remove(extra)        # of the emulator itself
    return cores[0] if cores else None


def good(name, r, signal_frame=True):
    """All threads to their end, agreeing; the handler's thread through its signal frame."""
    why = identities(r)
    s = r.summary
    traces = r.of_type('trace')
    if not why and (r.status or s['different'] or s['unexplained'] or s['untestable']):
        why = 'status %d, or differs' % r.status
    if not why and (s['mode'] != 'core' or len(traces) != 4 or s['complete'] != 4):
        why = 'not four complete traces'
    if not why and len(traces[0]['frames']) < 12:
        why = 'the handler ends the trace'
    if not why:
        depth = sorted(len(t['frames']) for t in traces[1:])
        if depth[1] != depth[0] + 1 or depth[2] != depth[0] + 2:
            why = 'threads of depths %s' % depth
    return ok(name, not why, '%s\n%s' % (why, r))


for name, flags in (('x86_64', []), ('i386', ['-m32']),
                    ('x86_64-static', ['-static', '-Wl,--eh-frame-hdr'])):
    program = build('gcc', name, flags)
    core = dump(name, [program]) if program else None
    if not core:
        skip(name, 'no core dump of such a program here')
        continue
    good(name, Run([CHECK, '--json', '--core', core]))
    good(name + '-exe', Run([CHECK, '--json', '--core', core, '--exe', program]))
    size = os.path.getsize(core)
    bad = []
    short = os.path.join(work, 'short')
    for cut in [size * k // 16 for k in range(16)] + [0, 1, 63, 64, 65, 200, 1000, 4096, 5000]:
        with open(core, 'rb') as f, open(short, 'wb') as g:
            g.write(f.read(cut))
        r = Run([CHECK, '--json', '--core', short])
        whole = r.status == 0 and r.summary.get('complete') == 4
        if r.status not in (0, 3, 4) or (cut < size and r.status != 3 and 'truncated' not in r.err):
            bad.append((cut, str(r)))
    ok(name + '-truncated', not bad, bad)
    other = shutil.copy('/bin/true', os.path.join(work, 'other'))
    r = Run([CHECK, '--json', '--core', core, '--exe', other])
    ok(name + '-other-exe', r.status in (0, 4) and not r.summary.get('different') and
       any(m['path'].endswith(name) and m['status'] == 'stale' for m in r.of_type('module')), r)
    os.rename(program, program + '.gone')
    r = Run([CHECK, '--json', '--core', core])
    ok(name + '-exe-gone', r.status in (0, 4) and
       any(m['status'] == 'deleted' for m in r.of_type('module')), r)

for arch in ('aarch64', 's390x'):
    for kind, flags in (('', []), ('-static', ['-static', '-Wl,--eh-frame-hdr']),
                        ('-signed', ['-mbranch-protection=standard'])):
        name = arch + kind
        if name == 's390x-signed':
            continue
        qemu = shutil.which('qemu-%s-static' % arch)
        program = build(arch + '-linux-gnu-gcc', name, flags)
        root = '/usr/%s-linux-gnu' % arch
        core = dump(name, [qemu, '-L', root, program]) if qemu and program else None
        if not core:
            skip('qemu-' + name, 'no core dump of such a program here')
            continue
        r = Run([CHECK, '--json', '--core', core, '--exe', program, '--symfs', root])
        good('qemu-' + name, r)
        # The program is not below the prefix: its names come from --exe all the same.
        named = Run([CHECK, '--json', '--symbols=all', '--core', core, '--exe', program, '--symfs',
                     root])
        names = {f.get('function') for t in named.of_type('trace') for f in t['frames']}
        ok('qemu-%s-names' % name, {'dies', 'on_signal', 'waits', 'main'} <= names, names)
        if kind == '':
            bare = Run([CHECK, '--json', '--core', core])
            ok('qemu-%s-without-exe' % name, bare.status == 4 and '--exe' in bare.err, bare)
        if name != 's390x-static':
            continue
        if not shutil.which('gdb-multiarch'):
            skip('qemu-s390x-static-gdb', 'no gdb-multiarch')
            continue
        # gdb does not follow the handler's frame: what it has has to be ours.
        g = subprocess.run(['gdb-multiarch', '-q', '-batch', '-nx', '-ex',
                            'thread apply all -q bt', program, core],
                           capture_output=True, text=True, timeout=120).stdout
        stacks, n = [], 0
        for line in g.splitlines():
            m = re.match(r'#(\d+) +0x([0-9a-f]+) in', line)
            if m and m.group(1) == '0':
                stacks.append([])
            if m:
                stacks[-1].append(int(m.group(2), 16))
        ours = [[int(f['pc'], 16) for f in t['frames']] for t in r.of_type('trace')]
        found = [s for s in stacks if any(o[:len(s)] == s for o in ours)]
        ok('qemu-s390x-static-gdb', len(stacks) >= 4 and found == stacks and
           sum(s in ours for s in stacks) >= 3, '%s\n%s' % (stacks, ours))

r = Run([CHECK, '--json', '--core', CHECK])
ok('not-a-core', r.status == 3 and 'not a core dump' in r.err, r)
r = Run([CHECK, '--exe', 'x', 'y'])
ok('exe-is-for-core', r.status == 2, r)
shutil.rmtree(work)
end()
