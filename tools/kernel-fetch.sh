#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Fetch a Debian kernel, its headers and a busybox of another machine, without touching the
# system's packages: apt with lists and a cache of its own.
#
#   tools/kernel-fetch.sh ARCH
#
# EHU_BUILD	the build folder (build/)
# EHU_MIRROR	where from (http://deb.debian.org)
#
# They are unpacked below $EHU_BUILD/kernel/debian-ARCH/root; done once.
set -eu
cd "$(dirname "$0")/.."
: "${EHU_BUILD:=$PWD/build}" "${EHU_MIRROR:=http://deb.debian.org}"
arch=$1
dir=$(realpath -m "$EHU_BUILD/kernel/debian-$arch")
[ ! -e "$dir/root/done" ] || exit 0

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
# The package without a number names the one with the number.
named() { apt-cache "${apt[@]}" depends "$1" | sed -n "s/.*Depends: \($2[0-9][^ ]*\).*/\1/p" | head -n 1; }
image=$(named "linux-image-$arch" linux-image-)
headers=$(named "linux-headers-$arch" linux-headers-)
(cd "$dir/debs" && apt-get -qq "${apt[@]}" download "$image" "$headers" busybox-static)
common=$(cd "$dir/debs" && dpkg-deb -f "$headers"_*.deb Depends |
	sed -n 's/.*\(linux-headers-[^ ,]*-common\).*/\1/p')
(cd "$dir/debs" && apt-get -qq "${apt[@]}" download "$common")
for deb in "$dir"/debs/*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
# Its headers name their common part by where it would be installed; the tools of this machine
# that kbuild runs are in linux-kbuild.
h=$dir/root/usr/src/$headers
sed -i "s|/usr/src/linux-headers|$dir/root/usr/src/linux-headers|" "$h/Makefile"
mkdir -p "$dir/root/usr/lib"
ln -sfn /usr/lib/linux-kbuild-* "$dir/root/usr/lib/"
echo "$h" > "$dir/headers"
ls "$dir"/root/boot/vmlinuz-* > "$dir/kernel"
touch "$dir/root/done"
