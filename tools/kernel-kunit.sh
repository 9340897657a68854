#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Run the core's selftests as KUnit tests in a user-mode kernel with KASAN and UBSAN.
#
#   tools/kernel-kunit.sh
#
# EHU_BUILD	the build folder (build/); everything is in $EHU_BUILD/kernel/kunit
# EHU_JOBS	jobs of the kernel's build (number of CPUs)
# EHU_KUNIT_T	only these suites: a pattern (core_*)
# EHU_CORE	take ehframe/, arch/ and unwind/ from here (.): for a copy with a bug planted
#
# The first run unpacks and builds a kernel, which takes minutes; later ones build what changed.
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MFLAGS ARCH CROSS_COMPILE CFLAGS O # of our make, not of the kernel's
: "${EHU_BUILD:=$PWD/build}" "${EHU_JOBS:=$(nproc)}" "${EHU_CORE:=.}"
: "${EHU_KUNIT_T:=core_*}"
dir=$EHU_BUILD/kernel/kunit
tar=$(ls /usr/src/linux-source-*.tar.xz 2>/dev/null | sort -V | tail -n 1)

for f in "${tar:-/usr/src/linux-source}" "$(command -v flex || echo flex)" \
	 "$(command -v bison || echo bison)" "$(command -v bc || echo bc)"; do
	[ -e "$f" ] || {
		echo "make test-kunit: no $f; tools/setup --kernel installs it" >&2
		exit 1
	}
done
tree=$dir/$(basename "$tar" .tar.xz)
mkdir -p "$dir"
if [ ! -e "$tree/.ehunwind" ]; then
	tar -C "$dir" -xf "$tar"
	echo 'obj-$(CONFIG_KUNIT) += ehunwind/' >> "$tree/lib/Makefile"
	touch "$tree/.ehunwind"
fi

# Tests of the core that want more than a kernel has say so by a header of a libc.
names= left=
for f in selftests/core_*.c; do
	n=$(basename "$f" .c)
	if grep -q '#include <' "$f" $(sed -n 's|^#include "\(selftests/lib/.*\)"|\1|p' "$f"); then
		left+=" $n"
	else
		names+=" $n"
	fi
done

# Copies; what has other bytes gets the time of now, and only that is built again.
to=$tree/lib/ehunwind
mkdir -p "$to/selftests"
for d in ehframe arch unwind; do
	rsync -rc --delete --include='*.[ch]' --exclude='*' "$EHU_CORE/$d/" "$to/$d"
done
# A header below selftests/kunit/selftests stands for the one that has its path without "kunit".
rsync -rc $(cd selftests/kunit && find selftests -name '*.h' -printf ' --exclude=/%P') \
	selftests/lib "$to/selftests"
rsync -rc selftests/kunit/selftests "$to/kunit"
rsync -rc selftests/kunit/*.c "$to"
rsync -rc selftests/kunit/Kbuild "$to/Makefile"
echo "$names" > "$dir/names"
rsync -rc "$dir/names" "$to/names"
rm -f $(printf "$to/raw_%s.c " $left)
for n in $names; do
	rsync -rc "selftests/$n.c" "$to/raw_$n.c"
done
# kunit.py adds virtio and PCI where nothing says that they are not wanted.
fragment=selftests/kunit/kernel.config
if ! cmp -s "$fragment" "$dir/fragment"; then
	rm -rf "$dir/config"
	KCONFIG_ALLCONFIG=$PWD/$fragment make -s -C "$tree" ARCH=um O="$dir/config" allnoconfig
	for line in $(grep '^CONFIG_' "$fragment"); do
		grep -qx "$line" "$dir/config/.config" || {
			echo "make test-kunit: this kernel cannot have $line" >&2
			exit 1
		}
	done
	(cat "$dir/config/.config"; echo "# CONFIG_UML_PCI_OVER_VIRTIO is not set") > "$dir/kunitconfig"
	cp "$fragment" "$dir/fragment"
fi

cd "$tree"
python3 tools/testing/kunit/kunit.py run --kunitconfig "$dir/kunitconfig" --build_dir "$dir/out" \
	--jobs "$EHU_JOBS" --kernel_args kasan_multi_shot --raw_output=all "$EHU_KUNIT_T" \
	</dev/null > "$dir/log" 2>&1 || true
cd - >/dev/null
[ -z "$left" ] || echo "# not here, they need a libc:$left"
python3 tools/kernel-kunit.py "$dir/log"
