#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ehunwind-record: options, exit status, and files that perf reads whatever stopped the recording.
set -u
cd "$(dirname "$0")/.." || exit
. selftests/lib/tap.sh

rec=$EHU_BUILD/ehunwind-record
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
spin='i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'

# status N TEXT COMMAND...: ends with status N and says TEXT on stderr.
status() {
	local want=$1 text=$2 got
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ "$got" -eq "$want" ] || { echo "status $got, not $want"; return 1; }
	[ -z "$text" ] || grep -qF -- "$text" "$tmp/err" || { echo "no '$text' in what it said"; return 1; }
}

help() { status 0 "" "$rec" --help && grep -q -- '--stack-size=BYTES' "$tmp/out"; }

# What the tool says it recorded.
said() { sed -n 's/^ehunwind-record: \([0-9]*\) samples.*/\1/p' "$tmp/err"; }

# samples FILE: how many perf script finds, and whether it is content.
samples() { perf script -F tid,time -G -i "$1" 2>"$tmp/perf" | grep -c :; }

tap_ok help help
tap_ok usage_unknown_option status 2 "unknown option '--nonsense'" "$rec" --nonsense
tap_ok usage_no_command status 2 "no command" "$rec"
tap_ok usage_number status 2 "'many' is not a number" "$rec" -F many true
tap_ok usage_range status 2 "is not in 8..65528" "$rec" -s 70000 true
tap_ok usage_both status 2 "either a command or --pid" "$rec" -p 1 true
tap_ok file_cannot_be_made status 3 "No such file or directory" "$rec" -o "$tmp/no/x" true

"$rec" -q -o "$tmp/try" true 2>"$tmp/err"
if [ $? -eq 4 ]; then
	tap_skip records "$(tail -n 1 "$tmp/err")"
	tap_end
fi

# In folders that everybody may search: else "Permission denied" is right as well.
tap_ok not_found status 4 "ehunwind-record: no-such-command: not found" \
	env PATH=/usr/bin:/bin "$rec" -o "$tmp/x" -- no-such-command
tap_ok not_executable status 4 "/etc/passwd: Permission denied" "$rec" -o "$tmp/x" /etc/passwd
tap_ok no_process status 4 "No such process" "$rec" -o "$tmp/x" -p 2147483647
tap_ok command_fails status 0 "ended with status 7" "$rec" -o "$tmp/x" sh -c 'exit 7'
tap_ok command_is_killed status 0 "ended by signal 9" "$rec" -o "$tmp/x" sh -c 'kill -9 $$'
tap_ok disk_full status 3 "No space left on device" "$rec" -o /dev/full sh -c "$spin"
tap_ok quiet status 0 "" "$rec" -q -o "$tmp/x" true
tap_ok quiet_says_nothing test ! -s "$tmp/err"
tap_ok options_of_the_command status 0 "" "$rec" -o "$tmp/x" sh -c 'test "$1" = -o' sh -o
tap_not needs_no_library sh -c "ldd '$rec' | grep -E 'libdw|libelf'"

if ! perf version >/dev/null 2>&1; then
	tap_skip perf_reads_it "no perf"
	tap_end
fi

# until_true COMMAND...: waits until the command succeeds, a minute at most.
until_true() {
	local n
	for ((n = 0; n < 600; n++)); do
		"$@" && return
		sleep 0.1
	done
	echo "not within a minute: $*"
	return 1
}

# has_told FILE BYTES: does the header of a recording that goes on tell of more data?
has_told() { [ "$(od -An -t u8 -j 48 -N 8 "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }

# Busy until it is killed, or used so much CPU time that nobody can want it any more.
forever='ulimit -t 200; echo $$ > "$0"; while :; do :; done'

# As often as it takes for some samples: how many come in a time is the machine's affair.
all_samples() {
	local own theirs work=$spin
	for _ in 1 2 3; do
		status 0 "" "$rec" "$@" -o "$tmp/p.data" -- sh -c "($work) & $work; wait" || return
		own=$(said)
		[ "$own" -gt 20 ] && break
		work="$work; $work; $work; $work"
	done
	theirs=$(samples "$tmp/p.data")
	echo "$own samples, perf finds $theirs"
	cat "$tmp/perf"
	[ "$own" -gt 20 ] && [ "$own" -eq "$theirs" ]
}

# perf unwinds our samples: more than a frame each, down to the program's start.
unwound() {
	perf script -F ip,sym -i "$tmp/p.data" 2>/dev/null >"$tmp/script"
	awk 'NF { f++ } !NF { s++ } END { print f, "frames of", s, "samples"; exit !(f > 3 * s) }' \
		"$tmp/script" && grep -q '_start\|__libc_start' "$tmp/script"
}

report() { perf report --stdio -i "$tmp/p.data" 2>/dev/null | grep -q '%.*sh\|%.*dash'; }

header() {
	perf report --header-only -i "$tmp/p.data" >"$tmp/header" 2>&1
	cat "$tmp/header"
	grep -q "^# arch : $(uname -m)" "$tmp/header" && grep -q 'cmdline : .*ehunwind-record' \
		"$tmp/header" && grep -q '# event : name = cpu-clock' "$tmp/header"
}

# Killed in the middle: perf reads what there was, without a complaint.
killed() {
	local pid n
	"$rec" -o "$tmp/k.data" -- sh -c "$forever" "$tmp/pid" 2>/dev/null &
	pid=$!
	until_true has_told "$tmp/k.data" 1000000
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	kill "$(cat "$tmp/pid")"
	n=$(samples "$tmp/k.data")
	echo "$n samples"
	cat "$tmp/perf"
	[ "$n" -gt 20 ] && ! grep -qi 'data size' "$tmp/perf"
}

interrupted() {
	local pid
	"$rec" -o "$tmp/i.data" -- sh -c "$forever" "$tmp/pid" 2>"$tmp/err" &
	pid=$!
	until_true has_told "$tmp/i.data" 1000000
	kill -TERM "$pid"
	wait "$pid" || return
	cat "$tmp/err"
	grep -q 'interrupted by Terminated' "$tmp/err" && [ "$(samples "$tmp/i.data")" -eq "$(said)" ]
}

attached() {
	local pid seconds
	sh -c "$forever" "$tmp/pid" &
	pid=$!
	for seconds in 1 4 16; do
		status 0 "" "$rec" -d "$seconds" -o "$tmp/p.data" -p "$pid"
		[ "$(said)" -gt 10 ] && break
	done
	kill "$pid"
	[ "$(said)" -gt 10 ] && [ "$(samples "$tmp/p.data")" -eq "$(said)" ] && unwound
}

tap_ok perf_finds_every_sample all_samples
tap_ok perf_unwinds_them unwound
tap_ok perf_reports_them report
tap_ok perf_reads_the_header header
tap_ok with_pwrite_and_poll all_samples --no-io-uring
tap_ok with_large_stacks all_samples -s 65528 -m 8M
tap_ok killed_in_the_middle killed
tap_ok interrupted interrupted
tap_ok attached attached
tap_end
