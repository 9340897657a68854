#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Boot Debian's s390x, arm64 and amd64 (for x32) kernels under qemu, record programs there in four
# ways, and unwind the recordings here.
#
#   tools/guests.sh [s390x|arm64|x32]...
#
# EHU_BUILD		the build folder (build/); all is below guests/ there
# EHU_GUEST_T		only these programs for our recorder
# EHU_GUEST_PERF	these for Debian's perf
# EHU_GUEST_SAMPLER	and these sampled from within, with libgcc's backtrace (selftests/targets/sampler.c)
#
# A program that dumps core (selftests/targets/crash.c) is the fourth way. Status 0 if every trace
# agrees. The guests are emulated (TCG): no KVM is wanted, and nothing of the host can be changed by
# them.
set -eu
cd "$(dirname "$0")/.."
make=${MAKE:-make}
unset MAKEFLAGS MAKELEVEL MFLAGS ARCH CROSS_COMPILE CFLAGS O # of our make, not of the recorder's
: "${EHU_BUILD:=$PWD/build}"
: "${EHU_GUEST_T=recursion recursion-fp recursion-static sorts signals nested threads noreturn drap}"
: "${EHU_GUEST_PERF=recursion signals nested}"
: "${EHU_GUEST_SAMPLER=recursion sorts signals nested threads noreturn drap}"
export EHU_BUILD
check=$EHU_BUILD/ehunwind-check
MS=1200 # milliseconds of CPU time that each program runs
failed=0
# perf, and the libraries that it loads.
perf="linux-perf libbabeltrace1 libcap2 libdw1 libelf1 liblzma5 libnuma1 libopencsd1 libperl5.36
	libpython3.11 libslang2 libzstd1 zlib1g libglib2.0-0 libuuid1 libpopt0 libpcre2-8-0
	libbz2-1.0 libdb5.3 libgdbm6 libgdbm-compat4 libcrypt1 libexpat1 libblkid1 libmount1
	libffi8 libselinux1 libgcc-s1 libstdc++6"

need() {
	local f
	for f; do
		command -v "$f" >/dev/null || {
			echo "tools/guests.sh: no $f; tools/setup --all installs it" >&2
			exit 1
		}
	done
}

