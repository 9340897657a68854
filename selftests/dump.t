#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ehunwind-dump's command line: options, exit status, what text and JSON say.
set -u
cd "$(dirname "$0")/.." || exit
. selftests/lib/tap.sh

dump=$EHU_BUILD/ehunwind-dump
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

cat > "$tmp/a.s" <<'END'
	.globl _start, f, c0ffee
	.text
_start:	.cfi_startproc
	.cfi_undefined rip
	call f
	hlt
	.cfi_endproc
f:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	nop
	ret
	.cfi_endproc
c0ffee:	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x16, 7, 2, 0x77, 0x18
	nop
	.cfi_escape 0x0b	# restore_state without a state
	nop
	.cfi_endproc
bare:	nop
	ret
END
gcc -nostdlib -static -Wl,--eh-frame-hdr -o "$tmp/a" "$tmp/a.s" || exit

# status N COMMAND...: gives status N, and says something on stderr unless N is 0
status() {
	local want=$1 got
	shift
	"$@" > "$tmp/out" 2> "$tmp/err"
	got=$?
	[ "$got" -eq "$want" ] || { echo "status $got"; cat "$tmp/err"; return 1; }
	[ "$want" -eq 0 ] || [ -s "$tmp/err" ]
}

# prints REGEX ARGS...: status 0, and the output matches
prints() {
	local want=$1
	shift
	status 0 "$dump" "$@" && grep -qE -e "$want" "$tmp/out" || { cat "$tmp/out"; return 1; }
}


