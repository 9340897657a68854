#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Does Frama-C Eva still report no alarm on ehframe/ and arch/, and does it report one that is
# planted?
set -u
cd "$(dirname "$0")/.." || exit
. selftests/lib/tap.sh

command -v frama-c >/dev/null || tap_skip_all "no frama-c"
[ -z "$EHU_SAN" ] || tap_skip_all "the proof is the same without sanitizers"
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

planted() {
	mkdir -p "$tmp/selftests" && cp -r ehframe arch "$tmp" && cp -r selftests/prove "$tmp/selftests" &&
	sed -i 's/^	if (ehf_likely(c->i < c->n))/	if (ehf_likely(c->i <= c->n))/' \
		"$tmp/ehframe/cursor.h" &&
	! cmp -s ehframe/cursor.h "$tmp/ehframe/cursor.h" &&
	! EHU_BUILD=$tmp "$tmp/selftests/prove/run" copying_rest > "$tmp/said" &&
	grep -q '[1-9] alarms' "$tmp/said"
}

tap_ok no_alarm selftests/prove/run
tap_ok planted_overrun_is_seen planted
tap_end
