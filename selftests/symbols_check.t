#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ehunwind-check with names, on programs that it samples: do JSON, page and folded stacks say the
# same, does addr2line agree, and is nothing opened where nothing is named?
. "${EHU_SRC:-.}/selftests/lib/tap.sh"

check=$EHU_BUILD/ehunwind-check
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

cat > "$dir/prog.c" <<'END'
static inline __attribute__((always_inline)) unsigned spin(unsigned a)
{
	for (int i = 0; i < 1000; i++)
		a = a * 1664525 + 1013904223;
	return a;
}
__attribute__((noinline)) unsigned deeper(unsigned n)
{
	return n ? deeper(n - 1) + spin(n) : spin(n + 1);
}
int main(void)
{
	volatile unsigned sum = 0;
	for (int i = 0; i < 6000; i++)
		sum += deeper(12);
	return 0;
}
END
gcc -O2 -g -fno-optimize-sibling-calls -Wl,--build-id=sha1 -o "$dir/full" "$dir/prog.c" || exit 1
objcopy --only-keep-debug "$dir/full" "$dir/prog.debug"
(cd "$dir" && objcopy -S --add-gnu-debuglink=prog.debug full linked && objcopy -S full bare)

# run NAME PROGRAM OPTION...: JSON lines of a run in $dir/NAME.json
run() {
	local name=$1 prog=$2
	shift 2
	"$check" --json "$@" -- "$dir/$prog" > "$dir/$name.json" 2> "$dir/$name.err"
}

# field NAME TYPE EXPRESSION: a Python expression on the object o of the last line of that type
field() {
	python3 - "$dir/$1.json" "$2" "$3" <<'END'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
of = [l for l in lines if l["type"] == sys.argv[2]]
o = of[-1]
print(eval(sys.argv[3]))
END
}

is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }

run none full --symbols=none
case $? in
0|1) ;;
4) tap_skip_all "$(head -1 "$dir/none.err")" ;;
*) cat "$dir/none.err" >&2; exit 1 ;;
esac

opens_nothing() {
	is "$(field "$1" symbols 'o["tables_opened"] + o["dwarfs_opened"] + sum(o["candidates"].values())')" 0
}
tap_ok none_opens_nothing opens_nothing none
run diffs full
tap_ok equal_traces_open_nothing opens_nothing diffs

# Every frame's function, file, line and inline chain as addr2line has them.
agrees() {
	run "$1" "$2" --symbols=all --verify-symbols=1000
	is "$(field "$1" symbols-verify '[o["asked"] > 100, o["asked"] - o["equal"] - o["outside-size"] - o["guess"] - o["file"] - o["plt"]]')" "[True, 0]" ||
		{ grep symbols-disagreement "$dir/$1.json" | head -3; return 1; }
}
tap_ok full_as_addr2line agrees all full
tap_ok debuglink_as_addr2line agrees linked linked
tap_ok chain_is_named is "$(field all trace '[p["function"] for t in of for f in t.get("frames", []) for p in f.get("places", []) if p["function"] in ("spin", "deeper", "main")].count("spin") > 20')" True
tap_ok stripped_names_nothing is "$(run bare bare --symbols=all; field bare symbols-module '[(m["frames"] > 0, m["no_function"] == m["frames"]) for m in of if m["path"].endswith("/bare")]')" "[(True, True)]"

"$check" --html "$dir/page.html" --folded "$dir/folded" --json -- "$dir/full" > "$dir/page.json" 2>/dev/null
tap_ok folded_counts_all_samples is "$(awk '{ n += $NF } END { print n }' "$dir/folded")" "$(field page trace-summary 'o["samples"] - o["untestable"]')"
tap_ok folded_has_inlined grep -q ';main;deeper;.*spin_\[i\] ' "$dir/folded"

# The page's numbers are the JSON's.
same_numbers() {
	python3 - "$dir/page.json" "$dir/page.html" <<'END'
import json, re, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
html = open(sys.argv[2]).read()
s = [l for l in lines if l["type"] == "trace-summary"][-1]
cell = lambda name: int(re.search("<td>" + re.escape(name) + '</td>(?:<td>[^<]*</td>)?<td class="n">(\\d+)</td>', html).group(1))
for key in "untestable", "equal", "ours_shorter", "ours_longer", "different", "neither":
    assert cell(key.replace("_", "-")) == s[key], key
for stop, n in s["stops"].items():
    assert cell(stop) == n, stop
for m in lines:
    if m["type"] == "module" and m["frames"]:
        assert cell(m["path"]) == m["frames"], m
assert cell("frames of ours") == s["frames"]
total = int(re.search(r"<p class=\"key\">(\d+) samples", html).group(1))
assert total == s["samples"] - s["untestable"]
END
}
tap_ok page_has_the_same_numbers same_numbers

"$check" --print -- "$dir/full" > "$dir/print" 2>/dev/null
tap_ok print_has_stacks grep -q '^	 *[0-9a-f]* deeper$' "$dir/print"
tap_not print_is_nothing_but_stacks grep -qvE '^$|^	 *[0-9a-f]+ .+$|^full +[0-9]+ +[0-9]+\.[0-9]{6}: $' "$dir/print"
tap_not unwritable_page_is_told sh -c '! "$1" --html /nowhere/page.html -- /bin/true 2>&1 | grep -q "/nowhere/page.html cannot be written"' sh "$check"
tap_not bad_mode "$check" --symbols=some -- /bin/true
tap_not print_is_not_json "$check" --print --json -- /bin/true
tap_not names_are_for_samples "$check" --symbols=all /bin/true

tap_end
