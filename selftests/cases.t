#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Builds the inputs in selftests/cases and holds the tools against each line of expected.txt.

The grammar is in selftests/cases/README.md. selftests/cases.t [CASE...] runs some of them.
"""
import concurrent.futures
import json
import os
import re
import resource
import struct
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'cases')
BUILD = os.path.abspath(os.environ.get('EHU_BUILD', os.path.join(HERE, '../../build')))
SCALE = float(os.environ.get('EHU_TIMEOUT_SCALE', '1'))
DUMP = os.path.join(BUILD, 'ehunwind-dump')
CHECK = os.path.join(BUILD, 'ehunwind-check')
REFUSALS = ('unsupported', 'over-limit', 'malformed', 'corrupt')


def run(args, cpu=10):
    """Status, stdout and stderr of a tool; a signal or a hang is a status below 0.

    The limit is CPU time, which other work on the machine does not change; a tool that waits
    instead has twenty times as long.
    """
    timeout = 20 * cpu * SCALE
    seconds = int(cpu * SCALE) + 1
    try:
        p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=dict(os.environ, LC_ALL='C'))
    except OSError as e:
        return -1001, '', str(e)
    try:
        # From here: what runs in a child before execve() may hang where there are threads.
        resource.prlimit(p.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
    except ProcessLookupError:
        pass
    try:
        out, err = p.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return -1000, '', 'no end after %g s' % timeout
    return p.returncode, out.decode(errors='replace'), err.decode(errors='replace')


class Names:
    """Sections and symbols of a file, read here: the tools' own reading is under test."""

    def __init__(self, path):
        self.path, self.section, self.symbol = path, {}, {}
        with open(path, 'rb') as f:
            d = f.read()
        if d[:4] != b'\x7fELF' or len(d) < 64:
            return
        e = '<' if d[5] == 1 else '>'
        wide = d[4] == 2
        off, = struct.unpack_from(e + ('Q' if wide else 'I'), d, 40 if wide else 32)
        size, nr, names = struct.unpack_from(e + 'HHH', d, 58 if wide else 46)
        heads = []
        for i in range(nr if off else 0):
            f = struct.unpack_from(e + ('IIQQQQIIQQ' if wide else '10I'), d, off + i * size)
            heads.append(f)
        for f in heads:
            self.section.setdefault(self.text(d, heads[names], f[0]), f[3])
        tables = [f for f in heads if f[1] == 2] or [f for f in heads if f[1] == 11]
        for f in tables:
            for at in range(f[4], f[4] + f[5], 24 if wide else 16):
                if wide:
                    name, info, _, shndx, value, _ = struct.unpack_from(e + 'IBBHQQ', d, at)
                else:
                    name, value, _, info, _, shndx = struct.unpack_from(e + 'IIIBBH', d, at)
                name = self.text(d, heads[f[6]], name)
                if shndx and name and info & 15 in (0, 1, 2):
                    self.symbol[name] = min(value, self.symbol.get(name, value))

    @staticmethod
    def text(data, head, at):
        start = head[4] + at
        return data[start:data.index(b'\0', start)].decode(errors='replace')

    def place(self, text):
        base, plus, off = text.rpartition('+')
        if not plus:
            base, off = text, '0'
        for names in (self.section, self.symbol):
            if base in names:
                return names[base] + int(off, 16)
        return int(base, 16) + int(off, 16)


class Tap:
    def __init__(self):
        self.nr, self.failed = 0, False

    def result(self, name, wrong):
        self.nr += 1
        print('%sok %d %s' % ('not ' if wrong else '', self.nr, name.replace('#', '')), flush=True)
        if wrong:
            self.failed = True
            for line in wrong.splitlines():
                print('# cases.t:%s: %s' % (name, line), file=sys.stderr, flush=True)

    def skip(self, name, reason):
        self.nr += 1
        print('ok %d %s # SKIP %s' % (self.nr, name, reason), flush=True)

    @staticmethod
    def note(text):
        print('# ' + text, flush=True)


