#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Fetch a Debian kernel, its headers and a busybox of another machine, without touching the
# system's packages.
#
#   tools/kernel-fetch.sh ARCH
#
# EHU_BUILD	the build folder (build/)
# EHU_MIRROR	where from (http://deb.debian.org)
#
# They are unpacked below $EHU_BUILD/kernel/debian-ARCH/root; done once.
set -eu
cd "$(dirname "$0")/.."
: "${EHU_BUILD:=$PWD/build}"
. tools/fetch.sh
arch=$1
dir=$(realpath -m "$EHU_BUILD/kernel/debian-$arch")
[ ! -e "$dir/root/done" ] || exit 0

fetch_begin "$arch" "$dir"
image=$(fetch_named "linux-image-$arch" linux-image-)
headers=$(fetch_named "linux-headers-$arch" linux-headers-)
fetch_get "$image" "$headers" busybox-static
common=$(cd "$dir/debs" && dpkg-deb -f "$headers"_*.deb Depends |
	sed -n 's/.*\(linux-headers-[^ ,]*-common\).*/\1/p')
fetch_get "$common"
fetch_unpack
# Its headers name their common part by where it would be installed; the tools of this machine
# that kbuild runs are in linux-kbuild.
h=$dir/root/usr/src/$headers
sed -i "s|/usr/src/linux-headers|$dir/root/usr/src/linux-headers|" "$h/Makefile"
mkdir -p "$dir/root/usr/lib"
ln -sfn /usr/lib/linux-kbuild-* "$dir/root/usr/lib/"
echo "$h" > "$dir/headers"
ls "$dir"/root/boot/vmlinuz-* > "$dir/kernel"
touch "$dir/root/done"
