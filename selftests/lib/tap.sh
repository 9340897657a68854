# SPDX-License-Identifier: GPL-2.0-only OR MIT
# TAP for the shell tests: source it, then call these.
#
#   tap_ok NAME COMMAND...	"ok" if the command succeeds; if not, what it said goes to stderr
#   tap_not NAME COMMAND...	"ok" if the command fails
#   tap_skip NAME REASON	this one cannot run here
#   tap_skip_all REASON	nothing in the file can run here; ends it
#   tap_end			last: prints the plan, ends with 1 if anything failed

: "${EHU_BUILD:=$PWD/build}" "${EHU_SRC:=.}" "${EHU_CC:=cc}" "${EHU_SAN:=}"
tap_nr=0
tap_failed=0

tap_result() {
	tap_nr=$((tap_nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_nr $2"
	else
		echo "not ok $tap_nr $2"
		tap_failed=1
		printf '%s\n' "$3" | sed "s|^|# $(basename "$0"):$2: |" >&2
	fi
}

tap_ok() {
	local name=$1 said status
	shift
	said=$("$@" 2>&1)
	status=$?
	tap_result "$status" "$name" "${said:-$* gave status $status}"
}

tap_not() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then
		tap_result 1 "$name" "$* succeeded; it said: $said"
	else
		tap_result 0 "$name"
	fi
}

tap_skip() {
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr $1 # SKIP $2"
}

tap_skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

tap_end() {
	echo "1..$tap_nr"
	[ "$tap_nr" -gt 0 ] && exit "$tap_failed"
	exit 1
}