def objects(out):
    return [json.loads(line) for line in out.splitlines()]


def check_row(words, seen):
    want = {'cfa': None, 'ra': None, 'fp': None, 'sp': None, 'signal': False, 'ra_signed': False}
    for w in words:
        key, eq, value = w.partition('=')
        if eq:
            want[key.lower()] = value
        elif w == 'sig':
            want['signal'] = True
        elif w == 'RA-signed':
            want['ra_signed'] = True
        else:
            return 'cannot read %r in expected.txt' % w
    if seen['type'] != 'row':
        return 'no row: %s (%s)' % (seen['stop'], seen['class'])
    wrong = []
    for key, value in want.items():
        if key in ('cfa', 'ra', 'fp') and value is None:
            continue
        if seen.get(key, False if key == 'ra_signed' else None) != value:
            wrong.append('%s is %s, should be %s' % (key, seen.get(key), value))
    return '\n'.join(wrong)


def check_place(kind, words, seen):
    """A row, none or bad line against the object that the dump printed."""
    if kind == 'row':
        return check_row(words, seen)
    if seen['type'] != 'no-row':
        return 'a row: %s' % seen
    if kind == 'none':
        return '' if seen['stop'] == 'no-fde' else 'stop is %(stop)s' % seen
    if seen['class'] not in REFUSALS:
        return 'stop is %(stop)s, of class %(class)s' % seen
    if '=>' in words and seen['stop'] != words[words.index('=>') + 1]:
        return 'stop is %s, should be %s' % (seen['stop'], words[words.index('=>') + 1])
    return ''


def check_places(tap, case, path, lines):
    """All lines of one file by one run of the dump; a second run tells that it is stable."""
    names = Names(path)
    pcs = []
    for _, _, place, _ in lines:
        pcs += ['--pc', place]
    status, out, err = run([DUMP, '--json'] + pcs + [path])
    again = run([DUMP, '--json'] + pcs + [path])
    seen = []
    wrong = err.strip() if status else ''
    if not wrong:
        seen = objects(out)
    if again[1] != out:
        wrong = 'a second run says something else'
    if not wrong and len(seen) != len(lines):
        wrong = '%d objects for %d addresses' % (len(seen), len(lines))
    for i, (kind, file, place, words) in enumerate(lines):
        said = wrong
        if not said and int(seen[i]['pc'], 16) != names.place(place):
            said = 'pc is %s' % seen[i]['pc']
        tap.result('%s %s %s %s' % (case, kind, file, place),
                   said or check_place(kind, words, seen[i]))


def check_stack(path, text):
    """... -> FRAME FRAME end=WHY [partial=N:WHY]"""
    stack, _, want = text.partition(' -> ')
    status, out, err = run([DUMP, '--json', '--walk', stack, path])
    if status:
        return 'status %d: %s' % (status, err)
    trace = objects(out)[0]
    frames, end, partial = [], None, None
    names = Names(path)
    for w in want.split():
        if w.startswith('end='):
            end = w[4:]
        elif w.startswith('partial='):
            partial = w[8:].split(':')
        else:
            frames.append(names.place(w))
    seen = [int(f['pc'], 16) for f in trace['frames']]
    if seen == frames and end in ('*', trace['stop']):
        return ''
    if partial and seen == frames[:int(partial[0])] and trace['stop'] == partial[1]:
        return ''
    return 'trace is %s end=%s' % (' '.join('%#x' % f for f in seen), trace['stop'])


def check_reject(path):
    for tool in (DUMP, CHECK):
        status, out, err = run([tool, path])
        if status != 3 or not (out + err).strip():
            return '%s: status %d: %s' % (os.path.basename(tool), status, out + err)
    return ''


