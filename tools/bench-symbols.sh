#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What names cost: the check of one capture of a big C++ program with --symbols=none and =all,
# processor time and peak memory side by side, as a median of three.
set -eu

check=${EHU_BUILD:-build}/ehunwind-check
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# clang's own code is some 100 MB of C++ in two libraries.
cat > "$dir/a.cc" <<'END'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int f(const std::map<std::string, std::vector<int>> &m) { return std::regex_match("a", std::regex("a+")) + m.size(); }
END
"$check" --save "$dir/data" -- clang++ -O2 -c -o "$dir/a.o" "$dir/a.cc" > "$dir/first" 2> "$dir/notes" ||
	[ $? -eq 1 ] || { cat "$dir/notes" >&2; exit 1; }
head -1 "$dir/first"

one() {
	python3 - "$check" "$dir/data" "$1" <<'END'
import json, resource, subprocess, sys
out = subprocess.run([sys.argv[1], "--json", "--symbols=" + sys.argv[3], "--perf-data", sys.argv[2]],
                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
u = resource.getrusage(resource.RUSAGE_CHILDREN)
s = [json.loads(l) for l in out.splitlines() if b'"type":"symbols"' in l][-1]
print("%.3f %d %d" % (u.ru_utime + u.ru_stime, u.ru_maxrss // 1024, s["tables_opened"]))
END
}
printf '%-8s %10s %10s %14s\n' symbols 'CPU s' 'peak MiB' 'tables opened'
for mode in none all; do
	for i in 1 2 3; do one $mode; done | sort -n | sed -n 2p > "$dir/$mode"
	read -r cpu mem tables < "$dir/$mode"
	printf '%-8s %10s %10s %14s\n' $mode "$cpu" "$mem" "$tables"
done
paste -d' ' "$dir/none" "$dir/all" | awk '{ printf "%-8s %10.2f %10.2f\n", "ratio", $4 / $1, $5 / $2 }'
