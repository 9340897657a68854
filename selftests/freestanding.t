#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Is the core freestanding, and does every include point the right way? Each check is
# also run on a planted violation, so that a check that sees nothing is noticed.
set -u
cd "$(dirname "$0")/.." || exit
. selftests/lib/tap.sh

core="ehframe arch unwind"
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

# A check prints what is wrong and fails if it printed anything. $1 is the root.
none() { ! grep .; }

sources() {
	(cd "$1" && find ehframe arch unwind harness tools selftests -type f \
		\( -name '*.[chsS]' -o -name '*.sh' -o -name '*.t' -o -name '*.py' -o -name '*.in' \
		-o -name run -o -name setup -o -name demo \) 2>/dev/null
	 echo Makefile)
}

# includes ROOT FOLDER ALLOWED-FOLDER...: "x/y.h" only from the allowed folders.
includes() {
	local root=$1 dir=$2
	shift 2
	grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[chS]' \
		"$root/$dir" 2>/dev/null |
		grep -vE "include[[:space:]]*\"($(IFS='|'; echo "$*"))/[A-Za-z0-9_/-]+\.h\"" | none
}

direction() {
	includes "$1" ehframe ehframe &&
	includes "$1" arch ehframe arch &&
	includes "$1" unwind ehframe arch unwind &&
	includes "$1" harness ehframe arch unwind harness &&
	includes "$1" tools ehframe arch unwind harness tools
}

# <x.h> in the core: the compiler's own, and <linux/x.h> in the one file that may.
hosted_header() {
	(cd "$1" && grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' --include='*.[chS]' \
		$core 2>/dev/null) |
		grep -vE '<std(int|def|bool|arg)\.h>' |
		grep -vE '^ehframe/base\.h:[0-9]+:.*<linux/' | none
}

kernel_switch() {
	(cd "$1" && grep -rn __KERNEL__ --include='*.[chS]' $core) 2>/dev/null |
		grep -v '^ehframe/base\.h:' | none
}

# A kernel has macros of the names that such words are spelled with: noinline, for one.
attributes() {
	(cd "$1" && grep -rn '__attribute__' --include='*.[chS]' $core) 2>/dev/null |
		grep -v '^ehframe/base\.h:' | none
}

spdx() {
	sources "$1" | while read -r f; do
		head -n 3 "$1/$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR MIT' || echo "$f"
	done | none
}

# Only what is handed in counts, where git can say what that is.
top_level() {
	local known
	known=" Makefile README.md LICENSE ehframe arch unwind harness selftests tools docs "
	{ git -C "$1" ls-files 2>/dev/null | grep . || (cd "$1" && ls | grep -v '^build'); } |
		cut -d/ -f1 | sort -u | grep -v '^\.' |
		while read -r f; do
			[[ $known == *" $f "* ]] || echo "$f"
		done | none
}

# What the archive needs and does not have itself.
undefined() {
	nm "$1" | awk 'NF == 2 && $1 ~ /^[Uwv]$/ { need[$2] } NF == 3 { have[$3] }
		END { for (s in need) if (!(s in have)) print s }' |
		grep -vxE 'mem(cpy|move|set|cmp)|_GLOBAL_OFFSET_TABLE_' | none
}

# Sections that can be written to and hold something; .data.rel.ro is const after relocation.
mutable() {
	readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] *//p' |
		awk '$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $5 !~ /^0+$/ {
			print "section", $1, "has", $5, "bytes" }' | none &&
	nm "$1" | awk '$2 == "C"' | none
}

# no_float ROOT FILE...: gcc that may not use FP registers has nothing to object to (clang
# would call a soft-float library instead).
no_float() {
	local root=$1 f
	shift
	for f; do
		(cd "$root" && gcc -std=gnu11 -O1 -mgeneral-regs-only -ffreestanding -nostdinc \
			-isystem "$(gcc -print-file-name=include)" -iquote . -S -o /dev/null "$f") ||
			return
	done
}

compile() { make -s -C "$tmp" SETUP=no SAN= CC="$EHU_CC" O=b "b/$1"; }

# The same tree with one file more, which breaks every rule.
plant() {
	local dir
	for dir in $core; do
		[ ! -d "$dir" ] || cp -r "$dir" "$tmp" || return
	done
	printf '%s\n' '#include "harness/cli.h"' '#ifdef __KERNEL__' '#endif' \
		'int planted_noinline(void) __attribute__((noinline));' \
		> "$tmp/ehframe/planted.c"
	echo "unsigned long strlen(const char *); int planted(const char *); static int n;
		int planted(const char *s) { n += (int)strlen(s); return n; }" \
		> "$tmp/ehframe/state.c"
	echo "int f(double); int f(double d) { return (int)(d * 3); }" > "$tmp/real.c"
	cp Makefile "$tmp"
}

tap_ok plant plant
tap_ok include_direction direction .
tap_ok no_hosted_header hosted_header .
tap_ok kernel_switch_in_base_h_only kernel_switch .
tap_ok attributes_by_base_h_only attributes .
tap_ok spdx_line_everywhere spdx .
tap_ok top_level_holds_nothing_else top_level .
lib=$EHU_BUILD/libehunwind.a
if [ -n "$EHU_SAN" ]; then
	tap_skip undefined_symbols "sanitizers add their own"
	tap_skip no_mutable_state "sanitizers add their own"
else
	tap_ok undefined_symbols undefined "$lib"
	tap_ok no_mutable_state mutable "$lib"
fi
case $(gcc -dumpmachine) in
x86_64*|aarch64*)
	tap_ok no_floating_point no_float . $(ls ehframe/*.c arch/*.c unwind/*.c 2>/dev/null)
	tap_not planted_floating_point no_float "$tmp" real.c ;;
*) tap_skip no_floating_point "no gcc -mgeneral-regs-only" ;;
esac

tap_not planted_include_direction direction "$tmp"
tap_not planted_kernel_switch kernel_switch "$tmp"
tap_not planted_attribute attributes "$tmp"
tap_not planted_no_spdx spdx "$tmp"
tap_not planted_top_level top_level "$tmp"
tap_ok planted_state_builds compile ehframe/state.o
tap_not planted_undefined_symbol undefined "$tmp/b/ehframe/state.o"
tap_not planted_mutable_state mutable "$tmp/b/ehframe/state.o"
for f in "$tmp"/ehframe/*.c; do
	name=${f##*/}
	case $name in planted.c|state.c) continue ;; esac
	tap_ok "copy_builds" compile "ehframe/${name%.c}.o"
	sed -i '1i #include <stdio.h>' "$f"
	tap_not planted_stdio_is_seen hosted_header "$tmp"
	tap_not planted_stdio_does_not_build compile "ehframe/${name%.c}.o"
	tap_ok planted_stdio_is_the_reason grep -q 'stdio.h' <(compile "ehframe/${name%.c}.o" 2>&1)
	break
done
tap_end
