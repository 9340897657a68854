#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# make bench-print: what printing the stacks of a big recording costs, ours beside perf script's, and
# whether they are the same stacks. Recordings of 100,000 samples and more are made once and kept in
# $EHU_BUILD/bench-print (0.2 to 2 GB each).
#
#   tools/bench-print.sh [FILE...]	those perf.data files instead
#
# BENCH_PRINT	which recordings (python perl xz; there is cc1plus, too)
# BENCH_NO_INLINE	1: perf script with --no-inline alone: in cc1plus it looks for inlined functions
#		for minutes
# BENCH_ROUNDS	times that each program prints each file, in turns (3)
# BENCH_STACK	bytes of stack in a sample (8192)
set -u
cd "$(dirname "$0")/.." || exit
build=${EHU_BUILD:-build}
least=100000
stack=${BENCH_STACK:-8192}
dir=$build/bench-print
command -v perf >/dev/null || { echo "bench-print: perf is not installed" >&2; exit 4; }
mkdir -p "$dir" || exit
dir=$(cd "$dir" && pwd)

cat > "$dir/work.py" <<'PY'
import json, re, sys, time
def deep(d):
    return deep(d - 1) + 1 if d else sorted((len(json.dumps([k] * 9)), re.sub("a", "b", str(k))) for k in range(99))[0][0]
while time.process_time() < float(sys.argv[1]):
    deep(20)
PY
cat > "$dir/work.pl" <<'PL'
sub tree { my $d = shift; return $d ? { map { $_ => tree($d - 1) } "a".."d" } : [ sort map { $_ ^ 5 } 1..9 ] }
sub sum { my $t = shift; return ref $t eq "HASH" ? eval { my $s = 0; $s += sum($t->{$_}) for sort keys %$t; $s } : scalar @$t }
sum(tree(6)) while (times)[0] < $ARGV[0];
PL
cat > "$dir/work.cc" <<'CC'
#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <regex>
int main() { std::map<std::string, int> m; std::regex r("a(b|c)*d"); std::cout << std::regex_match("abcd", r) << m.size(); }
CC
# The same program again and again, for so many seconds.
cat > "$dir/again" <<'SH'
#!/bin/sh
end=$(($(date +%s) + $1)); shift
while [ "$(date +%s)" -lt "$end" ]; do "$@" > /dev/null || exit; done
SH
chmod +x "$dir/again"

# work NAME SECONDS: sets the command
work() {
	case $1 in
	python)	command=(/usr/bin/python3 "$dir/work.py" "$2") ;;
	perl)	command=(perl "$dir/work.pl" "$2") ;;
	xz)	head -c 20000000 "$(readlink -f "$(command -v perf)")" > "$dir/work.bin"
		command=("$dir/again" "$2" xz -T1 -3 -k -c "$dir/work.bin") ;;
	cc1plus) command=("$dir/again" "$2" "$(gcc -print-prog-name=cc1plus)" -quiet -O2 "$dir/work.cc" -o /dev/null
			  -imultiarch x86_64-linux-gnu -D_GNU_SOURCE) ;;
	*)	echo "bench-print: no recording is called $1" >&2; exit 2 ;;
	esac
}

# Longer until there are enough samples: perf loses some, and not every kernel allows 20,000 a second.
record() {
	local seconds n

	[ -s "$dir/$1.$stack.data" ] && return
	for seconds in 8 16 32; do
		work "$1" "$seconds"
		if ! perf record -q -e cpu-clock:u -F 20000 --call-graph "dwarf,$stack" -o "$dir/tmp.data" -- \
				"${command[@]}" > "$dir/$1.log" 2>&1; then
			grep -q 'lost' "$dir/$1.log" || {
				echo "bench-print: no recording $1: $(tail -n 1 "$dir/$1.log")" >&2
				rm -f "$dir/tmp.data"
				return
			}
		fi
		n=$("$build/ehunwind-check" --print --no-symbols --perf-data "$dir/tmp.data" 2>&1 > /dev/null |
			sed -n 's/.* \([0-9]*\) stacks printed.*/\1/p')
		[ "${n:-0}" -ge $least ] && break
	done
	mv "$dir/tmp.data" "$dir/$1.$stack.data"
}

if [ $# -eq 0 ]; then
	for name in ${BENCH_PRINT:-python perl xz}; do
		record "$name"
		[ -s "$dir/$name.$stack.data" ] && set -- "$@" "$dir/$name.$stack.data"
	done
fi
[ $# -gt 0 ] || { echo "bench-print: nothing to print" >&2; exit 4; }
exec python3 tools/bench-print.py "$build/ehunwind-check" "${BENCH_ROUNDS:-3}" "$dir" "$@"
