#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Say what came out of a guest's recordings, and which reference spoke.

    tools/guest-report.py --receive CONSOLE-LOG FOLDER
    tools/guest-report.py GUEST NAME JSON [GDB-OUTPUT]

The first takes the files out of a console's log. The second says a line on what ehunwind-check found
(and with GDB-OUTPUT: on whether gdb has the same frames in a core). Status 0 where that is as it has
to be: enough samples, nothing different or unexplained, and what libdw does not see confirmed by
another reference.
"""
import base64
import gzip
import json
import os
import re
import sys

LEAST_SAMPLES = 20
# Of the complete traces that libdw gives up in the middle: those that another reference confirms.
LEAST_CONFIRMED = 0.95


def receive(log, folder):
    """Each file is gzipped and in base64 between two lines. Returns whether the log has its end."""
    name, text, done = None, [], False
    with open(log, errors='replace') as f:
        for line in f:
            line = line.strip()
            if line.startswith('EHU-BEGIN '):
                name, text = line.split()[1], []
            elif line.startswith('EHU-END ') and name:
                with open(os.path.join(folder, name + '.data'), 'wb') as out:
                    out.write(gzip.decompress(base64.b64decode(''.join(text))))
                name = None
            elif name:
                text.append(line)
            elif line.startswith('EHU-KERNEL '):
                print('guest: Linux ' + line.split(' ', 1)[1], flush=True)
            done |= line == 'EHU-DONE'
    return done


def bad_recording(name, s, d):
    """Why a recording is not as it has to be; '' where it is."""
    records, chain = d.get('frame_records', {}), d.get('libgcc', {})
    tested = s['samples'] - s['untestable']
    if s['different'] or s['unexplained']:
        return 'different or unexplained'
    if tested < LEAST_SAMPLES:
        return 'too few samples'
    # Code without CFI, as the vDSO of arm64, makes traces of one frame; and what a leaf on s390x parked in
    # FPRs the kernel does not tell (docs/oracles.md).
    unknown = sum(s['stops'].get(stop, 0) for stop in ('fp-unknown', 'sp-in-untracked-register'))
    if s['complete'] < LEAST_SAMPLES or s['complete'] + s['neither'] + unknown < tested / 2:
        return 'few traces are complete'
    if records and records['astray']:
        return 'frame records contradict traces that are not complete'
    if records and records['to_the_end'] < LEAST_CONFIRMED * records['complete']:
        return 'not confirmed by frame records'
    if name.startswith('within-') and (chain.get('different') or
                                       chain.get('equal', 0) <
                                       LEAST_CONFIRMED * (tested - chain.get('no_header', 0))):
        return 'libgcc has other frames, or none'
    return ''


def say(guest, name, objects):
    s = objects[-1]
    d = [o for o in objects if o['type'] == 'trace-details'][0]
    faults = ', '.join('%s %d' % f for f in sorted(d['oracle_faults'].items()))
    words = ['%d traces' % (s['samples'] - s['untestable']), '%d frames' % s['frames'],
             '%d complete' % s['complete'], '%d equal to libdw' % s['equal']]
    if s['neither']:
        words.append('%d of one frame' % s['neither'])
    unknown = s['stops'].get('fp-unknown', 0)
    if unknown:
        words.append('%d end where FP is not known' % unknown)
    if s['untestable']:
        words.append('%d untestable' % s['untestable'])
    if faults:
        words.append('longer by a fault of libdw: ' + faults)
    if 'frame_records' in d:
        words.append('frame records: %(to_the_end)d of %(complete)d complete ones confirmed to the '
                     'end, %(different)d different, %(named)d of %(frames)d frames' %
                     d['frame_records'])
    if 'libgcc' in d:
        words.append('libgcc: %(equal)d of %(traces)d equal, %(different)d different, %(no_header)d '
                     'that end in a module without .eh_frame_hdr' % d['libgcc'])
    why = bad_recording(name, s, d)
    if name == 'core':
        if 'ra_mask' in s:
            words.append('return addresses by %s: %s' % (s['ra_mask_from'], s['ra_mask']))
        why = '' if s['samples'] == s['complete'] == 4 and not s['different'] + s['unexplained'] \
            else 'not four complete threads'
        if guest == 'arm64' and s['ra_mask_from'] != 'NT_ARM_PAC_MASK':
            why = 'the mask is not from the core'
    words.append('%d different, %d unexplained' % (s['different'], s['unexplained']))
    print('%s %s: %s%s' % (guest, name, ', '.join(words), why and ' -- FAILED: ' + why), flush=True)
    return not why


def say_gdb(guest, name, objects, path):
    """gdb's stacks against ours: each has to be one of ours, to the end or to where gdb stops."""
    stacks = []
    with open(path, errors='replace') as f:
        for line in f:
            if line.startswith('[Current thread'):
                stacks = []     # before it stands one frame of the thread that dumped
            m = re.match(r'#(\d+) +0x([0-9a-f]+)( \[PAC\])? in', line)
            if m and m.group(1) == '0':
                stacks.append([])
            if stacks and (m or '<signal handler called>' in line):
                stacks[-1].append(int(m.group(2), 16) if m else None)   # it does not say that pc
    ours = [[int(f['pc'], 16) for f in o['frames']] for o in objects if o['type'] == 'trace']

    def same(a, b):
        return len(a) <= len(b) and all(x in (None, y) for x, y in zip(a, b))

    begin = sum(any(same(s, o) for o in ours) for s in stacks)
    # gdb leaves out what lies behind main(), and does not find s390x's signal frames.
    whole = sum(any(same(s, o) and len(o) - len(s) <= 3 for o in ours) for s in stacks)
    good = len(stacks) == begin == 4 and whole == (3 if guest == 's390x' else 4)
    print('%s %s, gdb: %d stacks, %d the same frames, %d of them to main or to the end%s' % (
        guest, name, len(stacks), begin, whole, '' if good else ' -- FAILED'), flush=True)
    return good


def main():
    if sys.argv[1] == '--receive':
        return receive(sys.argv[2], sys.argv[3])
    with open(sys.argv[3]) as f:
        objects = [json.loads(line) for line in f]
    if not objects:
        print('%s %s: nothing came out -- FAILED' % (sys.argv[1], sys.argv[2]))
        return False
    if len(sys.argv) > 4:
        return say_gdb(sys.argv[1], sys.argv[2], objects, sys.argv[4])
    return say(sys.argv[1], sys.argv[2], objects)


if __name__ == '__main__':
    sys.exit(not main())
