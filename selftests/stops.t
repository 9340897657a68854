#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Does core_stop.c divide the stop reasons as the sources do: those that ehframe/ names and can
# give, and those that it leaves to the walk?
set -u
cd "$(dirname "$0")/.." || exit
. selftests/lib/tap.sh

none() { ! grep .; }
named_in() { grep -ohE 'EHF_STOP_[A-Z_]+' "$@" | sort -u | grep -v 'EHF_STOP_\(NONE\|CLASSES\)$'; }
walk() { sed -n '/^static bool of_the_walk/,/^}/s/^	case \(EHF_STOP_[A-Z_]*\):$/\1/p' \
	selftests/core_stop.c | sort -u; }
given() { sed -n '/^static enum ehf_stop make/,/^}/s/^	case \(EHF_STOP_[A-Z_]*\):$/\1/p' \
	selftests/core_stop.c | sort -u; }
code() { named_in ehframe/*.c arch/*.c; }

not_given() { comm -23 <(code) <(given) | none; }
walk_in_ehframe() { comm -12 <(code) <(walk) | none; }
given_but_not_named() { comm -23 <(given | grep -v _NONE$) <(code) | none; }

tap_ok there_are_some [ "$(code | wc -l)" -gt 20 ]
tap_ok what_ehframe_names_is_given not_given
tap_ok what_is_given_is_named given_but_not_named
tap_ok what_the_walk_gives_is_not_named_in_ehframe walk_in_ehframe
tap_end
