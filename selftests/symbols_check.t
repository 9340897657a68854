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
	for (int i = 0; i < 20000; i++)
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
4) tap_skip_all "$(tail -n 1 "$dir/none.err")" ;;
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

# A plugin that is loaded late, and code without a file that says its name in a perf map.
cat > "$dir/plugin.c" <<'END'
__attribute__((noinline)) static unsigned hidden(unsigned n)
{
	for (int i = 0; i < 5000; i++)
		n = n * 1664525 + 1013904223;
	return n;
}
unsigned plugin(unsigned n) { return hidden(n) + 1; }
END
cat > "$dir/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* mov $2000000,%ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char code[] = { 0xb9, 0x80, 0x84, 0x1e, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
int main(int argc, char **argv)
{
	unsigned (*plugin)(unsigned) = dlsym(dlopen(argv[1], RTLD_NOW), "plugin");
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	memcpy(jit, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx JS:spin made.js:1\n", (unsigned long)jit, sizeof(code));
	fclose(map);
	printf("%s\n", path);
	for (int i = 0; i < 300; i++) {
		for (int k = 0; k < 100; k++)
			plugin(i);
		((void (*)(void))jit)();
	}
	return argc == 9;
}
END
gcc -O2 -g -shared -fPIC -o "$dir/plugin.so" "$dir/plugin.c" && gcc -O2 -g -o "$dir/host" "$dir/host.c" || exit 1
"$check" --symbols=all --json --verify-symbols=1000 -- "$dir/host" "$dir/plugin.so" > "$dir/late.json" 2> "$dir/late.err"
rm -f $(grep -o '/tmp/perf-[0-9]*\.map' "$dir/late.err")
tap_ok plugin_is_named is "$(field late trace 'sum(t["frames"][0].get("function") == "hidden" for t in of if t.get("frames")) > 10')" True
tap_ok plugin_as_addr2line is "$(field late symbols-verify '[o["function"], o["line"], o["unchecked"]]')" "[0, 0, 0]"
tap_ok jit_is_named is "$(field late trace '[f["table"] for t in of for f in t.get("frames", []) if f.get("function") == "JS:spin made.js:1"].count("perf-map") > 10')" True

# A library without .eh_frame between two others; its .debug_frame is in a separate file, reached
# by debug link or by build-id. libdw passes it with --debug-frame, ours ends there, and the
# verdict does not depend on names.
cat > "$dir/mid.c" <<'END'
unsigned last(unsigned n);
unsigned mid(unsigned n)
{
	volatile char room[n % 7 + 100];
	room[0] = 1;
	return last(n) + room[0];
}
END
cat > "$dir/last.c" <<'END'
unsigned last(unsigned n)
{
	for (int i = 0; i < 200000; i++)
		n = n * 1664525 + 1013904223;
	return n;
}
END
cat > "$dir/first.c" <<'END'
unsigned mid(unsigned n);
int main(void)
{
	volatile unsigned sum = 0;
	for (int i = 0; i < 2000; i++)
		sum += mid(i);
	return 0;
}
END
(cd "$dir" && gcc -O2 -shared -fPIC -o liblast.so last.c &&
	gcc -O2 -g -shared -fPIC -fno-asynchronous-unwind-tables -Wl,--build-id=sha1 -o mid.full mid.c -L. -llast -Wl,-rpath,"$dir" &&
	objcopy --only-keep-debug mid.full mid.debug && mkdir -p cache &&
	objcopy -S --add-gnu-debuglink=mid.debug mid.full libmid.so &&
	gcc -O2 -o first first.c -L. -lmid -llast -Wl,-rpath,"$dir") || exit 1
id=$(readelf -n "$dir/libmid.so" | sed -n 's/.*Build ID: //p')

# passes NAME OPTION...: libdw's frames by .debug_frame, and our stop, are the same with and without names
passes() {
	local name=$1 mode
	shift
	for mode in none all; do
		"$check" --json --symbols=$mode "$@" -- "$dir/first" > "$dir/$name-$mode.json" 2> "$dir/$name-$mode.err"
		[ $? -le 1 ] || { cat "$dir/$name-$mode.err"; return 1; }
		is "$(field $name-$mode trace-summary '[o["different"], o["unexplained"], o["stops"].get("no-fde", 0) > 20]')" "[0, 0, True]" || return 1
		is "$(field $name-$mode trace-details 'o["oracle_debug_frames"] > 20')" True || return 1
	done
}
not_without_option() {
	"$check" --json -- "$dir/first" > "$dir/without.json" 2>/dev/null
	is "$(field without trace-details 'o["oracle_debug_frames"]')" 0
}
tap_ok debug_frame_by_link passes link --debug-frame
tap_ok debug_frame_is_asked_for not_without_option
mkdir -p "$dir/cache/.build-id/${id:0:2}/${id:2}" && mv "$dir/mid.debug" "$dir/cache/.build-id/${id:0:2}/${id:2}/debug"
tap_ok debug_frame_by_cache passes cache --debug-frame --buildid-dir="$dir/cache"

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
modules = [m for m in lines if m["type"] == "module" and m["frames"]]
rows = re.search("<h2>Modules</h2>.*?</table>", html, re.S).group(0).split("<tr>")[2:]
rows = [[re.sub("<[^>]*>", "", c) for c in re.findall("<td.*?</td>", r, re.S)] for r in rows]
counts = [int(r[1]) for r in rows]
assert counts == sorted(counts, reverse=True), counts
names = {m["path"]: m for m in lines if m["type"] == "symbols-module"}
for m in modules:
    row = [r for r in rows if r[0] == m["path"] and int(r[1]) == m["frames"]][0]
    assert row[2] == "%.1f%%" % (100 * m["frames"] / s["frames"]), row
    if "code_bytes" in m:
        assert 0 < m["supported_bytes"] <= m["fde_bytes"] <= m["code_bytes"], m
        assert row[3] == "%d of %d" % (m["supported_bytes"], m["code_bytes"]), row
    n = names[m["path"]]
    assert row[5] == "%.1f%%" % (100 * n["no_function"] / n["frames"]), row
    assert row[6] == "%.1f%%" % (100 * n["no_line"] / n["frames"]), row
    assert not (n["no_function"] or n["no_line"]) or n["why"], n
assert any("code_bytes" in m for m in modules)
assert cell("traces that end with the window") >= 0
assert "%.1f" % s["copied_bytes_per_sample"] in html
assert cell("frames of ours") == s["frames"]
total = int(re.search(r"<p class=\"key\">(\d+) samples", html).group(1))
assert total == s["samples"] - s["untestable"]
END
}
tap_ok page_has_the_same_numbers same_numbers