# What runs there: root/init, the recorder, the programs and their libraries.
# MACHINE ARCH FOLDER COMPILER...
fill_root() {
	local machine=$1 arch=$2 root=$3 debian=$EHU_BUILD/guests/debian-$2 name flags libs cc
	shift 3
	cc=("$@")

	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,lib,t}
	cp "$debian/root/bin/busybox" "$root/bin"
	"${cc[@]}" -O2 -o "$root/t/vdso" selftests/targets/vdso.c
	"${cc[@]}" -O2 -pthread -fno-optimize-sibling-calls -Wl,--build-id -o "$root/t/crash" \
		selftests/targets/crash.c
	"${cc[@]}" -O2 -c -o "$root/../sampler.o" selftests/targets/sampler.c
	for name in $(printf '%s\n' $EHU_GUEST_T $EHU_GUEST_PERF $EHU_GUEST_SAMPLER | sort -u); do
		flags=()
		case $name in
		*-fp) flags=(-fno-omit-frame-pointer) ;;
		*-static) flags=(-static -Wl,--eh-frame-hdr) ;;
		esac
		"${cc[@]}" -O2 -pthread -fno-optimize-sibling-calls -Wl,--build-id \
			${flags[@]+"${flags[@]}"} -o "$root/t/$name" \
			"selftests/targets/${name%-*}.c" "$root/../sampler.o"
	done
	if [ "$machine" = x86_64 ]; then
		cp "$EHU_BUILD/ehunwind-record" "$root/bin/record"
		mkdir -p "$root"/{libx32,usr/libx32,lib64}
		cp -L /libx32/ld-linux-x32.so.2 "$root/libx32"
		cp -L /usr/libx32/lib{c,m,gcc_s}.so.[16] "$root/usr/libx32"
		cp -L "$debian/root/lib64/ld-linux-x86-64.so.2" "$root/lib64"
	else
		$make -s O="$EHU_BUILD/guests/$machine" CROSS_COMPILE="$machine-linux-gnu-" \
			CROSS_ROOT="$debian/root" "$EHU_BUILD/guests/$machine/ehunwind-record"
		cp "$EHU_BUILD/guests/$machine/ehunwind-record" "$root/bin/record"
		libs=/usr/$machine-linux-gnu/lib
		cp -L "$libs"/{ld*.so.1,lib{c,m}.so.6,lib{dl,rt,util}.so.*} \
			"$libs"/{libpthread.so.0,libresolv.so.2,libgcc_s.so.1} "$root/lib"
	fi
	if [ -n "$EHU_GUEST_PERF" ]; then
		mkdir -p "$root/lib/$machine-linux-gnu"
		cp -L "$debian"/root/{usr/,}lib/"$machine"-linux-gnu/*.so.* "$root/lib/$machine-linux-gnu"
		cp "$debian/root/usr/bin/perf" "$root/bin"
	fi
	cat > "$root/init" <<-I
	#!/bin/busybox sh
	/bin/busybox --install -s /bin
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev
	echo -1 > /proc/sys/kernel/perf_event_paranoid
	echo 100 > /proc/sys/kernel/perf_cpu_time_max_percent
	echo /tmp/core > /proc/sys/kernel/core_pattern
	send() { echo; echo "EHU-BEGIN \$1"; gzip -1 < "\$2" | base64; echo "EHU-END \$1"; }
	# sent NAME COMMAND...: the command writes /tmp/data
	sent() {
		name=\$1
		shift
		rm -f /tmp/data
		if "\$@" > /tmp/said 2>&1; then
			send \$name /tmp/data
		else
			echo "EHU-FAILED \$name"; cat /tmp/said
		fi
	}
	echo; echo "EHU-KERNEL \$(uname -r) \$(uname -m)"
	/t/vdso > /tmp/vdso && send vdso /tmp/vdso
	for t in $EHU_GUEST_T; do
		sent \$t /bin/record -F 199 -o /tmp/data -- /t/\$t $MS
	done
	for t in $EHU_GUEST_PERF; do
		sent perf-\$t /bin/perf record -F 199 -e cpu-clock:u --call-graph dwarf,16384 \
			-o /tmp/data /t/\$t $MS
	done
	for t in $EHU_GUEST_SAMPLER; do
		EHU_SAMPLER=/tmp/data sent within-\$t /t/\$t $MS
	done
	(ulimit -c unlimited; /t/crash > /tmp/said 2>&1)
	[ -s /tmp/core ] && send core /tmp/core || echo "EHU-FAILED core"
	echo EHU-DONE
	poweroff -f
	I
	chmod +x "$root/init"
}

# A trace each, and the verdict of all: NAME, then what ehunwind-check is told.
compare() {
	local name=$1
	shift

	"$check" --json --no-symbols --symfs "$dir/root" "$@" > "$dir/data/$name.json" \
		2> "$dir/data/$name.err" || failed=1
	tools/guest-report.py "$guest" "$name" "$dir/data/$name.json" || failed=1
}

# What gdb finds in the core: it knows signed return addresses, by NT_ARM_PAC_MASK.
compare_core() {
	compare core --core "$dir/data/core.data"
	if command -v gdb-multiarch >/dev/null; then
		timeout 120 gdb-multiarch -q -batch -nx -ex "set sysroot $dir/root" -ex "file $dir/root/t/crash" \
			-ex "core-file $dir/data/core.data" -ex 'thread apply all -q bt' \
			> "$dir/data/core.gdb" 2>&1 </dev/null || :
		tools/guest-report.py "$guest" core "$dir/data/core.json" "$dir/data/core.gdb" || failed=1
	else
		echo "$guest core: no gdb-multiarch to compare with"
	fi
}

# One guest: NAME ARCH (Debian's) MACHINE (gcc's) KERNEL COMPILER... -- QEMU...
guest() {
	local guest=$1 arch=$2 machine=$3 meta=$4 cc=() more=
	local dir=$EHU_BUILD/guests/$1 debian=$EHU_BUILD/guests/debian-$2 name

	shift 4
	while [ "$1" != -- ]; do
		cc+=("$1")
		shift
	done
	shift
	need "${cc[0]}" "$1" cpio
	# perf is linked with libunwind on these only; the others have a libc of the cross compiler's.
	case $arch in
	arm64) more=libunwind8 ;;
	amd64) more="libunwind8 libc6" ;;
	esac
	# shellcheck disable=SC2086 # lists
	tools/guest-fetch.sh "$arch" "$meta" busybox-static liburing-dev $perf $more
	mkdir -p "$dir/data"
	rm -f "$dir"/data/*
	fill_root "$machine" "$arch" "$dir/root" "${cc[@]}"
	(cd "$dir/root" && find . | cpio -o -H newc --quiet | gzip -1) > "$dir/initrd"
	timeout -k 5 500 "$@" -accel tcg -smp 2 -m 512 -nic none -nographic -no-reboot \
		-kernel "$(cat "$debian/kernel")" -initrd "$dir/initrd" </dev/null 2>&1 |
		tr -d '\r' > "$dir/console.log" || :
	if ! tools/guest-report.py --receive "$dir/console.log" "$dir/data"; then
		echo "$guest: the guest did not come to its end; see $dir/console.log"
		failed=1
	fi
	[ ! -e "$dir/data/vdso.data" ] || mv "$dir/data/vdso.data" "$dir/root/[vdso]"
	for name in $EHU_GUEST_T ${EHU_GUEST_PERF:+$(printf 'perf-%s ' $EHU_GUEST_PERF)} \
		${EHU_GUEST_SAMPLER:+$(printf 'within-%s ' $EHU_GUEST_SAMPLER)} core; do
		if [ ! -e "$dir/data/$name.data" ]; then
			echo "$guest $name: not recorded; see $dir/console.log"
			failed=1
		elif [ "$name" = core ]; then
			compare_core
		else
			compare "$name" -i "$dir/data/$name.data"
		fi
	done
}

[ -x "$check" ] || { echo "tools/guests.sh: no $check: make it first" >&2; exit 1; }
[ $# -gt 0 ] || set -- s390x arm64 x32
for name; do
	case $name in
	s390x)
		guest s390x s390x s390x linux-image-s390x s390x-linux-gnu-gcc -- \
			qemu-system-s390x -M s390-ccw-virtio -append "console=ttysclp0 quiet panic=-1" ;;
	arm64)
		# With SVE perf asks for a register (VG) that software events cannot sample.
		guest arm64 arm64 aarch64 linux-image-cloud-arm64 \
			aarch64-linux-gnu-gcc -mbranch-protection=standard -- \
			qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on,sve=off \
			-append "console=ttyAMA0 quiet panic=-1" ;;
	x32)
		guest x32 amd64 x86_64 linux-image-amd64 \
			gcc -mx32 -idirafter /usr/include/x86_64-linux-gnu -- \
			qemu-system-x86_64 -vga none \
			-append "console=ttyS0 quiet panic=-1 syscall.x32=y" ;;
	*)
		echo "tools/guests.sh: unknown machine $name" >&2
		exit 2 ;;
	esac
done
exit $failed
