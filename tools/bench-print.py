#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Times ehunwind-check --print and perf script on the same files, and compares their stacks.

usage: bench-print.py EHUNWIND-CHECK ROUNDS FOLDER FILE...
"""
import bisect
import collections
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time

check, rounds, folder, files = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
FIELDS = ['-F', 'comm,pid,time,ip']
COMMANDS = {
    'perf': lambda f: ['perf', 'script', '-i', f] + FIELDS,
    'perf --no-inline': lambda f: ['perf', 'script', '--no-inline', '-i', f] + FIELDS,
    'ours': lambda f: [check, '--print', '--no-symbols', '--perf-data', f],
    'ours, 2 jobs': lambda f: [check, '--print', '--no-symbols', '--jobs=2', '--perf-data', f],
}
if os.environ.get('BENCH_NO_INLINE'):
    del COMMANDS['perf']
NO_ADDRESS = 2 ** 64 - 1


def timed(command, out):
    """CPU time with that of children (perf starts addr2line), and time by the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(out, 'w') as f:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=f,
                                stderr=subprocess.DEVNULL).returncode
    if status:
        sys.exit('bench-print: status %d: %s' % (status, ' '.join(command)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            time.monotonic() - begun)


class Maps:
    """What perf says is mapped: it prints places in files, not addresses."""
    LINE = re.compile(r'PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ '
                      r'(0x[0-9a-f]+|0) .*: (\S+) (.*)')
    FORK = re.compile(r'PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)')
    EXEC = re.compile(r'PERF_RECORD_COMM exec: .*:(\d+)/\d+')

    def __init__(self):
        self.of = collections.defaultdict(list)

    def take(self, line):
        m = self.LINE.search(line)
        if m:
            pid, start, size, pos = (int(n, 0) for n in m.groups()[:4])
            if 'x' in m[5]:
                kept = [r for r in self.of[pid] if r[0] >= start + size or r[1] <= start]
                bisect.insort(kept, (start, start + size, pos, m[6]))
                self.of[pid] = kept
            return
        m = self.FORK.search(line)
        if m and m[1] != m[2]:
            self.of[int(m[1])] = list(self.of[int(m[2])])
        m = self.EXEC.search(line)
        if m:
            self.of[int(m[1])] = []

    def at(self, pid, ip):
        ranges = self.of[pid]
        k = bisect.bisect_right(ranges, (ip, NO_ADDRESS)) - 1
        return ranges[k] if k >= 0 and ranges[k][0] <= ip < ranges[k][1] else None


def stacks(lines, other=None):
    """Yields (pid, time, addresses) of each stack; other lines go to @other."""
    head = None
    for line in lines:
        line = line.rstrip('\n')
        if line.startswith('\t'):
            if not line.endswith('(inlined)'):
                ips.append(int(line.split(None, 1)[0], 16))
        elif not line:
            if head:
                yield head[0], head[1], ips
            head = None
        elif ' PERF_RECORD_' in line:
            other(line)
        else:
            pid, at = line.rstrip(': ').split()[-2:]
            head, ips = (int(pid), at), []
    if head:
        yield head[0], head[1], ips


def same(maps, pid, theirs, ip, exact):
    """perf means the call, not the address that it returns to, and writes where that is in a file."""
    for at in (ip,) if exact else (ip - 1, ip):
        r = maps.at(pid, at)
        if theirs == at or (r and theirs == at - r[0] + r[2]):
            return True
    return False


def judge(maps, pid, theirs, ours):
    """How two stacks compare, in words."""
    root = bool(theirs) and theirs[-1] == NO_ADDRESS
    theirs = theirs[:-1] if root else theirs
    for k in range(min(len(theirs), len(ours))):
        if not same(maps, pid, theirs[k], ours[k], not k):
            # No place in a file is that far from its begin, so perf found no file there.
            if theirs[k] >> 32 and not maps.at(pid, theirs[k]):
                return 'perf goes astray', 'to an address where nothing is mapped'
            return 'different', 'from frame %d on' % k
    if len(theirs) == len(ours):
        return ('equal', 'but for a root 0xffffffffffffffff of perf\'s') if root else ('equal', '')
    last = maps.at(pid, ours[min(len(theirs), len(ours)) - 1] - 1) if theirs and ours else None
    where = 'at %s' % os.path.basename(last[3]) if last else 'nothing mapped there'
    if len(theirs) < len(ours):
        return 'perf ends earlier', where + (', with a root 0xffffffffffffffff' if root else '')
    return 'ours ends earlier', where


def compare(path, printed):
    """Counts of verdicts; the stacks of both are in order of time."""
    maps, verdicts, frames = Maps(), collections.Counter(), [0, 0]
    command = ['perf', 'script', '--no-inline', '-i', path, '--show-mmap-events',
               '--show-task-events'] + FIELDS
    perf = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            errors='replace')
    with open(printed, errors='replace') as f:
        ours = stacks(f)
        mine = next(ours, None)
        for pid, at, theirs in stacks(perf.stdout, maps.take):
            while mine and float(mine[1]) < float(at):
                verdicts['in ours only', ''] += 1
                mine = next(ours, None)
            if not mine or mine[:2] != (pid, at):
                verdicts['in perf\'s only', ''] += 1
                continue
            verdicts[judge(maps, pid, theirs, mine[2])] += 1
            frames[0] += len(mine[2])
            frames[1] += len(theirs)
            mine = next(ours, None)
        while mine:
            verdicts['in ours only', ''] += 1
            mine = next(ours, None)
    perf.wait()
    return verdicts, frames