# What had no name because its file is another one by now: the reason is that of the module.
stale_says_so() {
	cp "$dir/host" "$dir/gone"
	"$check" --save "$dir/gone.data" -- "$dir/gone" "$dir/plugin.so" > "$dir/gone.out" 2>&1
	rm -f $(grep -o '/tmp/perf-[0-9]*\.map' "$dir/gone.out")
	for new in bare none; do
		rm -f "$dir/gone"
		[ $new = none ] || gcc -O1 -o "$dir/gone" "$dir/prog.c"
		"$check" --symbols=all --json -i "$dir/gone.data" > "$dir/gone-$new.json" 2> /dev/null
		python3 - "$dir/gone-$new.json" $new <<'END' || return 1
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
of = [l for l in lines if l["type"] == "symbols-module" and l["path"].endswith("/gone")]
state = "stale" if sys.argv[2] == "bare" else "deleted"
assert len(of) == 1 and of[0]["state"] == state and of[0]["no_function"] > 10, of
assert of[0]["why"].startswith("the file is "), of
module = [l for l in lines if l["type"] == "module" and l["path"].endswith("/gone")][0]
assert module["status"] == state and module["why"], module
END
	done
}
tap_ok stale_and_deleted_say_so stale_says_so

# Colour is for terminals, and not where NO_COLOR is set to anything.
coloured() {
	script -qec "$1 $check --symbols=none -- $dir/full" /dev/null < /dev/null | grep -q $'\033\[1m'
}
if script -qec true /dev/null < /dev/null > /dev/null 2>&1; then
	tap_ok colour_on_a_terminal coloured "env -u NO_COLOR TERM=xterm"
	tap_ok colour_with_empty_no_color coloured "env NO_COLOR= TERM=xterm"
	tap_not no_colour_by_no_color coloured "env NO_COLOR=1 TERM=xterm"
	tap_not no_colour_on_a_dumb_terminal coloured "env -u NO_COLOR TERM=dumb"
else
	tap_skip colour "no pseudo-terminal here"
fi
tap_not no_colour_in_a_file grep -q $'\033' "$dir/none.err" <("$check" -- "$dir/full" 2> /dev/null)

"$check" --print -- "$dir/full" > "$dir/print" 2>/dev/null
tap_ok print_has_stacks grep -q '^	 *[0-9a-f]* deeper$' "$dir/print"
tap_not print_is_nothing_but_stacks grep -qvE '^$|^	 *[0-9a-f]+ .+$|^full +[0-9]+ +[0-9]+\.[0-9]{6}: $' "$dir/print"
"$check" --print --no-symbols -- "$dir/full" > "$dir/print" 2>/dev/null
tap_not print_without_names grep -qvE '^$|^	[ 0-9a-f]{16}$|^full +[0-9]+ +[0-9]+\.[0-9]{6}: $' "$dir/print"
tap_not unwritable_page_is_told sh -c '! "$1" --html /nowhere/page.html -- /bin/true 2>&1 | grep -q "/nowhere/page.html cannot be written"' sh "$check"
tap_not bad_mode "$check" --symbols=some -- /bin/true
tap_not print_is_not_json "$check" --print --json -- /bin/true
tap_not names_are_for_samples "$check" --symbols=all /bin/true

tap_end
