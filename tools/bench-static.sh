#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# make bench-static: the rows of files, ours beside libdw's: what each costs, all of them front to back
# and one an FDE in random order; then time and memory of all rows of a large library.
#
#   tools/bench-static.sh [OPTION...]	options of ehunwind-bench-static --rows
#
# BENCH_FILES	what to measure (python3, libc, cc1plus and LLVM, those that are installed)
set -u
: "${EHU_BUILD:=build}"
lib=/usr/lib/x86_64-linux-gnu

large=
for f in $lib/libLLVM-14.so.1 $lib/libLLVM*.so* /usr/lib/llvm-*/lib/libLLVM*.so* $lib/libcrypto.so.3 \
	 $lib/libc.so.6; do
	[ -f "$f" ] && large=$f && break
done
if [ -z "${BENCH_FILES-}" ]; then
	BENCH_FILES=
	for f in "$(readlink -f /usr/bin/python3)" $lib/libc.so.6 \
		 "$(gcc -print-prog-name=cc1plus 2>/dev/null)" "$large"; do
		[ -f "$f" ] && BENCH_FILES="$BENCH_FILES $f"
	done
else
	large=$BENCH_FILES
fi
[ -n "$BENCH_FILES" ] || { echo "bench-static: no file to measure" >&2; exit 4; }
# shellcheck disable=SC2086 # a list of files
"$EHU_BUILD/ehunwind-bench-static" --rows "$@" $BENCH_FILES || exit
[ $# -eq 0 ] || exit 0
# shellcheck disable=SC2086 # a list of files
exec "$EHU_BUILD/ehunwind-bench-static" $large
