#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ehunwind-check on files and directories: counts, JSON, exit status, and files that are in the way.
set -u
. "${EHU_SRC:=.}/selftests/lib/tap.sh"
check=$EHU_BUILD/ehunwind-check
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

[ "$(uname -m)" = x86_64 ] || tap_skip_all "checks x86-64 files"

# prog is a program; wrong is one whose rows differ on purpose (see wrong.c below).
cat > prog.c <<'END'
#include <stdio.h>
int helper(int n) { return n ? printf("%d\n", n) + helper(n - 1) : 0; }
int main(void) { return helper(3) < 0; }
END
gcc -O2 -g -o prog prog.c || exit 1
gcc -O2 -c -o prog.o prog.c || exit 1

# status N COMMAND...: it ends with that status
status() {
	local want=$1 got
	shift
	"$@" > out 2> err
	got=$?
	[ "$got" = "$want" ] && return
	echo "status $got, not $want"
	cat out err
	return 1
}

# says WORDS: the last command printed a line like that
says() { grep -qE "$1" out err || { echo "no line like '$1' in"; cat out err; return 1; }; }

# json FILTER: python3 -c over the lines, r being the list of objects
json() {
	python3 -c "
import json, sys
r = [json.loads(l) for l in open('out')]
assert $1, r[-1]" 2>&1
}

tap_ok "a program agrees" status 0 "$check" prog
tap_ok "the verdict comes first" sh -c 'head -n 1 out | grep -q "^agree: 1 files"'
tap_ok "the C library agrees" status 0 "$check" /lib/x86_64-linux-gnu/libc.so.6
tap_ok "JSON" status 0 "$check" --json prog
tap_ok "JSON ends with the summary" json "r[-1]['type'] == 'static-summary' and r[-1]['v'] == 1"
tap_ok "rows add up" json "sum(v for k, v in r[-1]['rows'].items() if k != 'total') == r[-1]['rows']['total'] > 0"
tap_ok "the short way gives most rows and no other ones" json "r[-1]['plain']['of'] >= r[-1]['plain']['rows'] > 0.9 * r[-1]['plain']['of'] and not r[-1]['plain']['differing_fdes']"
tap_ok "bytes add up" json "sum(v for k, v in r[-1]['bytes'].items() if k != 'total') == r[-1]['bytes']['total'] > 0"
tap_ok "the summary has all keys" json "list(r[-1]) == ['v', 'type', 'files', 'files_failed', 'files_skipped', 'fdes', 'rows', 'bytes', 'over_limit_in_walk', 'plain', 'exec_bytes', 'exec_bytes_covered', 'stops'] and list(r[-1]['rows']) == ['total', 'equal', 'both_refuse', 'unsupported', 'over_limit', 'malformed', 'corrupt', 'shadowed', 'oracle_failed', 'oracle_wrong', 'different']"

# Named files that cannot be checked, each told apart.
head -c 3000 prog > cut
: > empty
objcopy --only-keep-debug prog prog.debug
gcc -nostdlib -static -fno-asynchronous-unwind-tables -o nothing -x c - <<< 'void _start(void) { for (;;) ; }'
for x in "cut truncated" "empty not-elf" "prog.c not-elf" "prog.debug debug-file" \
	 "prog.o relocatable" "nothing no-cfi" "missing unreadable"; do
	set -- $x
	tap_ok "$1 is refused" status 3 "$check" "$1"
	tap_ok "$1 is $2" says "^$2: $1: "
	"$check" --json "$1" > out 2> err
	tap_ok "$1 is $2 in JSON" json "r[0]['type'] == 'error' and r[0]['kind'] == '$2' and r[0]['file'] == '$1'"
done
tap_ok "a position is named" sh -c "$check cut | grep -q '0xbb8'"
tap_ok "usage: no file" status 2 "$check"
tap_ok "usage: jobs" status 2 "$check" --jobs 0 prog
tap_ok "a good file does not hide a bad one" status 3 "$check" prog cut

# Directories: skipped kinds do not fail, each file counts once by any name.
mkdir -p d/sub d/nothing-here
cp prog prog.c prog.o prog.debug nothing empty d
cp prog d/sub/copy
ln d/prog d/sub/hard
ln -s ../prog d/sub/soft
ln -s nowhere d/sub/dangling
ln -s .. d/sub/loop
mkfifo d/fifo
tap_ok "a directory" status 0 "$check" --json d
tap_ok "every file once" json "r[-1]['files'] == 2 and r[-1]['files_failed'] == 0"
tap_ok "skipped kinds are counted" json "r[-1]['files_skipped'] == {'relocatable': 1, 'no-cfi': 1, 'debug-file': 1, 'other-machine': 0, 'not-elf': 3}"
cp out one-job
tap_ok "four at a time" status 0 "$check" --json --jobs 4 d
tap_ok "the same report" cmp out one-job
cp cut d
tap_ok "a damaged file in a directory" status 3 "$check" --json d
tap_ok "is counted as failed" json "r[-1]['files_failed'] == 1 and r[-1]['files'] == 2"
tap_ok "nothing to check" status 4 "$check" d/nothing-here
rm d/cut

