# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""For the tests that sample programs: run ehunwind-check, look at its summary, print TAP.

A test file calls ok() for each thing it asks for, skip() where it cannot ask, and end() last. An
exception on the way is a failed test of its own, and ends the file with a plan.

How many samples come in a given time is the machine's affair: sampled() asks for longer runs where
there were too few, and wait_for() waits for a condition, not for a time.
"""
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get('EHU_BUILD', os.path.join(HERE, '../build')))
SCALE = int(os.environ.get('EHU_TIMEOUT_SCALE', '1'))
CHECK = os.path.join(BUILD, 'ehunwind-check')
TARGETS = os.path.join(BUILD, 'targets')
OUTCOMES = ('untestable', 'equal', 'ours_shorter', 'ours_longer', 'different', 'neither')

# Ignored where the tests run in the background of a script; then it would be in what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

_state = {'nr': 0, 'failed': 0}


def ok(name, good, said=''):
    """One line of TAP; what a failed one has to say goes to stderr.

    good may be a function: what it raises is a failure with the traceback."""
    if callable(good):
        try:
            good = good()
        except Exception:
            good, said = False, '%s\n%s' % (said, traceback.format_exc())
    _state['nr'] += 1
    print('%sok %d %s' % ('' if good else 'not ', _state['nr'], name), flush=True)
    if not good:
        _state['failed'] = 1
        for line in str(said).splitlines()[-40:]:
            print('# %s:%s: %s' % (os.path.basename(sys.argv[0]), name, line), file=sys.stderr)
    return good


def skip(name, why):
    _state['nr'] += 1
    print('ok %d %s # SKIP %s' % (_state['nr'], name, why), flush=True)


def skip_all(why):
    """Nothing in the file can run here; ends it."""
    print('1..0 # SKIP %s' % why)
    sys.exit(0)


def end():
    print('1..%d' % _state['nr'], flush=True)
    sys.exit(_state['failed'] or not _state['nr'])


def _exception(kind, value, trace):
    ok('no-exception', False, ''.join(traceback.format_exception(kind, value, trace)))
    print('1..%d' % _state['nr'], flush=True)


sys.excepthook = _exception


def wait_for(condition, seconds=60):
    """Waits until condition() gives something true, and gives that; else what it gave last.

    What is not there yet, or not any more, may raise OSError: that is no."""
    last = time.monotonic() + seconds * SCALE
    while True:
        try:
            got = condition()
        except OSError:
            got = None
        if got or time.monotonic() > last:
            return got
        time.sleep(0.01)


def targets():
    """Builds the programs to sample, once for all tests that need them; their folder."""
    os.makedirs(BUILD, exist_ok=True)
    source = os.path.join(HERE, 'targets')
    with open(os.path.join(BUILD, 'targets.lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(os.path.getmtime(os.path.join(source, f)) for f in os.listdir(source))
        stamp = os.path.join(TARGETS, 'stamp')
        if not os.path.exists(stamp) or os.path.getmtime(stamp) < newest:
            subprocess.run([os.path.join(source, 'build'), TARGETS], check=True,
                           stdout=sys.stderr)
            with open(stamp, 'w'):
                pass
    return TARGETS


def runs(program):
    """Is it there, and does the kernel execute it? 32-bit programs: not everywhere."""
    try:
        return subprocess.run([program, '1'], stdout=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


class Run:
    """A run of a tool: status, output, and where it was JSON its objects."""

    def __init__(self, args, timeout=120, **how):
        how.setdefault('stdin', subprocess.DEVNULL)
        try:
            p = subprocess.run([str(a) for a in args], capture_output=True,
                               timeout=timeout * SCALE, **how)
            self._take(args, p.returncode, p.stdout, p.stderr)
        except subprocess.TimeoutExpired as e:
            self._take(args, -1000, b'', b'no end after %d s' % e.timeout)

    def _take(self, args, status, out, err):
        self.status = status
        self.out, self.err = out.decode(errors='replace'), err.decode(errors='replace')
        self.objects = []
        self.bad_json = None
        if '--json' in args:
            for line in self.out.splitlines():
                try:
                    self.objects.append(json.loads(line))
                except ValueError as e:
                    self.bad_json = '%s: %s' % (e, line)
        self.summary = self.objects[-1] if self.objects else {}

    def of_type(self, kind):
        return [o for o in self.objects if o.get('type') == kind]

    def one(self, kind):
        """The first object of that type, or an empty one."""
        return (self.of_type(kind) or [{}])[0]

    def testable(self):
        """How many samples there are two traces of."""
        return self.summary.get('samples', 0) - self.summary.get('untestable', 0)

    def depths(self):
        """The number of frames of each trace; a sample that cannot be tested has no frames."""
        return [len(t['frames']) for t in self.of_type('trace') if 'frames' in t]

    def __str__(self):
        return 'status %d\n%s\n%s\n%s' % (self.status, self.out[-3000:] if not self.objects else
                                          json.dumps(self.summary), self.err, self.bad_json or '')


class Background(Run):
    """A run that goes on until finish(): only then there is a status and output."""

    def __init__(self, args):
        self.args = [str(a) for a in args]
        self.files = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.args, stdin=subprocess.DEVNULL, stdout=self.files[0],
                                        stderr=self.files[1])

    def attached(self, threads=1):
        """Waits until it has an event on each of so many threads; or has ended."""
        folder = '/proc/%d/fd' % self.process.pid

        def has_events():
            links = [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
            return links.count('anon_inode:[perf_event]') >= threads

        return wait_for(lambda: self.process.poll() is not None or has_events())

    def finish(self, sig=None, timeout=120):
        """Sends a signal, if one is given, and waits for its end."""
        if sig:
            self.process.send_signal(sig)
        try:
            status = self.process.wait(timeout * SCALE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = -1000
        texts = []
        for f in self.files:
            f.seek(0)
            texts.append(f.read())
            f.close()
        self._take(self.args, status, *texts)
        return self


def cpu_time(pid):
    """Seconds of CPU time that a process has used."""
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def worked(pid, seconds):
    """Waits until a process has used so much more CPU time."""
    begin = wait_for(lambda: cpu_time(pid) + 1)
    return begin and wait_for(lambda: cpu_time(pid) + 1 - begin >= seconds)


def identities(run):
    """What is wrong with the numbers of a summary: they have to add up. None where they do."""
    s = run.summary
    if run.bad_json or s.get('type') != 'trace-summary':
        return 'no summary: %s' % run
    traces = run.of_type('trace')
    if s['samples'] != sum(s[k] for k in OUTCOMES):
        return 'outcomes do not add up to samples'
    if s['complete'] + s['partial'] != s['samples'] - s['untestable']:
        return 'complete and partial do not add up'
    if sum(s['stops'].values()) != s['samples'] - s['untestable']:
        return 'stops do not add up'
    if len(traces) != s['samples']:
        return '%d traces of %d samples' % (len(traces), s['samples'])
    if sum(len(t.get('frames', ())) for t in traces) != s['frames']:
        return 'frames do not add up'
    if sum(t.get('frames_oracle', 0) for t in traces) != s['frames_oracle']:
        return 'frames of the oracle do not add up'
    for k in OUTCOMES:
        if s[k] != sum(t['outcome'] == k.replace('_', '-') for t in traces):
            return '%s is not what the traces say' % k
    return None


def refused(mode='copy'):
    """Why the kernel samples nothing for us, which is no fault of ours; None where it does."""
    r = Run([CHECK, '--mode', mode, '--', '/bin/true'])
    if r.status == 4 and ('perf_event_open: ' in r.err or 'cannot be traced' in r.err):
        return r.err.splitlines()[-1].split(': ', 1)[1]
    return None


def need_samples():
    """Ends the file where there are none."""
    why = refused()
    if why:
        skip_all(why)


def sampled(make, least=100, enough=None):
    """A run with enough samples: make(1) runs it, make(4) and make(16) so many times as long.

    Enough are as many testable ones as least says, and enough(run) where that is given. What the
    kernel lost is a reason, too, but only once: it may go on so. The last run is what it is, and
    one that went wrong otherwise is never made again."""
    for k in range(3):
        run = make(4 ** k)
        s = run.summary
        if run.status not in (0, 4) or run.bad_json or s.get('type') != 'trace-summary':
            break
        if s['different'] or s['unexplained']:
            break
        if run.testable() >= least and not (s.get('lost') and k == 0) and \
                (not enough or enough(run)):
            break
    return run


def agrees(name, run, least=100, partial=None, untestable=0.02):
    """Does a run agree with libdw, with numbers that add up and enough of them?

    least is what an idle machine gives easily. How many samples there are in a given time is
    a matter of speed, which no test asserts: a fifth of it will do. partial and untestable are
    shares; what a program does before its main() and when it ends comes on top."""
    s = run.summary
    few = 5
    why = identities(run)
    if not why and run.status:
        why = 'status %d' % run.status
    if not why and s['samples'] - s['untestable'] < max(5, least // 5):
        why = 'only %d testable samples' % (s['samples'] - s['untestable'])
    if not why and s['untestable'] > untestable * s['samples'] + few:
        why = '%d untestable' % s['untestable']
    if not why and (s['different'] or s['unexplained']):
        why = 'different or unexplained'
    # How many samples hit lazy binding, whose CFA is in rbx, is chance: @partial bounds them.
    rest = [t for t in run.of_type('trace') if not (
            t.get('outcome') == 'ours-shorter' and t.get('explained') and
            t.get('stop') == 'cfa-register-untracked')]
    ours, libdw = (sum(t.get(k, 0) if k == 'frames_oracle' else len(t.get(k, ())) for t in rest)
                   for k in ('frames', 'frames_oracle'))
    if not why and ours < 0.999 * libdw - 30:
        why = 'frames are missing: %d of %d' % (ours, libdw)
    if not why and partial is not None and s['partial'] > partial * s['samples'] + few:
        why = '%d partial' % s['partial']
    return ok(name, not why, '%s\n%s' % (why, run))
