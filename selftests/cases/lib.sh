# SPDX-License-Identifier: GPL-2.0-only OR MIT
# For the build scripts of the cases: source it; $1 of the script is the output folder, $O here.
#
# A file that cannot be made here is noted with the reason in $O/skipped. Whatever else is not
# there after the build is a failure of the test.
set -e
O=${1:?usage: build OUTPUT-FOLDER}
mkdir -p "$O"
: > "$O/skipped"

# have TOOL FILE...: is the tool there? If not, the files are skipped
have() {
	tool=$1
	shift
	command -v "$tool" > /dev/null && return
	for f; do echo "$f no $tool" >> "$O/skipped"; done
	return 1
}

# linker NAME FILE...: the same for what gcc calls -fuse-ld=NAME
linker() {
	name=$1
	shift
	have "$([ "$name" = mold ] && echo mold || echo "ld.$name")" "$@"
}

# version TOOL VERSION FILE...: rows of compiled C hold for one compiler
version() {
	tool=$1 version=$2
	shift 2
	have "$tool" "$@" || return
	"$tool" $([ "$tool" = ocamlopt ] && echo -version || echo --version) | head -n 1 | grep -qF "$version" && return
	for f; do echo "$f not $tool $version" >> "$O/skipped"; done
	return 1
}
gcc12() { version gcc "12.2.0" "$@"; }
clang14() { version clang "14.0.6" "$@"; }

# raw NAME SOURCE [AS-OPTION...]: a program of hand-made CFI; see raw.inc
raw() {
	name=$1 source=$2
	shift 2
	as "$@" -o "$O/$name.o" "$source"
	ld.bfd -T ../raw.lds -o "$O/$name" "$O/$name.o" 2> "$O/$name.log"
}
