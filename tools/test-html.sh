#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Open the page of a real run in headless Chromium: are its tables, its flame graph and a diff
# there, and does nothing leave the page? Leaves the picture in $EHU_BUILD/test-html/page.png.
set -u

check=${EHU_BUILD:-build}/ehunwind-check
dir=${EHU_BUILD:-build}/test-html
for browser in chromium chromium-browser google-chrome; do
	command -v $browser > /dev/null && break
done
command -v $browser > /dev/null || {
	echo "tools/test-html.sh: no Chromium here: apt-get install chromium" >&2
	exit 1
}
rm -rf "$dir" && mkdir -p "$dir" || exit 1

# A function whose CFA hangs on a register that only the topmost frame knows: libdw goes on where
# ours ends, so that there is a diff to show.
cat > "$dir/prog.c" <<'END'
unsigned sum;
__attribute__((noinline)) void spin(unsigned n)
{
	for (unsigned i = 0; i < 2000; i++)
		sum = sum * 1664525 + n;
}
void odd(void);
__asm__(".text\n.type odd, @function\nodd:\n.cfi_startproc\npush %r12\n.cfi_def_cfa_offset 16\n"
	".cfi_offset r12, -16\nlea 16(%rsp), %r12\n.cfi_def_cfa r12, 0\nmov $7, %edi\ncall spin\n"
	"pop %r12\n.cfi_def_cfa rsp, 8\nret\n.cfi_endproc\n.size odd, . - odd\n");
__attribute__((noinline)) void plain(void) { spin(1); spin(2); spin(3); }
int main(void)
{
	for (int i = 0; i < 40000; i++) { plain(); odd(); }
	return 0;
}
END
gcc -O2 -g -o "$dir/prog" "$dir/prog.c" || exit 1
"$check" --html "$dir/page.html" -- "$dir/prog" > "$dir/report" 2> "$dir/errors"
case $? in
0|1) ;;
*) cat "$dir/errors" >&2; exit 1 ;;
esac

see() {
	timeout 100 $browser --headless --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$dir/profile" --no-first-run --disable-background-networking \
		--disable-component-update --disable-default-apps --disable-sync \
		--window-size=1280,2000 "$@" "file://$(realpath "$dir")/page.html" 2>> "$dir/browser"
}
see --screenshot="$dir/page.png" > /dev/null || exit 1
see --log-net-log="$dir/net.json" --dump-dom > "$dir/dom.html" || exit 1

python3 - "$dir" <<'END'
import json, os, re, sys
d = sys.argv[1]
dom = open(d + "/dom.html").read()
bad = []
for what, pattern in (("verdict", r'<p class="verdict'), ("outcomes", r"<h2>Samples by outcome</h2>"),
                      ("stop reasons", r"<td>cfa-register-untracked</td>"),
                      ("modules", r"<h2>Modules</h2>"), ("names", r"<h2>Names</h2>"),
                      ("flame graph", r'<svg id="flame"'), ("spin in it", r"<title>spin in "),
                      ("truncated traces in it", r"truncated: cfa-register-untracked"),
                      ("a diff", r'<table class="diff">'), ("where it parts", r'<tr class="parted">')):
    if not re.search(pattern, dom):
        bad.append("no " + what)
if os.path.getsize(d + "/page.png") < 20000:
    bad.append("the picture is empty")
# Chromium's own start-up traffic is not the page's: requests that the page starts name it.
text = open(d + "/net.json").read()
try:
    net = json.loads(text)
except ValueError:
    net = json.loads(text.rstrip().rstrip(",") + "]}")
page = [e["params"] for e in net["events"] if "params" in e and "page.html" in str(e["params"].get("initiator", ""))]
out = [p["url"] for p in page if str(p.get("url", "")).startswith(("http", "ws", "ftp"))]
if out:
    bad.append("requests leave the page: %s" % out)
for b in bad:
    print("tools/test-html.sh:", b, file=sys.stderr)
if bad:
    sys.exit(1)
print("the page has its tables, flame graph and diffs; no request leaves it: " + d + "/page.png")
END