valid() { status "$@" && /usr/bin/python3 -c 'import json, sys
for line in sys.stdin:
    o = json.loads(line)
    assert o["v"] == 1 and o["type"], line' < "$tmp/out" && [ -s "$tmp/out" ]; }

tap_ok help status 0 "$dump" --help
tap_ok no_file status 2 "$dump"
tap_ok two_files status 2 "$dump" "$tmp/a" "$tmp/a"
tap_ok unknown_option status 2 "$dump" --nonsense "$tmp/a"
tap_ok missing_file status 3 "$dump" "$tmp/none"
tap_ok not_elf status 3 "$dump" "$tmp/a.s"
tap_ok directory status 3 "$dump" "$tmp"
tap_ok unknown_symbol status 2 "$dump" --pc nosuch+0x1 "$tmp/a"
tap_ok bad_offset status 2 "$dump" --pc f+0xzz "$tmp/a"
tap_ok no_offset status 2 "$dump" --pc f+ "$tmp/a"
tap_ok empty_place status 2 "$dump" --pc "" "$tmp/a"
tap_ok number_too_long status 2 "$dump" --pc 0x11112222333344445 "$tmp/a"
tap_ok nothing_printed_on_error test ! -s "$tmp/out"
tap_ok full_disk status 4 sh -c '"$0" "$1" > /dev/full' "$dump" "$tmp/a"

tap_ok whole_file prints 'FDE cie=.*<f>' "$tmp/a"
tap_ok whole_outermost prints '^0000000000401000 rsp\+8 +same +undef +outermost$' "$tmp/a"
tap_ok whole_flags prints '  rsp=val\{breg7\+24\} signal$' "$tmp/a"
tap_ok whole_no_row prints '^[0-9a-f]{16} no row: restore-on-empty \(malformed\)$' "$tmp/a"
tap_ok whole_json valid 0 "$dump" --json "$tmp/a"
tap_ok whole_json_kinds test "$(grep -c '"type":"row"' "$tmp/out")" -eq 4

tap_ok by_symbol prints 'CFA +rsp\+16$' --pc f+0x1 "$tmp/a"
tap_ok symbol_alone prints '^0x401006  <f>$' --pc f "$tmp/a"
tap_ok by_section prints 'CFA +rsp\+16$' --pc .text+0x7 "$tmp/a"
tap_ok by_address prints 'CFA +rsp\+16$' --pc 0x401007 "$tmp/a"
tap_ok without_0x prints 'CFA +rsp\+16$' --pc 401007 "$tmp/a"
tap_ok name_before_number prints '<c0ffee>$' --pc c0ffee "$tmp/a"
tap_ok return_address prints 'CFA +rsp\+8$' --ra --pc f+0x1 "$tmp/a"
tap_ok how_it_was_found prints 'entry 1 of 3' --pc f "$tmp/a"
tap_ok what_it_cost prints 'cost +[1-9][0-9]* instructions, [1-9][0-9]* reads, [1-9][0-9]* bytes' --pc f "$tmp/a"
tap_ok two_at_once prints '<_start>' --pc f --pc _start "$tmp/a"
tap_ok no_fde prints 'no row +no-fde \(not-found\)' --pc 0x500000 "$tmp/a"
tap_ok row_json valid 0 "$dump" --json --pc f+0x1 "$tmp/a"
tap_ok row_json_exact grep -qF '{"v":1,"type":"row","pc":"0x401007","start":"0x401007","end":"0x401009","cfa":"rsp+16","ra":"[CFA-8]","fp":"[CFA-16]","sp":null,"signal":false,"outermost":false' "$tmp/out"
tap_ok no_row_json valid 0 "$dump" --json --pc 0x500000 "$tmp/a"
tap_ok no_row_json_exact grep -qF '{"v":1,"type":"no-row","pc":"0x500000","stop":"no-fde","class":"not-found"' "$tmp/out"
tap_ok sp_json prints '"sp":"val\{breg7\+24\}","signal":true' --json --pc c0ffee "$tmp/a"
tap_ok error_json valid 3 "$dump" --json "$tmp/a.s"
tap_ok error_json_kind grep -q '"type":"error","error":"not-elf"' "$tmp/out"

stack='rip=f+0x0 rsp=1000 rbp=0 mem=1000:_start+0x5'
tap_ok walk prints '^stop: ra-undefined \(complete\)' --walk "$stack" "$tmp/a"
tap_ok walk_names_frames grep -qE '^#1 +0x401005  by eh-frame  <_start\+0x5>$' "$tmp/out"
tap_ok walk_json valid 0 "$dump" --json --walk "$stack" "$tmp/a"
tap_ok walk_json_exact grep -qE '^\{"v":1,"type":"trace","frames":\[\{"pc":"0x401006","via":"regs".*\{"pc":"0x401005","via":"eh-frame".*\],"stop":"ra-undefined","class":"complete"' "$tmp/out"
tap_ok walk_by_dwarf_number prints ra-undefined --walk 'pc=f d7=1000 d6=0 mem=1000:_start+0x5' "$tmp/a"
tap_ok walk_without_sp prints '^stop: cfa-register-untracked' --walk 'pc=f' "$tmp/a"
tap_ok walk_memory_is_only_what_is_given prints '^stop: memory' --walk 'pc=f rsp=401000' "$tmp/a"
tap_ok walk_fp_is_off prints '^stop: no-fde' --walk 'pc=bare rsp=1000 rbp=2000 mem=2000:0,_start+0x5' "$tmp/a"
tap_ok walk_fp_if_asked prints 'by fp  <_start' --fp --walk 'pc=bare rsp=1000 rbp=2000 mem=2000:0,_start+0x5' "$tmp/a"
tap_ok walk_without_pc status 2 "$dump" --walk 'rsp=1000' "$tmp/a"
tap_ok walk_unknown_register status 2 "$dump" --walk 'pc=f r99=1' "$tmp/a"
tap_ok walk_no_value status 2 "$dump" --walk 'pc=f rsp' "$tmp/a"
tap_ok walk_no_colon status 2 "$dump" --walk 'pc=f mem=1000' "$tmp/a"
tap_ok walk_no_word status 2 "$dump" --walk 'pc=f mem=1000:' "$tmp/a"
tap_ok walk_wraps status 2 "$dump" --walk 'pc=f mem=fffffffffffffff8:1,2' "$tmp/a"
tap_ok walk_last_word status 0 "$dump" --walk 'pc=f mem=fffffffffffffff8:1' "$tmp/a"
tap_end
