#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Build the kernel module: the core unchanged and harness/kmod.
#
#   tools/kernel-module.sh [KBUILD-ARGUMENT...]
#
# EHU_BUILD	the build folder (build/); the module is $EHU_BUILD/kernel/module/ehunwind.ko
# EHU_KDIR	headers to build against: those of the newest kernel that is installed
# EHU_MODULE	another place to build in, below $EHU_BUILD/kernel
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MFLAGS ARCH CROSS_COMPILE CFLAGS O # of our make, not of the kernel's
: "${EHU_BUILD:=$PWD/build}" "${EHU_MODULE:=module}"
: "${EHU_KDIR:=$(ls -d /lib/modules/*/build 2>/dev/null | sort -V | tail -n 1)}"

if [ -z "$EHU_KDIR" ] || [ ! -e "$EHU_KDIR/Makefile" ]; then
	echo "make module: no kernel headers; tools/setup --kernel installs them" >&2
	exit 1
fi
to=$EHU_BUILD/kernel/$EHU_MODULE
mkdir -p "$to"
# In a copy: kbuild writes objects beside sources. Only what changed is built again.
rsync -rc --delete --include='*/' --include='*.[ch]' --exclude='*' ehframe arch unwind "$to"
mkdir -p "$to/harness"
rsync -rc --include='*/' --include='*.[ch]' --exclude='*' harness/kmod "$to/harness"
rsync -c harness/kmod/Kbuild "$to"
make -s -C "$EHU_KDIR" M="$(realpath "$to")" "$@" modules
echo "$to/ehunwind.ko"
