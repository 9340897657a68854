#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# make bench-static: every row of large libraries, ours beside libdw's.
#
# BENCH_FILES	what to measure (the first of some large libraries that is installed)
set -u
: "${EHU_BUILD:=build}"

if [ -z "${BENCH_FILES-}" ]; then
	for f in /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 /usr/lib/x86_64-linux-gnu/libLLVM*.so* \
		 /usr/lib/llvm-*/lib/libLLVM*.so* /usr/lib/x86_64-linux-gnu/libcrypto.so.3 \
		 /lib/x86_64-linux-gnu/libc.so.6; do
		[ -f "$f" ] && BENCH_FILES=$f && break
	done
fi
[ -n "${BENCH_FILES-}" ] || { echo "bench-static: no file to measure" >&2; exit 4; }
# shellcheck disable=SC2086 # a list of files
exec "$EHU_BUILD/ehunwind-bench-static" $BENCH_FILES
