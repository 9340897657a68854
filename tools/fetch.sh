# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Sourced by tools/*-fetch.sh: Debian packages of another machine, unpacked into a folder without
# touching the system's own packages: apt with lists and a cache of its own.
#
# EHU_MIRROR	where from (http://deb.debian.org)

: "${EHU_MIRROR:=http://deb.debian.org}"

# fetch_begin ARCH FOLDER: empty the folder, and read the lists of Debian's ARCH.
fetch_begin() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg suite
	fetch_dir=$2

	rm -rf "$fetch_dir"
	mkdir -p "$fetch_dir"/{lists/partial,cache/archives/partial,debs,root}
	: > "$fetch_dir/status"
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	cat > "$fetch_dir/sources.list" <<-L
	deb [arch=$1 signed-by=$key] $EHU_MIRROR/debian $suite main
	deb [arch=$1 signed-by=$key] $EHU_MIRROR/debian-security $suite-security main
	L
	fetch_apt=(-o "APT::Architecture=$1" -o "APT::Architectures::=$1"
		   -o "Dir::State::lists=$fetch_dir/lists" -o "Dir::State::status=$fetch_dir/status"
		   -o "Dir::Cache=$fetch_dir/cache" -o Dir::Etc::sourceparts=-
		   -o "Dir::Etc::sourcelist=$fetch_dir/sources.list" -o APT::Sandbox::User=root
		   -o Acquire::Languages=none -o APT::Get::List-Cleanup=false)
	apt-get -qq "${fetch_apt[@]}" update
}

# fetch_named PACKAGE PREFIX: a package without a number names the one with the number.
fetch_named() {
	apt-cache "${fetch_apt[@]}" depends "$1" | sed -n "s/.*Depends: \($2[0-9][^ ]*\).*/\1/p" |
		head -n 1
}

# fetch_get PACKAGE...: into debs/.
fetch_get() {
	(cd "$fetch_dir/debs" && apt-get -qq "${fetch_apt[@]}" download "$@")
}

# fetch_unpack: all of debs/ into root/.
fetch_unpack() {
	local deb

	for deb in "$fetch_dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$fetch_dir/root"
	done
	rm -rf "$fetch_dir/lists" "$fetch_dir/cache"
}