def by_libdw(path):
    """How our frames compare with libdw's, by sample."""
    command = [check, '--json', '--symbols=none', '--perf-data', path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        for line in p.stdout:
            last = line
    return json.loads(last)


def spread(values):
    return '%.3f (%.3f-%.3f)' % (statistics.median(values), min(values), max(values))


worst = 0
print('CPU seconds, user and system, of %d rounds: median (least-most); load %.1f' %
      (rounds, os.getloadavg()[0]))
for path in files:
    cpu, clock = collections.defaultdict(list), collections.defaultdict(list)
    out = {name: os.path.join(folder, 'out.%d' % k) for k, name in enumerate(COMMANDS)}
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            used, passed = timed(command(path), out[name])
            cpu[name].append(used)
            clock[name].append(passed)
    verdicts, frames = compare(path, out['ours'])
    with open(out['ours']) as a, open(out['ours, 2 jobs']) as b:
        alike = a.read() == b.read()
    n = sum(verdicts.values())
    print('\n%s: %d MiB, %d samples, %.1f frames each, %.1f of perf\'s' %
          (os.path.basename(path), os.path.getsize(path) >> 20, n, *(f / max(n, 1) for f in frames)))
    for name in COMMANDS:
        print('  %-18s %-24s by the clock %-24s' % (name, spread(cpu[name]), spread(clock[name])))
    for name in [n for n in COMMANDS if n.startswith('perf')]:
        ratios = [a / b for a, b in zip(cpu[name], cpu['ours'])]
        print('  ours is 1/%.1f of %s (by round 1/%.1f to 1/%.1f)' %
              (statistics.median(cpu[name]) / statistics.median(cpu['ours']), name,
               min(ratios), max(ratios)))
    for (verdict, why), count in verdicts.most_common():
        print('  %8d %6.2f%%  %s%s' % (count, 100 * count / n, verdict, ', ' + why if why else ''))
    if not alike:
        print('  2 jobs print something else')
    if any(v[0] != 'equal' for v in verdicts):
        dw = by_libdw(path)
        print('  libdw\'s frames and ours: %d of %d equal, %d where neither comes to an end, '
              '%d ours shorter, %d ours longer, %d different' %
              tuple(dw[k] for k in ('equal', 'samples', 'neither', 'ours_shorter', 'ours_longer',
                                    'different')))
        if dw['different'] or any(v[0].startswith('in ') for v in verdicts):
            worst = 1
    if not alike:
        worst = 1
    for name in out.values():
        os.unlink(name)
sys.exit(worst)
