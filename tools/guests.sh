#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Boot Debian's s390x and arm64 kernels under qemu, record programs there with our static recorder
# and with Debian's perf, and unwind the recordings here.
#
#   tools/guests.sh [s390x|arm64]...
#
# EHU_BUILD	the build folder (build/); all is below guests/ there
# EHU_GUEST_T	only these programs for our recorder
# EHU_GUEST_PERF	and these for perf
#
# Status 0 if every trace agrees. The guests are emulated (TCG): no KVM is wanted, and nothing of
# the host can be changed by them.
set -eu
cd "$(dirname "$0")/.."
: "${EHU_BUILD:=$PWD/build}"
: "${EHU_GUEST_T:=recursion recursion-fp sorts signals nested threads noreturn drap}"
: "${EHU_GUEST_PERF=recursion signals nested}"
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
fill_root() {
	local machine=$1 debian=$2 root=$3 cc=$1-linux-gnu-gcc name source
	shift 3

	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,lib,t}
	cp "$debian/root/bin/busybox" "$root/bin"
	# The headers are the same on every machine; the library is not.
	$cc -std=gnu11 -O2 -D_GNU_SOURCE= -pthread -iquote . -idirafter "$debian/root/usr/include" \
		-idirafter "$debian/root/usr/include/$machine-linux-gnu" -static -o "$root/bin/record" \
		tools/ehunwind-record.c harness/{cli,perf_capture,perf_events,perf_proc,perf_ring}.c \
		harness/{perf_target,perf_wait,perf_write,record_main}.c \
		-L"$debian/root/usr/lib/$machine-linux-gnu" -luring
	$cc -O2 -o "$root/t/vdso" selftests/targets/vdso.c
	for name in $(printf '%s\n' $EHU_GUEST_T $EHU_GUEST_PERF | sort -u); do
		source=selftests/targets/${name%-fp}.c
		case $name in
		*-fp) set -- "$@" -fno-omit-frame-pointer ;;
		esac
		$cc -O2 -pthread -fno-optimize-sibling-calls -Wl,--build-id "$@" -o "$root/t/$name" "$source"
	done
	cp -L /usr/"$machine"-linux-gnu/lib/{ld*.so.1,lib{c,m}.so.6,lib{dl,rt,util}.so.*} \
		/usr/"$machine"-linux-gnu/lib/{libpthread.so.0,libresolv.so.2} "$root/lib"
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
	send() { echo; echo "EHU-BEGIN \$1"; gzip -1 < "\$2" | base64; echo "EHU-END \$1"; }
	/t/vdso > /tmp/vdso && send vdso /tmp/vdso
	for t in $EHU_GUEST_T; do
		rm -f /tmp/data
		if /bin/record -F 199 -o /tmp/data -- /t/\$t $MS > /tmp/said 2>&1; then
			send \$t /tmp/data
		else
			echo "EHU-FAILED \$t"; cat /tmp/said
		fi
	done
	for t in $EHU_GUEST_PERF; do
		rm -f /tmp/data
		if /bin/perf record -F 199 -e cpu-clock:u --call-graph dwarf,16384 -o /tmp/data \
			/t/\$t $MS > /tmp/said 2>&1; then
			send perf-\$t /tmp/data
		else
			echo "EHU-FAILED perf-\$t"; cat /tmp/said
		fi
	done
	echo EHU-DONE
	poweroff -f
	I
	chmod +x "$root/init"
}

# The files that came over the console, each gzipped and in base64 between two lines.
receive() {
	python3 - "$1" "$2" <<-'P'
	import base64, gzip, os, sys
	name, text, done = None, [], False
	for line in open(sys.argv[1], errors='replace'):
	    line = line.strip()
	    if line.startswith('EHU-BEGIN '):
	        name, text = line.split()[1], []
	    elif line.startswith('EHU-END ') and name:
	        with open(os.path.join(sys.argv[2], name + '.data'), 'wb') as f:
	            f.write(gzip.decompress(base64.b64decode(''.join(text))))
	        name = None
	    elif name:
	        text.append(line)
	    done |= line == 'EHU-DONE'
	sys.exit(not done)
	P
}

# One guest: ARCH (Debian's) MACHINE (gcc's) KERNEL FLAGS... -- QEMU...
guest() {
	local arch=$1 machine=$2 meta=$3 flags=()
	local more=
	local dir=$EHU_BUILD/guests/$arch debian=$EHU_BUILD/guests/debian-$arch name

	shift 3
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	need "$machine-linux-gnu-gcc" "$1" cpio
	# perf is linked with libunwind on arm64 only.
	[ "$arch" != arm64 ] || more=libunwind8
	# shellcheck disable=SC2086 # lists
	tools/guest-fetch.sh "$arch" "$meta" busybox-static liburing-dev $perf $more
	mkdir -p "$dir/data"
	rm -f "$dir"/data/*
	fill_root "$machine" "$debian" "$dir/root" ${flags[@]+"${flags[@]}"}
	(cd "$dir/root" && find . | cpio -o -H newc --quiet | gzip -1) > "$dir/initrd"
	timeout -k 5 280 "$@" -accel tcg -smp 2 -m 512 -nic none -nographic -no-reboot \
		-kernel "$(cat "$debian/done")" -initrd "$dir/initrd" </dev/null 2>&1 |
		tr -d '\r' > "$dir/console.log" || :
	if ! receive "$dir/console.log" "$dir/data"; then
		echo "$arch: the guest did not come to its end; see $dir/console.log"
		failed=1
		return
	fi
	mv "$dir/data/vdso.data" "$dir/root/[vdso]"
	for name in $EHU_GUEST_T ${EHU_GUEST_PERF:+$(printf 'perf-%s ' $EHU_GUEST_PERF)}; do
		if [ ! -e "$dir/data/$name.data" ]; then
			echo "$arch $name: not recorded; see $dir/console.log"
			failed=1
			continue
		fi
		"$check" --json --no-symbols --symfs "$dir/root" -i "$dir/data/$name.data" \
			> "$dir/data/$name.json" 2> "$dir/data/$name.err" || failed=1
		python3 - "$arch" "$name" "$dir/data/$name.json" <<-'P' || failed=1
		import json, sys
		objects = [json.loads(line) for line in open(sys.argv[3])]
		s, d = objects[-1], objects[-2]
		print('%s %s: %d samples, %d untestable, %d frames, %d equal, %d longer by a fault of libdw %s, '
		      '%d different, %d unexplained, %d complete' % (
		          sys.argv[1], sys.argv[2], s['samples'], s['untestable'], s['frames'], s['equal'],
		          s['ours_longer'] - s['unexplained'], d.get('oracle_faults', {}), s['different'],
		          s['unexplained'], s['complete']), flush=True)
		sys.exit(s['samples'] - s['untestable'] < 20)
		P
	done
}

[ -x "$check" ] || { echo "tools/guests.sh: no $check: make it first" >&2; exit 1; }
[ $# -gt 0 ] || set -- s390x arm64
for arch; do
	case $arch in
	s390x)
		guest s390x s390x linux-image-s390x -- qemu-system-s390x -M s390-ccw-virtio \
			-append "console=ttysclp0 quiet panic=-1" ;;
	arm64)
		# With SVE perf asks for a register (VG) that software events cannot sample.
		guest arm64 aarch64 linux-image-cloud-arm64 -mbranch-protection=standard -- \
			qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on,sve=off \
			-append "console=ttyAMA0 quiet panic=-1" ;;
	*)
		echo "tools/guests.sh: unknown machine $arch" >&2
		exit 2 ;;
	esac
done
exit $failed
