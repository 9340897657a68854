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

# planted FILE FROM TO ENTRY: with a line of FILE changed so, the proof of ENTRY fails
planted() {
	rm -rf "$tmp"/* && mkdir -p "$tmp/selftests" && cp -r ehframe arch "$tmp" &&
	cp -r selftests/prove "$tmp/selftests" &&
	sed -i "s/$2/$3/" "$tmp/$1" &&
	! cmp -s "$1" "$tmp/$1" &&
	! EHU_BUILD=$tmp "$tmp/selftests/prove/run" "$4" > "$tmp/said" &&
	grep -q '[1-9] alarms' "$tmp/said"
}

tap_ok no_alarm selftests/prove/run
tap_ok planted_overrun_is_seen planted ehframe/cursor.h '^	if (ehf_likely(c->i < c->n))' \
	'	if (ehf_likely(c->i <= c->n))' copying_rest
tap_ok planted_overrun_of_a_plain_program_is_seen planted ehframe/plain.c \
	'(f->next - ctx->hand.start) < 2' '(f->next - ctx->hand.start) < 1' plain_find_little
tap_end
