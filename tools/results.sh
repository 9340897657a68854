#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Sample real programs and ours, compare every frame with libdw, and write docs/results.md.
#
#   tools/results.sh [BUILD-FOLDER] > docs/results.md
#
# Takes about five minutes. A program that is not installed has a row that says so.
set -u
cd "$(dirname "$0")/.." || exit
build=$(realpath "${1:-${EHU_BUILD:-build}}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
selftests/targets/build "$dir" >&2 || exit
here=$PWD
cd "$dir" || exit
worst=0

cat > work.py <<'PY'
import json, re, time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def deep(d): return deep(d - 1) + 1 if d else max(sorted(range(300), key=lambda k: re.sub('1', '2', json.dumps([k, fib(5)]))))
t = time.process_time()
while time.process_time() - t < 2: deep(30)
PY
cat > work.pl <<'PL'
sub down { my $d = shift; return $d ? down($d - 1) + 1 : length(join ",", map { s/a+/b/gr } sort map { "aaa$_" x 3 } 1 .. 200) }
down(30) while times() < 2;
PL
for k in $(seq 500); do
	cat <<-C
	static int f$k(int a, const char *s)
	{
		int r = a * $k + 1;

		for (int i = 0; i < a; i++) {
			if (s[i % 7] == 'x' && i % $((k % 13 + 2)))
				r += i / 2;
			else
				r ^= (int)__builtin_strlen(s) << (i & $((k % 7)));
		}
		return r;
	}
	C
done > big.c
{ echo 'int main(int c, char **v) { int r = 0;'; for k in $(seq 500); do echo "r += f$k(c, v[0]);"; done; echo 'return r; }'; } >> big.c
cat > work.js <<'JS'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const a = [];
for (let i = 0; i < 150; i++) a.push(JSON.stringify({ i, s: fib(24), t: 'x'.repeat(i) }).split('').sort().join(''));
console.log(a.join('').length);
JS
cat /bin/bash /usr/lib/*/libc.so.6 "$(command -v perl)" "$(command -v git || echo /bin/sh)" > data
cat data data > input

# A command as a person would write it, for a cell of a table; the checkout is called "ehunwind".
quoted() {
	local word words=()
	for word; do
		case $word in
		*[!-A-Za-z0-9_./=:+,]*) words+=("'${word//$here/ehunwind}'") ;;
		*) words+=("$word") ;;
		esac
	done
	echo "${words[*]}" | sed 's/|/\\|/g'
}

# row NAME COMMAND...: sample the command, print a line of the table
row() {
	local name=$1 shown
	shift
	if ! command -v "$1" > /dev/null; then
		echo "| $name | not installed: \`$1\` | | | | | | | | | | | |"
		return
	fi
	shown=$(quoted "$@")
	echo "results: $name" >&2
	"$build/ehunwind-check" --json ${opts:-} -- "$@" > out.json 2> out.err
	status "$name" "ehunwind-check ${opts:+$opts }-- $shown" $?
}

# The line itself, from the JSON in out.json.
status() {
	# 4 is "nothing compared", as for a 32-bit program; the row says so.
	[ "$3" -eq 0 ] || [ "$3" -eq 4 ] || worst=1
	[ "$3" -lt 128 ] || { echo "| $1 | ended by signal $(($3 - 128)) |" '|' '|' '|' '|' '|' '|' '|' '|' '|' '|' "\`$2\` |"; return; }
	python3 - "$@" <<-'PY'
	import json, sys
	name, command, status = sys.argv[1:]
	objects = [json.loads(l) for l in open('out.json')]
	s = objects[-1]
	if s.get('type') != 'trace-summary':
	    print('| %s | status %s: %s |' % (name, status, s.get('text', '')) + ' |' * 11)
	    sys.exit()
	d = [o for o in objects if o['type'] == 'trace-details'][0]
	stops = ', '.join('%s %d' % kv for kv in sorted(s['stops'].items(), key=lambda kv: -kv[1]))
	if not s['stops']:
	    stops = d['verdict'] + ': ' + ', '.join(d['untestable'])
	frames = '%.3f %%' % (100 * s['frames'] / s['frames_oracle']) if s['frames_oracle'] else '-'
	print('| %s | %d | %d | %d | %d | %d | %d | %d | %s | %d | %s | %s | `%s` |' % (
	    name, s['samples'], s['untestable'], s['equal'], s['neither'],
	    s['ours_shorter'] + s['ours_longer'], s['unexplained'], s['different'], frames,
	    s['frames'], s['oracle_guessed_frames'] + d['oracle_debug_frames'], stops, command))
	PY
}

heading() {
	cat <<'MD'

| program | samples | untestable | equal | neither | other length | unexplained | different | frames of libdw's | frames | guessed, not compared | why traces end | command |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|
MD
}

cat <<MD
# Results

Every sample of these programs, unwound from what perf captured and compared frame by frame (pc, SP,
and FP where both know it) with libdw $(pkg-config --modversion libdw 2>/dev/null) on the same bytes. Made by \`tools/results.sh\` on Linux $(uname -r | cut -d- -f1) $(uname -m),
$(. /etc/os-release && echo "$PRETTY_NAME"), $(nproc) CPUs. The outcomes are those of \`ehunwind-check\`(1): *neither* is one frame on both
sides and no end of the stack; traces of *other length* stop earlier than libdw's for a stated reason.
What libdw finds behind a guess by frame pointer, or by .debug_frame, is counted and not compared.

## Programs
MD
heading
row 'Python, recursive' /usr/bin/python3 work.py
row Perl perl work.pl
row 'gcc, 6,000 lines' gcc -O2 -c -o big.o big.c
row 'xz, two threads' xz -T2 -3 -k -f input
row 'git log -p' sh -c "for k in \$(seq 14); do git -C $here --no-pager log -p; done"
# These take their time by the clock, whatever share of a CPU they get.
opts='--frequency 2500'
row 'openssl speed' openssl speed -seconds 2 -bytes 1024 rsa2048 ecdsap256 sha512
row 'node, no JIT' node --jitless work.js
row node node work.js
opts=

echo; echo '## Programs that are hard to unwind (selftests/targets)'
heading
row recursion ./recursion 1500
row 'frame pointers' ./recursion-fp 1500
row 'static PIE' ./recursion-static-pie 1500
row 'callbacks, alloca' ./sorts 1500
row 'C++ exceptions' ./throw 1500
row 'signal handler' ./signals 1500
row 'signal handler on a stack in .bss' ./signals 1500 alt
row threads ./threads 1500
row 'coroutines in .bss' ./coroutines 1500
row 'dlopen, dlclose' ./dlopen 1500 ./plug1.so ./plug2.so ./plug3.so
row 'noreturn calls last' ./noreturn 1500
row 'realigned stacks (DRAP)' ./drap 1500
row 'lazy PLT' ./plt 1500
row 'lazy PLT with IBT' ./plt-ibt 1500
row 'frames by hand' ./byhand 1500
row 'deeper than the window' ./deep 1500
row 'programs mapped as data' ./datamap 1500 ./plt ./datamap ./plug1.so
row 'fork, vfork, exec' ./forks 1500 250
row '32-bit' ./recursion-m32 1500

echo; echo "## Files of perf record, and of ours"
heading
perf_row() {
	local name=$1 mode=$2
	shift 2
	perf record -q -e cpu-clock -F 999 --call-graph dwarf,16384 $mode -o p.data -- "$@" > /dev/null 2>&1
	"$build/ehunwind-check" --json --perf-data p.data > out.json 2> out.err
	status "$name" "perf record -e cpu-clock -F 999 --call-graph dwarf,16384 ${mode:+$mode }-o p.data -- $*; ehunwind-check --perf-data p.data" $?
}
if command -v perf > /dev/null; then
	perf_row 'perf record' '' /usr/bin/python3 work.py
	perf_row 'perf record -z' -z ./throw 1500
	perf record -q -e cpu-clock -F 999 --call-graph dwarf,16384 -o - -- ./sorts 1500 2> /dev/null |
		"$build/ehunwind-check" --json --perf-data - > out.json 2> out.err
	status 'perf record, piped' 'perf record -e cpu-clock -F 999 --call-graph dwarf,16384 -o - -- ./sorts 1500 \| ehunwind-check --perf-data -' $?
else
	echo '| perf | not installed |' '|' '|' '|' '|' '|' '|' '|' '|' '|' '|' '|'
fi

cat <<'MD'

## Faults

`--fault-reads` walks each sample again, once for each read of the walk, with that read failing, and some
samples with every shorter stack window. The trace must be a prefix of the whole one, ended by a stop that
says that something could not be read.

| program | samples | reads made to fail | windows shortened | traces that are no prefix | command |
|---|---:|---:|---:|---:|---|
MD
fault_row() {
	local name=$1
	shift
	"$build/ehunwind-check" --json --fault-reads --frequency 250 -- "$@" > out.json 2> out.err
	[ $? -eq 0 ] || worst=1
	python3 - "$name" "ehunwind-check --fault-reads --frequency 250 -- $*" <<-'PY'
	import json, sys
	d = [o for o in map(json.loads, open('out.json')) if o['type'] == 'trace-details'][0]
	print('| %s | %d | %d | %d | %d | `%s` |' % (sys.argv[1], d['fault_samples'], d['faults_injected'],
	      d['windows_shortened'], d['fault_not_prefix'], sys.argv[2]))
	PY
}
fault_row 'signal handler on a stack in .bss' ./signals 1000 alt
fault_row 'Python, recursive' /usr/bin/python3 work.py
fault_row 'C++ exceptions' ./throw 1000

cat <<'MD'

## Copy against defer

`--mode defer` stops each thread on its way back to user space and walks its live memory: nothing is
copied. Each stop is walked both ways: deferred, and from a copy of 16 KiB of stack, as perf takes them
today. *Cut* traces end where that window does; *full* ones have all 510 entries. Bytes are those of a
sample or trace, on average; what is read includes CFI, without any cache.

| program | stops compared | untestable | different | unexplained | bytes copied | bytes read | of them stack, data | copy: complete | cut | full | defer: complete | cut | full | command |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
MD
defer_row() {
	local name=$1
	shift
	if ! command -v "$1" > /dev/null; then
		echo "| $name | not installed: \`$1\` |" '|' '|' '|' '|' '|' '|' '|' '|' '|' '|' '|' '|' '|'
		return
	fi
	echo "results: deferred: $name" >&2
	"$build/ehunwind-check" --json --mode defer --frequency 1999 -- "$@" > out.json 2> out.err
	[ $? -eq 0 ] || worst=1
	python3 - "$name" "ehunwind-check --mode defer --frequency 1999 -- $(quoted "$@")" <<-'PY'
	import json, sys
	objects = [json.loads(l) for l in open('out.json')]
	s, found = objects[-1], [o for o in objects if o['type'] == 'copy-against-defer']
	if not found:
	    print('| %s | %s |' % (sys.argv[1], s.get('text', '')) + ' |' * 12, '`%s` |' % sys.argv[2])
	    sys.exit()
	d = found[0]
	n = d['pairs'] or 1
	blocked = [o for o in objects if o['type'] == 'stops'][0]['blocked']
	if blocked:
	    sys.argv[1] += ' (%d threads block SIGTRAP: not sampled)' % blocked
	def side(x):
	    return ' | '.join('%.1f %%' % (100 * x[k] / n) for k in ('complete', 'cut_by_window', 'full'))
	print('| %s | %d | %d | %d | %d | %.0f | %.0f | %.0f | %s | %s | `%s` |' % (
	    sys.argv[1], d['pairs'], s['untestable'], s['different'], s['unexplained'],
	    d['copied_bytes'] / n, d['read_bytes'] / n, d['live_bytes'] / n, side(d['copy']),
	    side(d['defer']), sys.argv[2]))
	PY
}
defer_row 'Python, recursive' /usr/bin/python3 work.py
defer_row Perl perl work.pl
defer_row 'xz, two threads' xz -T2 -3 -k -f input
defer_row 'xz, one thread' xz -T1 -3 -k -f input
defer_row 'git log -p' sh -c "for k in 1 2 3 4 5 6 7 8; do git -C $here --no-pager log -p --stat -M; done"
defer_row 'openssl speed' openssl speed -seconds 1 -bytes 1024 rsa2048 ecdsap256 sha512
defer_row 'node, no JIT' node --jitless work.js
defer_row 'C++ exceptions' ./throw 1500
defer_row 'signal handler on a stack in .bss' ./signals 1500 alt
defer_row threads ./threads 1500
defer_row 'dlopen, dlclose' ./dlopen 1500 ./plug1.so ./plug2.so ./plug3.so
defer_row 'fork, vfork, exec' ./forks 1500 250
defer_row '2,500 frames deep' ./deep 1500 2500

cat <<'MD'

## Why a trace is not complete

* `no-fde` in one-frame traces: ld.so's own start, `_init` and the like have no CFI; node's builtins have none.
* `no-fde` in coroutines: `__start_context` of glibc is entered by a return, to its first instruction, so that
  the address before it, where a return address is looked up, belongs to nothing.
* `memory`: the stack dump ends (16 KiB), the alternate stack of a signal handler was sampled and the
  interrupted one was not, or the rule names a slot below the stack pointer, as in OpenSSL's SHA-512 for AVX2.
* `cfa-register-untracked`, where libdw goes on: `_dl_runtime_resolve` of glibc addresses its frame by rbx,
  which libdw follows through the callee's saves; this unwinder follows SP, FP and the return address only.
* `misaligned`, `cfa-below-sp`, `pc-not-in-module` in C++ exceptions: libgcc's `uw_install_context_1` writes the
  registers of the frame that catches over those that its callers saved, so that for some instructions the
  stack holds no frame that CFI could describe. libdw's trace ends at the same frame.
MD
cat <<'MD'

## What names cost

`tools/bench-symbols.sh`: the check of one capture of clang++ with `--symbols=none` and `--symbols=all`. Peak
memory counts the pages of the capture, which is mapped.

MD
EHU_BUILD=$build "$here/tools/bench-symbols.sh" | sed 's/^/    /' || worst=1
"$here/tools/results-arch.sh" "$build"
exit "$worst"
