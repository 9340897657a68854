#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What `make bench-trace` runs: our walk against libdw's, on captures made here and now.
#
#   tools/bench-trace.sh [FILE...]	those perf.data files instead
set -eu
cd "$(dirname "$0")/.."
build=${EHU_BUILD:-build}
[ $# -eq 0 ] || exec "$build/ehunwind-bench-trace" "$@"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
selftests/targets/build "$dir"
cat > "$dir/work.py" <<'PY'
import json, re, time
def deep(d): return deep(d - 1) + 1 if d else sorted([(len(json.dumps([k] * 9)), k) for k in range(99)], key=lambda t: (re.sub("a", "b", str(t)), t))[0][1]
t = time.process_time()
while time.process_time() - t < 2: deep(20)
PY

capture() {
	local name=$1
	shift
	"$build/ehunwind-record" -q -o "$dir/$name.data" -- "$@"
}
capture recursion "$dir/recursion" 2000
capture sorts "$dir/sorts" 2000
[ ! -x /usr/bin/python3 ] || capture python3 /usr/bin/python3 "$dir/work.py"

worst=0
for name in recursion sorts python3; do
	[ -e "$dir/$name.data" ] || continue
	"$build/ehunwind-bench-trace" "$dir/$name.data" ||
		worst=$?
done
exit "$worst"
