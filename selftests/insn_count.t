#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Instructions a frame and a row, counted by callgrind: a walk that has become slower fails here,
# on any machine, however busy. The numbers that are allowed are in insn_count.expected; they are
# of one compiler at -O2, and the others are only told.
set -u
cd "$(dirname "$0")/.." || exit
. selftests/lib/tap.sh

bench=$EHU_BUILD/ehunwind-bench
expected=selftests/insn_count.expected
tolerance=10 # percent

command -v valgrind >/dev/null || tap_skip_all "valgrind is not installed"
[ -z "$EHU_SAN" ] || tap_skip_all "a sanitizer's instructions are not ours"
[ -x "$bench" ] || tap_skip_all "no $bench"
[ "$(uname -m)" = x86_64 ] || tap_skip_all "the numbers are those of x86-64"
"$bench" --help >/dev/null 2>&1 || tap_skip_all "$bench does not run here"

# gcc-12: the numbers belong to a compiler and its level of optimisation.
level=$(sed -n 's/.*\(-O[0-9s]\).*/\1/p' "$EHU_BUILD/.flags" 2>/dev/null)
compiler=$("$EHU_CC" --version 2>/dev/null | awk 'NR == 1 { print /clang/ ? "clang" : "gcc" }')
compiler=$compiler-$("$EHU_CC" -dumpversion | cut -d. -f1)${level:--O0}

# collected ENGINE PASSES: "instructions frames" of a whole process. So few functions that the cache
# holds them all, where it is what is measured: a walk without misses.
collected() {
	local out fdes=2000

	[ "$1" != cached ] || fdes=100
	out=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$bench" --synthetic $fdes,20 --count "$1" --passes "$2" 2>&1) || return
	echo "$(sed -n 's/.*Collected : //p' <<< "$out")" \
	     "$(sed -n 's/^frames \([0-9]*\).*/\1/p' <<< "$out")"
}

# per_frame ENGINE: ten passes more, and what they added: setting up takes itself off
per_frame() {
	local few many frames

	read -r few frames < <(collected "$1" 1)
	read -r many frames < <(collected "$1" 11)
	awk -v a="${few:-0}" -v b="${many:-0}" -v n="${frames:-0}" \
		'BEGIN { if (!n || b <= a) exit 1; printf "%.1f\n", (b - a) / (10 * n) }'
}

# within NUMBER ALLOWED: fails above; far below is told, so that the number can follow
within() {
	awk -v is="$1" -v may="$2" -v t="$tolerance" 'BEGIN {
		if (is > may * (1 + t / 100)) { print is " is above " may " + " t " %"; exit 1 }
	}'
}

for engine in cached uncached memo static; do
	is=$(per_frame "$engine")
	may=$(awk -v c="$compiler" -v e="$engine" '$1 == c && $2 == e { print $3 }' "$expected")
	echo "# $compiler $engine ${is:-could not be counted} (allowed: ${may:-not known})"
	if [ -z "$is" ]; then
		tap_not "$engine" true
	elif [ -z "$may" ]; then
		tap_skip "$engine" "no number for $compiler"
	else
		tap_ok "$engine" within "$is" "$may"
	fi
done

# What the numbers are there for: does a walk that is 20 % slower fail?
tap_not "a fifth more is noticed" within 120 100
tap_ok "a fifth less is allowed" within 80 100
tap_ok "repeated, a count is the same" test "$(collected cached 2)" = "$(collected cached 2)"
tap_end
