#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Run the module and the programs of selftests/kernel in a stock Debian kernel under qemu, and
# say what they found. Status 0 if every program passed and the kernel had nothing to complain of.
#
#   tools/kernel-guest.sh [x86_64|s390x]
#
# EHU_BUILD	the build folder (build/); everything is in $EHU_BUILD/kernel
# EHU_KERNEL_T	only these programs: names of selftests/kernel without .c
#
# The guest is emulated (TCG): no KVM is wanted, and nothing of the host can be changed by it.
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MFLAGS ARCH CROSS_COMPILE CFLAGS O # of our make, not of the kernel's
: "${EHU_BUILD:=$PWD/build}" "${EHU_KERNEL_T:=}"
export EHU_BUILD
arch=${1:-x86_64}
dir=$EHU_BUILD/kernel/guest-$arch
root=$dir/root
log=$dir/console.log

need() {
	local f
	for f; do
		[ -e "$f" ] || command -v "$f" >/dev/null || {
			echo "tools/kernel-guest.sh: no $f; tools/setup --kernel installs it" >&2
			exit 1
		}
	done
}

# build SUFFIX COMPILER...: every program for one ABI, with the libraries that it loads.
build() {
	local suffix=$1 c name flags
	shift
	"$@" -shared -fPIC -O2 -Wl,-z,separate-code -Wl,-z,max-page-size=4096 \
		-Wl,-soname,plug$suffix.so -o "$root/t/plug$suffix.so" \
		selftests/kernel/plug/plug.c
	for c in selftests/kernel/*.c; do
		name=$(basename "$c" .c)
		case " ${EHU_KERNEL_T:-$name} " in *" $name "*) ;; *) continue ;; esac
		# Bound at the start, but for the one that looks at lazy binding.
		flags=(-Wl,-z,now)
		[ "$name" != plt ] || flags=(-Wl,-z,lazy "$root/t/plug$suffix.so" -Wl,-rpath,/t)
		"$@" -std=gnu11 -O2 -g -Wall -Wextra -iquote . -pthread \
			-DPLUG="\"/t/plug$suffix.so\"" -o "$root/t/$name$suffix.t" "$c" \
			ehframe/stop.c "${flags[@]}"
	done
}

# modules FOLDER: those of the kernel that init loads.
modules() {
	local m
	for m in mm/zsmalloc drivers/block/zram/zram; do
		need "$1/kernel/$m.ko"
		cp "$1/kernel/$m.ko" "$root"
	done
}

# libs FOLDER-IN-GUEST FILE...: what the programs load, where they look for it.
libs() {
	local to=$root$1
	shift
	mkdir -p "$to"
	cp -L "$@" "$to"
}

need rsync cpio
rm -rf "$root"
mkdir -p "$root"/{bin,dev,proc,sys,tmp,t}
cp selftests/kernel/init "$root/init"
case $arch in
x86_64)
	need qemu-system-x86_64 /bin/busybox modinfo
	kernel=$(ls /boot/vmlinuz-*-amd64 2>/dev/null | sort -V | tail -n 1)
	need "${kernel:-/boot/vmlinuz-amd64}"
	release=${kernel#/boot/vmlinuz-}
	need "/lib/modules/$release/build/Makefile"
	EHU_KDIR=/lib/modules/$release/build tools/kernel-module.sh W=1
	cp "$EHU_BUILD/kernel/module/ehunwind.ko" "$root"
	modules "/lib/modules/$release"
	cp /bin/busybox "$root/bin"
	build "" gcc
	libs /lib64 /lib64/ld-linux-x86-64.so.2
	libs /lib/x86_64-linux-gnu /lib/x86_64-linux-gnu/lib{c,m}.so.6
	if [ -e /usr/lib32/libc.so ]; then
		build 32 gcc -m32 -fno-pie -no-pie -idirafter /usr/include/x86_64-linux-gnu
		libs /lib /lib/ld-linux.so.2
		libs /lib32 /lib32/libc.so.6
	else
		echo "# no 32-bit programs: no libc6-dev-i386 (tools/setup --kernel)"
	fi
	qemu=(qemu-system-x86_64 -accel tcg -smp 2 -m 512 -vga none -nic none
	      -append "console=ttyS0 quiet panic=-1") ;;
s390x)
	need qemu-system-s390x s390x-linux-gnu-gcc /usr/lib/linux-kbuild-*
	tools/kernel-fetch.sh s390x
	debian=$EHU_BUILD/kernel/debian-s390x
	kernel=$(cat "$debian/kernel")
	EHU_MODULE=module-s390x EHU_KDIR=$(cat "$debian/headers") \
		tools/kernel-module.sh W=1 ARCH=s390 CROSS_COMPILE=s390x-linux-gnu-
	cp "$EHU_BUILD/kernel/module-s390x/ehunwind.ko" "$root"
	modules "$debian/root/lib/modules/${kernel##*/vmlinuz-}"
	cp "$debian/root/bin/busybox" "$root/bin"
	build "" s390x-linux-gnu-gcc
	libs /lib /usr/s390x-linux-gnu/lib/{ld64.so.1,libc.so.6}
	qemu=(qemu-system-s390x -M s390-ccw-virtio -accel tcg -smp 2 -m 512 -nic none
	      -append "console=ttysclp0 quiet panic=-1") ;;
*)
	echo "tools/kernel-guest.sh: unknown machine $arch" >&2
	exit 2 ;;
esac
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$dir/initrd"
timeout -k 5 280 "${qemu[@]}" -nographic -no-reboot -kernel "$kernel" -initrd "$dir/initrd" \
	</dev/null 2>&1 | tr -d '\r' > "$log" || echo "# qemu: status $?"
python3 tools/kernel-report.py "$log"
