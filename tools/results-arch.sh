#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The part of docs/results.md that is about machines other than this one.
#
#   tools/results-arch.sh [BUILD-FOLDER]
#
# Rows of Debian's cross and multilib libraries; i386 programs on this kernel; programs emulated by
# qemu-user and sampled from within (selftests/arch_emulated.t); and, where tools/guests.sh has run,
# its recordings.
set -u
cd "$(dirname "$0")/.." || exit
build=$(realpath "${1:-${EHU_BUILD:-build}}")
check=$build/ehunwind-check

cat <<M

## Other machines

Made by \`tools/results-arch.sh\`; load average $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs.

M
cat <<'M'
### Rows of libraries (`ehunwind-check --json FOLDER`)

| machine | folder | files | FDEs | rows | equal | libdw wrong | different | unsupported bytes |
|---|---|---|---|---|---|---|---|---|
M
for pair in s390x:/usr/s390x-linux-gnu/lib aarch64:/usr/aarch64-linux-gnu/lib i386:/usr/lib32 \
	x32:/usr/libx32; do
	[ -d "${pair#*:}" ] || { echo "| ${pair%%:*} | ${pair#*:} | not installed | | | | | | |"; continue; }
	"$check" --json -j 2 "${pair#*:}" | tail -n 1 | python3 -c '
import json, sys
s = json.loads(sys.stdin.read())
r, b = s["rows"], s["bytes"]
print("| %s | %s | %d | %d | %d | %d | %d | %d | %d of %d |" % (
    sys.argv[1], sys.argv[2], s["files"], s["fdes"], r["total"], r["equal"], r["oracle_wrong"],
    r["different"], b["unsupported"], b["total"]))' "${pair%%:*}" "${pair#*:}"
done

# table FILE-OF-JSON...: a row each, of traces
table() {
	python3 - "$@" <<-'P'
	import json, os, sys
	for path in sys.argv[1:]:
	    objects = [json.loads(line) for line in open(path)]
	    s, d = objects[-1], [o for o in objects if o['type'] == 'trace-details'][0]
	    chain, records = d.get('libgcc'), d.get('frame_records')
	    name = os.path.basename(path)[:-5]
	    faults = ', '.join('%s %d' % f for f in sorted(d['oracle_faults'].items()))
	    print('| %s %s | %d | %d | %d | %d | %d | %s | %s | %s | %d | %d |' % (
	        os.path.basename(os.path.dirname(path)), name, s['samples'] - s['untestable'],
	        s['frames'], s['complete'], s['equal'], s['neither'], faults,
	        '%d of %d' % (chain['equal'], chain['traces'] - chain['no_header']) if chain else '-',
	        '%(to_the_end)d of %(complete)d' % records if records else '-', s['different'],
	        s['unexplained']))
	P
}

table_head() {
	cat <<-'M'

	| program | traces | frames | complete | equal to libdw | one frame | longer: libdw's fault | equal to libgcc | confirmed by frame records | different | unexplained |
	|---|---|---|---|---|---|---|---|---|---|---|
	M
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
worst=0

echo
echo '### i386 programs on this kernel (`ehunwind-check -- PROGRAM 1500`, and with `--mode defer`)'
table_head
for name in recursion signals threads; do
	program=$work/i386-$name
	gcc -m32 -O2 -pthread -fno-optimize-sibling-calls -o "$program" "selftests/targets/$name.c" || {
		worst=1
		continue
	}
	for mode in copy defer; do
		mkdir -p "$work/i386-$mode"
		"$check" --json --no-symbols --mode "$mode" -- "$program" 1500 \
			> "$work/i386-$mode/$name.json" || worst=1
		table "$work/i386-$mode/$name.json"
	done
done

rm -f "$build"/targets/{s390x,aarch64}*/*.data
EHU_BUILD=$build selftests/arch_emulated.t > "$work/said" 2>&1 || { worst=1; cat "$work/said" >&2; }
echo
echo '### Emulated programs, sampled from within (`selftests/arch_emulated.t`)'
echo
echo 'libdw is blind to signed return addresses and to most signal frames without CFI'
echo '(docs/oracles.md): there libgcc, from within the program, is the reference, and on AArch64 the'
echo 'frame records: of the complete traces that libdw gives up, those that they confirm to the end.'
echo 'What libgcc has and a sample has not is a second stack (-alt, deep).'
table_head
for data in "$build"/targets/{s390x,s390x-*,aarch64,aarch64-*}/*.data; do
	[ -e "$data" ] || continue
	folder=$work/$(basename "$(dirname "$data")")
	mkdir -p "$folder"
	json=$folder/$(basename "$data" .data).json
	"$check" --json --no-symbols -i "$data" > "$json" 2>/dev/null
	table "$json"
done

echo
echo '### Guests: Debian kernels under qemu (`make test-guests`)'
echo
echo 'Recorded by our static recorder, by perf (perf-), from within by SIGPROF with libgcc'"'"'s backtrace'
echo '(within-), and as a core dump. Where libdw stops at a signed return address (most arm64 traces) the'
echo 'frame records speak of the rest, and for within- libgcc. Traces of one frame: the vDSO of arm64 has no'
echo 'CFI, and a program that asks for the time is often in it. Not counted for libgcc: samples in the'
echo 'vDSO of s390x, whose PT_GNU_EH_FRAME is empty, so that libgcc ends there. On s390x the kernel does not'
echo 'tell FPRs, in which leaves park registers: such traces end at fp-unknown (docs/oracles.md), most of'
echo 'them in recursion-fp.'
if ls "$build"/guests/*/data/*.json >/dev/null 2>&1; then
	table_head
	for json in "$build"/guests/*/data/*.json; do
		machine=$(basename "$(dirname "$(dirname "$json")")")
		mkdir -p "$work/guest-$machine"
		cp "$json" "$work/guest-$machine"
		table "$work/guest-$machine/$(basename "$json")"
	done
	echo
	echo "gdb-multiarch on the guests' cores, frame by frame:"
	echo
	for gdb in "$build"/guests/*/data/core.gdb; do
		machine=$(basename "$(dirname "$(dirname "$gdb")")")
		printf -- '* '
		tools/guest-report.py "$machine" core "${gdb%.gdb}.json" "$gdb" || worst=1
	done
else
	echo
	echo 'Not run.'
fi
exit "$worst"
