#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Programs of other machines, run by qemu-user and sampled from within: every trace against libdw
and against libgcc's own backtrace in the program."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
from runtap import CHECK, HERE, TARGETS, Run, end, identities, ok, skip

MS = 300
# Program, arguments, flags, and whether its traces lie in the one window of a sample that is kept
# (an alternate stack is another one).
SHAPES = (('recursion', (), ['-fno-optimize-sibling-calls'], True),
          ('deep', (), ['-fno-optimize-sibling-calls', '-fno-inline'], False),
          ('sorts', (), ['-fomit-frame-pointer'], True),
          ('throw', (), [], True),
          ('signals', (), [], True),
          ('signals', ('alt',), [], False),
          ('nested', (), [], True),
          ('nested', ('alt',), [], False),
          ('threads', (), ['-pthread'], True),
          ('noreturn', (), [], True),
          ('drap', (), ['-fno-optimize-sibling-calls'], True),
          # On aarch64 no CFI describes the PLT.
          ('plt', (), ['-O1', '-fno-builtin', '-Wl,-z,lazy'], False),
          ('dlopen', (), ['-ldl'], True))
MACHINES = (('s390x', 's390x', []),
            ('s390x-backchain', 's390x', ['-mbackchain']),
            # Leaves park r11, the frame pointer, in f0.
            ('s390x-fp', 's390x', ['-fno-omit-frame-pointer']),
            ('s390x-static', 's390x', ['-static', '-Wl,--eh-frame-hdr']),
            ('aarch64', 'aarch64', []),
            ('aarch64-signed', 'aarch64', ['-mbranch-protection=standard']),
            ('aarch64-static', 'aarch64', ['-static', '-Wl,--eh-frame-hdr']))
# What is not run for every variant of a machine, for the time it takes.
FEW = ('recursion', 'sorts', 'signals', 'nested')


def plugs(folder):
    return [os.path.join(folder, 'plug%d.so' % n) for n in (1, 2, 3)]


def build(arch, folder, name, flags):
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(HERE, 'targets', name)
    cxx = os.path.exists(source + '.cc')
    cc = '%s-linux-gnu-%s' % (arch, 'g++' if cxx else 'gcc')
    out = os.path.join(folder, name)
    sampler = os.path.join(folder, 'sampler.o')
    if not shutil.which(cc):
        return 'no ' + cc
    common = ['-O2', '-Wl,--build-id'] + flags
    for command in ([cc.replace('g++', 'gcc'), '-c', '-O2', '-o', sampler,
                     os.path.join(HERE, 'targets', 'sampler.c')] +
                    [f for f in flags if f.startswith('-m')],
                    [cc, '-o', out, source + ('.cc' if cxx else '.c'), sampler] + common +
                    ['-lm']):
        r = subprocess.run(command, capture_output=True, text=True)
        if r.returncode:
            return 'cannot be built: ' + r.stderr.splitlines()[-1]
    if name == 'dlopen':
        for n, plug in enumerate(plugs(folder)):
            subprocess.run([cc, '-O2', '-shared', '-fPIC', '-DPLUG_ROOM=%d' % (n * 72 + 72), '-o',
                            plug, os.path.join(HERE, 'targets', 'plug.c')], check=True)
    return None


def installing(run, word):
    """Traces that begin where libgcc makes a catching frame's registers those of its own caller.

    The stack pointer follows last: until then the stack is that of no call, and what its frame
    records say cannot be what the CFI says. How many is printed at the end."""
    def at_it(t):
        top = [f.get('function', '').startswith('_Unwind_R') for f in t['frames'][:2]
               if os.path.basename(f.get('module', '')) == 'libgcc_s.so.1']
        return top[:1] == [True] or top == [False, True]
    return sum(t.get('frame_records') == word and at_it(t) for t in run.of_type('trace'))


