#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Fetch Debian packages of another machine and unpack them, without touching the system's own
# packages.
#
#   tools/guest-fetch.sh ARCH KERNEL PACKAGE...
#
# ARCH is Debian's name, KERNEL the package without a number that depends on the kernel's, or "-".
#
# EHU_BUILD	the build folder (build/); all is below guests/debian-ARCH there
# EHU_MIRROR	where from (http://deb.debian.org)
#
# Done once: the folder's file "done" says what was asked for, and "kernel" names the kernel.
set -eu
cd "$(dirname "$0")/.."
: "${EHU_BUILD:=$PWD/build}"
. tools/fetch.sh
arch=$1 meta=$2
asked=$*
shift 2
dir=$(realpath -m "$EHU_BUILD/guests/debian-$arch")
[ ! -e "$dir/done" ] || [ "$(cat "$dir/done")" != "$asked" ] || exit 0

fetch_begin "$arch" "$dir"
[ "$meta" = - ] || set -- "$(fetch_named "$meta" linux-image-)" "$@"
fetch_get "$@"
fetch_unpack
rm -rf "$dir/root/lib/modules"
[ "$meta" = - ] || ls "$dir"/root/boot/vmlinuz-* > "$dir/kernel"
echo "$asked" > "$dir/done"
