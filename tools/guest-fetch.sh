#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Fetch Debian packages of another machine and unpack them, without touching the system's own
# packages: apt with lists and a cache of its own.
#
#   tools/guest-fetch.sh ARCH KERNEL PACKAGE...
#
# ARCH is Debian's name, KERNEL the package without a number that depends on the kernel's.
#
# EHU_BUILD	the build folder (build/); all is below guests/debian-ARCH there
# EHU_MIRROR	where from (http://deb.debian.org)
#
# Done once: the folder's file "done" says so, and names the kernel.
set -eu
cd "$(dirname "$0")/.."
: "${EHU_BUILD:=$PWD/build}" "${EHU_MIRROR:=http://deb.debian.org}"
arch=$1 meta=$2
shift 2
dir=$(realpath -m "$EHU_BUILD/guests/debian-$arch")
[ ! -s "$dir/done" ] || exit 0

rm -rf "$dir"
mkdir -p "$dir"/{lists/partial,cache/archives/partial,debs,root}
: > "$dir/status"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
key=/usr/share/keyrings/debian-archive-keyring.gpg
cat > "$dir/sources.list" <<L
deb [arch=$arch signed-by=$key] $EHU_MIRROR/debian $suite main
deb [arch=$arch signed-by=$key] $EHU_MIRROR/debian-security $suite-security main
L
apt=(-o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o "Dir::State::lists=$dir/lists"
     -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache" -o Dir::Etc::sourceparts=-
     -o "Dir::Etc::sourcelist=$dir/sources.list" -o APT::Sandbox::User=root
     -o Acquire::Languages=none -o APT::Get::List-Cleanup=false)
apt-get -qq "${apt[@]}" update
kernel=$(apt-cache "${apt[@]}" depends "$meta" |
	sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -n 1)
(cd "$dir/debs" && apt-get -qq "${apt[@]}" download "$kernel" "$@")
for deb in "$dir"/debs/*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
rm -rf "$dir/root/lib/modules" "$dir/lists" "$dir/cache"
ls "$dir"/root/boot/vmlinuz-* > "$dir/done"