# Names from outside reach neither the terminal nor JSON as they are.
evil=$(printf 'e\033[31m\377"\\x')
cp prog "$evil"
tap_ok "an evil name" status 0 "$check" "$evil"
tap_not "no escape in text" grep -q "$(printf '\033')" out
tap_ok "an evil name in JSON" status 0 "$check" --json "$evil"
tap_ok "is JSON" json "len(r) >= 2"

# A broken .eh_frame_hdr: .eh_frame is scanned instead, and the report says so.
python3 - <<'END'
import subprocess, re
d = bytearray(open('prog', 'rb').read())
out = subprocess.run(['readelf', '-SW', 'prog'], capture_output=True, text=True).stdout
at = int(re.search(r'\.eh_frame_hdr\s+\S+\s+\S+\s+(\S+)', out).group(1), 16)
d[at] = 9
open('badhdr', 'wb').write(d)
END
tap_ok "a broken header" status 0 "$check" badhdr
tap_ok "is an oddity" says "eh_frame_hdr cannot be used, at 0x[0-9a-f]*: bad-header; .eh_frame is scanned"

# A file stripped of its section headers is found by PT_GNU_EH_FRAME alone.
python3 - <<'END'
import struct
d = bytearray(open('prog', 'rb').read())
struct.pack_into('<Q', d, 0x28, 0)
struct.pack_into('<HH', d, 0x3c, 0, 0)
open('nosections', 'wb').write(d)
END
tap_ok "no section headers" status 0 "$check" --json nosections
tap_ok "as many equal rows as with them" json "r[-1]['rows']['equal'] == $("$check" --json prog | tail -n 1 |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"]["equal"])')"

# A library that lies, and one that crashes: a difference is found, a crash ends one file only.
if [ -n "$EHU_SAN" ]; then
	tap_skip "planted faults in libdw" "LD_PRELOAD and sanitizers do not mix"
else
	cat > lie.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elfutils/libdw.h>
int dwarf_frame_cfa(Dwarf_Frame *f, Dwarf_Op **ops, size_t *n)
{
	static int calls;
	static Dwarf_Op op;
	int (*real)(Dwarf_Frame *, Dwarf_Op **, size_t *) = dlsym(RTLD_NEXT, "dwarf_frame_cfa");
	int r = real(f, ops, n);

	if (*n == 1 && ++calls == 3) {
		op = **ops;
		op.number2 += 8;
		*ops = &op;
	}
	return r;
}
END
	cat > crash.c <<'END'
#include <stdlib.h>
#include <elfutils/libdw.h>
int dwarf_cfi_addrframe(Dwarf_CFI *c, Dwarf_Addr a, Dwarf_Frame **f) { abort(); }
END
	gcc -shared -fPIC -o lie.so lie.c -ldl && gcc -shared -fPIC -w -o crash.so crash.c || exit 1
	tap_ok "a wrong row is a difference" status 1 env LD_PRELOAD="$work/lie.so" "$check" prog
	tap_ok "both sides are shown" says "^ +libdw +CFA=rsp\+"
	tap_ok "and the third opinion" says "^ +libdwarf +CFA=rsp\+"
	tap_ok "one row differs" status 1 env LD_PRELOAD="$work/lie.so" "$check" --json prog
	tap_ok "in JSON" json "r[-1]['rows']['different'] == 1 and [x for x in r if x['type'] == 'finding'][0]['differs'] == 'cfa'"
	tap_ok "a crash" status 3 env LD_PRELOAD="$work/crash.so" "$check" --json prog d
	tap_ok "ends one file only" json "r[-1]['files_failed'] == 3 and r[0]['kind'] == 'crashed' and 'signal 6' in r[0]['text']"
fi

# 100,000 rows in one FDE: our side is linear, libdw's is bounded and says so.
python3 - > many.s <<'END'
print('.text\n.globl _start\n_start:\n.cfi_startproc')
for i in range(100000):
    print(' nop\n .cfi_def_cfa_offset %d' % (16 if i % 2 else 8))
print('.cfi_endproc')
END
gcc -nostdlib -static -o many many.s || exit 1
tap_ok "a giant FDE" status 0 timeout 300 "$check" --json many
tap_ok "every row is counted" json "r[-1]['rows']['total'] == 100000 and r[-1]['rows']['different'] == 0 and r[-1]['rows']['oracle_failed'] > 0 and r[-1]['rows']['equal'] > 10000"
tap_ok "rows past a walk's limits are told" json "r[-1]['over_limit_in_walk'] > 0"
tap_end