total = {}
built = {}
between = 0
for variant, arch, extra in MACHINES:
    qemu = shutil.which('qemu-%s-static' % arch)
    folder = os.path.join(TARGETS, variant)
    for name, args, flags, whole in SHAPES:
        full = '-'.join((variant, name) + args)
        if variant != arch and variant != 'aarch64-signed' and (name not in FEW or args):
            continue
        # Once: a file that is built again is another one than a recording of it names.
        if (variant, name) not in built:
            built[variant, name] = build(arch, folder, name, flags + extra)
        why = 'no qemu-%s-static' % arch if not qemu else built[variant, name]
        if why:
            skip(full, why)
            continue
        data = os.path.join(folder, '-'.join((name,) + args) + '.data')
        for k in (1, 4, 16):
            if os.path.exists(data):
                os.remove(data)     # an earlier run's would pass for this one's
            run = Run([qemu, '-L', '/usr/%s-linux-gnu' % arch, os.path.join(folder, name), MS * k,
                       *args, *(plugs(folder) if name == 'dlopen' else ())],
                      env=dict(os.environ, EHU_SAMPLER=data))
            r = Run([CHECK, '--json', '--symbols=' + ('all' if name == 'throw' else 'none'), '-i',
                     data])
            # One signature in 128 is zero, and a program of few calls has few.
            faults = r.one('trace-details').get('oracle_faults', {})
            unsigned = variant == 'aarch64-signed' and name != 'deep' and \
                not faults.get('signed-ra', 0) + faults.get('signal-code', 0)
            if run.status or r.status not in (0, 4) or (r.testable() >= 40 and not unsigned):
                break
        s = r.summary
        why = 'status %d' % run.status if run.status else identities(r)
        details = (r.of_type('trace-details') or [{}])[0]
        chain = details.get('libgcc', {})
        # Complete traces, and those that say that they are not.
        apart = installing(r, 'different') if name == 'throw' else 0
        astray = installing(r, 'astray') if name == 'throw' else 0
        between += apart + astray
        if not why and r.status != (1 if apart else 0):
            why = 'status %d' % r.status
        if not why and apart + astray > 3 + 0.02 * s['samples']:
            why = '%d while libgcc installs a context' % (apart + astray)
        if not why and (s['different'] or s['unexplained'] != apart or s['untestable']):
            why = 'different, unexplained or untestable'
        if not why and s['samples'] < 10:
            why = 'only %d samples' % s['samples']
        # libgcc may itself fault where addresses are signed (sampler.c): such a sample has no
        # chain. How many is printed at the end.
        least = 0.5 if name == 'throw' else 0.95 if variant == 'aarch64-signed' else 1
        if not why and (chain.get('traces', -1) < least * s['samples'] - (least < 1) * 2 or
                        chain['different']):
            why = 'libgcc: %s' % chain
        if not why and whole and (chain['equal'] < 0.98 * chain['traces'] - 2 or
                                  s['complete'] < 0.8 * s['samples']):
            why = 'not to the end: %s' % chain
        # The trampoline is a frame of its own, found by its code.
        if not why and name in ('signals', 'nested') and \
                details['via']['signal-code'] < 0.1 * s['samples']:
            why = 'no handlers: %s' % details['via']
        if not why and unsigned:
            why = 'nothing was signed'
        # Where libdw stops, what a record names is as libgcc has it.
        records = details.get('frame_records')
        if not why and records and (records['different'] != apart or records['astray'] != astray or
                                    records['to_the_end'] < 0.9 * records['complete'] - 2):
            why = 'frame records: %s' % records
        if not why and variant == 'aarch64-signed' and whole and not records:
            why = 'no frame records'
        ok(full, not why, '%s\n%s\n%s\n%s' % (why, details, run, r))
        if variant == 's390x-fp' and name == 'recursion':
            # The same recording as perf makes it: with FPRs that nobody may believe.
            with open(data, 'rb') as f, open(data + '.perf', 'wb') as g:
                g.write(f.read().replace(b'ehunwind-sampler', b'made like perf\0\0'))
            r = Run([CHECK, '--json', '--no-symbols', '-i', data + '.perf'])
            as_perf = r.summary
            ok(full + '-without-fprs', r.status == 0 and as_perf['samples'] == s['samples'] and
               not as_perf['different'] + as_perf['unexplained'] and
               as_perf['stops'].get('fp-unknown', 0) > 0.3 * s['samples'] and
               as_perf['complete'] < 0.6 * s['complete'], r)
        count = total.setdefault(variant, [0, 0, 0, 0])
        for k, n in enumerate((s.get('samples', 0), s.get('frames', 0), chain.get('equal', 0),
                                s.get('samples', 0) - chain.get('traces', 0))):
            count[k] += n
for variant, (samples, frames, equal, without) in total.items():
    print('# %s: %d traces, %d frames; %d as libgcc has them, %d without its chain' %
          (variant, samples, frames, equal, without))
if between:
    print('# %d traces while libgcc installs a context: not counted' % between)
end()
