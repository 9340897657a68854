#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# make bench: our walks beside those of libdw, libunwind and two floors, on captures of programs
# that are installed. The captures are made once, and kept in $EHU_BUILD/bench.
#
#   tools/bench.sh [OPTION...]     options of ehunwind-bench
#   tools/bench.sh --capture       only make what captures are missing
#   tools/bench.sh --insns         instructions a frame, counted by callgrind: BENCH_ENGINES names others
set -u
cd "$(dirname "$0")/.." || exit
build=${EHU_BUILD:-build}
dir=$build/bench
mkdir -p "$dir" || exit
dir=$(cd "$dir" && pwd)
lib=$(gcc -print-file-name=include 2>/dev/null)
lib=${lib%/include}

# Work for the compilers: a quarter of a second to two seconds of it, the same each time.
sources() {
	[ -e "$dir/work.py" ] && return
	{
		echo '#include <stdio.h>'
		for i in $(seq 60); do
			echo "int f$i(int n, const char *s) { int k, t = $i; for (k = 0; k < n; k++)" \
			     "t += s[k % 7] * (k ^ $i) % 13 ? f$((i > 1 ? i - 1 : 1))(n / 2 - k, s) :" \
			     "printf(\"%d\", t); switch (t & 7) { case 1: return n; case 3: return t" \
			     "<< 2; default: return k; } }" | sed "s/f1(n \/ 2/f1(n \/ 3/"
		done
	} > "$dir/work.c"
	cat > "$dir/work.cc" <<-'CC'
	#include <algorithm>
	#include <iostream>
	#include <map>
	#include <memory>
	#include <regex>
	#include <sstream>
	#include <string>
	#include <vector>
	template <int N> struct chain {
		static std::map<std::string, std::vector<int>> grow(std::map<std::string, std::vector<int>> m)
		{ m[std::to_string(N)].push_back(N); return chain<N - 1>::grow(m); }
	};
	template <> struct chain<0> {
		static std::map<std::string, std::vector<int>> grow(std::map<std::string, std::vector<int>> m)
		{ return m; }
	};
	int main()
	{
		std::regex r("a(b|c)*d");
		auto p = std::make_shared<std::string>("abcd");
		auto m = chain<60>::grow({});
		for (auto &e : m) std::sort(e.second.begin(), e.second.end());
		std::cout << m.size() << std::regex_match(*p, r) << std::endl;
	}
	CC
	cat > "$dir/work.pl" <<-'PL'
	sub tree { my $d = shift; return $d ? { map { $_ => tree($d - 1) } "a".."d" } : [ sort map { $_ ^ 5 } 1..9 ] }
	sub sum { my $t = shift; return ref $t eq "HASH" ? eval { my $s = 0; $s += sum($t->{$_}) for sort keys %$t; $s } : scalar @$t }
	print sum(tree(8)), "\n";
	PL
	cat > "$dir/work.py" <<-'PY'
	import json, re
	def deep(d):
	    return deep(d - 1) + 1 if d else sorted((len(json.dumps([k] * 9)), re.sub("a", "b", str(k))) for k in range(99))[0][0]
	for k in range(1200):
	    deep(20)
	PY
}

# capture NAME STACK PROGRAM ARG...: perf's own recorder; what is not installed is named.
capture() {
	local name=$1 stack=$2 program=$3
	shift 2
	[ -s "$dir/$name.data" ] && return
	if ! command -v "$program" >/dev/null; then
		echo "bench: no capture $name: $program is not installed" >&2
		return
	fi
	sources
	if ! perf record -q -e cpu-clock:u -F "${BENCH_HZ:-997}" --call-graph "dwarf,$stack" \
			-o "$dir/$name.tmp" -- "$@" > "$dir/$name.log" 2>&1; then
		echo "bench: no capture $name: $(tail -n 1 "$dir/$name.log")" >&2
		rm -f "$dir/$name.tmp"
		return
	fi
	mv "$dir/$name.tmp" "$dir/$name.data"
}

captures() {
	local python=/usr/bin/python3

	command -v perf >/dev/null || { echo "bench: perf is not installed" >&2; exit 4; }
	capture cc1 8192 "$lib/cc1" -quiet -O2 "$dir/work.c" -o /dev/null
	capture cc1plus 8192 "$lib/cc1plus" -quiet -O1 "$dir/work.cc" -o /dev/null \
		-imultiarch x86_64-linux-gnu -D_GNU_SOURCE
	capture clang 8192 clang -c -O1 "$dir/work.c" -o /dev/null
	capture clang64k 65528 clang -c -O1 "$dir/work.c" -o /dev/null
	capture cppcheck 8192 cppcheck -q --enable=all "$dir/work.cc" "$dir/work.c" harness/check_*.c
	capture git 8192 git -C "$PWD" log --stat -p -M --no-color -n 400
	capture perl 8192 perl "$dir/work.pl"
	capture python 8192 "$python" "$dir/work.py"
	head -c 3000000 "$(command -v perf)" > "$dir/work.bin"
	capture xz 8192 xz -T1 -3 -k -c "$dir/work.bin"
}

# Two numbers of passes, so that loading the file takes itself off.
insns() {
	local f engine one eleven frames

	printf '%-10s %-12s %s\n' capture engine "instructions a frame"
	for f in cc1 clang python xz; do
		[ -s "$dir/$f.data" ] || continue
		for engine in ${BENCH_ENGINES:-cached uncached memo fp libdw}; do
			read -r one frames <<< "$(counted "$engine" 1 "$dir/$f.data")"
			read -r eleven frames <<< "$(counted "$engine" 11 "$dir/$f.data")"
			awk -v f="$f" -v e="$engine" -v a="$one" -v b="$eleven" -v n="$frames" \
				'BEGIN { printf "%-10s %-12s %.1f\n", f, e, (b - a) / (10 * n) }'
		done
	done
}

# counted ENGINE PASSES FILE: instructions of the whole process, and frames of a pass
counted() {
	local out

	out=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$build/ehunwind-bench" --count "$1" --passes "$2" "$3" 2>&1)
	echo "$(sed -n 's/.*Collected : //p' <<< "$out")" \
	     "$(sed -n 's/^frames \([0-9]*\).*/\1/p' <<< "$out")"
}

captures
case ${1-} in
--capture) exit 0 ;;
--insns)
	command -v valgrind >/dev/null || { echo "bench: valgrind is not installed" >&2; exit 4; }
	insns
	exit ;;
esac
exec "$build/ehunwind-bench" "$@" "$dir"/*.data