def check_say(path, text):
    """... => REGEX: the report of ehunwind-check has a line that matches."""
    if ' => ' not in text:
        return 'no " => REGEX" in expected.txt'
    status, out, err = run([CHECK, path])
    if status < 0 or status == 2:
        return 'status %d: %s' % (status, err)
    if re.search(text.split(' => ')[1], out + err):
        return ''
    return 'the report does not say it:\n' + out + err


def check_robust(path, seconds):
    for tool in (DUMP, CHECK):
        status, _, err = run([tool, path], float(seconds))
        if status not in (0, 1, 3, 4):
            return '%s: status %d: %s' % (os.path.basename(tool), status, err[-2000:])
    return ''


def check_whole(path):
    """The dump of the whole file: every FDE's rows cover its range without a gap."""
    status, out, err = run([DUMP, '--json', path])
    if status:
        return 'status %d: %s' % (status, err)
    at = end = 0
    for o in objects(out):
        if o['type'] == 'fde':
            if at < end:
                return 'rows end at %#x, the FDE at %#x' % (at, end)
            at, end = int(o['start'], 16), int(o['end'], 16)
        elif o['type'] in ('row', 'no-row'):
            if int(o['start'], 16) != at or int(o['end'], 16) <= at:
                return 'the row after %#x is %s' % (at, o)
            at = int(o['end'], 16)
    return '' if at >= end else 'rows end at %#x, the FDE at %#x' % (at, end)


def build(case):
    folder = os.path.join(HERE, case)
    if not os.path.exists(os.path.join(folder, 'build')):
        return None
    p = subprocess.run(['sh', './build', os.path.join(BUILD, 'cases', case)], cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode, p.stdout.decode(errors='replace')


def read_expected(case):
    with open(os.path.join(HERE, case, 'expected.txt')) as f:
        for line in f:
            line = line.strip()
            if line and line[0] != '#':
                # What an oracle is known to say instead.
                yield line.split(' | ')[0].split(None, 2)


def run_case(tap, case, built):
    out = os.path.join(BUILD, 'cases', case)
    skipped, places, stacks = {}, {}, 0
    if built is not None:
        tap.result(case + ' build', built[1] if built[0] else '')
        if built[0]:
            return
        with open(os.path.join(out, 'skipped')) as f:
            for line in f:
                file, reason = line.strip().split(None, 1)
                skipped[file] = reason
    for kind, file, rest in read_expected(case):
        path = os.path.join(out, file)
        name = '%s %s %s' % (case, kind, file)
        if built is None or kind == 'trace' or file.startswith('perf.'):
            # Samples of real programs: the differential tests have these.
            tap.note('not here: %s %s' % (name, rest))
        elif file in skipped:
            continue
        elif kind in ('row', 'none', 'bad'):
            words = rest.split()
            places.setdefault(path, []).append((kind, file, words[0], words[1:]))
        elif kind == 'stack':
            stacks += 1
            tap.result('%s %d' % (name, stacks), check_stack(path, rest))
        elif kind == 'reject':
            tap.result(name, check_reject(path))
        elif kind == 'say':
            tap.result('%s: %s' % (name, rest.split(' => ')[0]), check_say(path, rest))
        elif kind == 'robust':
            tap.result(name, check_robust(path, rest))
        else:
            tap.result(name, 'cannot read this line of expected.txt')
    for path, lines in places.items():
        check_places(tap, case, path, lines)
        tap.result('%s whole %s' % (case, os.path.basename(path)), check_whole(path))
    for file, reason in skipped.items():
        tap.skip('%s %s' % (case, file), reason)


def main():
    cases = sys.argv[1:] or sorted(c for c in os.listdir(HERE)
                                   if os.path.exists(os.path.join(HERE, c, 'expected.txt')))
    tap = Tap()
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for case, built in zip(cases, pool.map(build, cases)):
            run_case(tap, case, built)
    print('1..%d' % tap.nr)
    return 1 if tap.failed or not tap.nr else 0


sys.exit(main())
