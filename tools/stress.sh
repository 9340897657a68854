#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The tests that run as long as they are told, for longer than `make test` does.
#
#   make stress                  each for 60 seconds, and one event more in every run of the model
#   make stress STRESS_TIME=600
#   make stress SAN=thread O=build-tsan
set -u
: "${EHU_BUILD:=build}" "${STRESS_TIME:=60}"
status=0
for t in "$EHU_BUILD"/selftests/stress_*.t; do
	echo "# ${t##*/}: $STRESS_TIME seconds"
	EHU_STRESS_SECONDS=$STRESS_TIME "$t" -T $((STRESS_TIME * 3 + 60)) || status=1
done
echo "# core_deferred.t: one event more"
EHU_STRESS=1 "$EHU_BUILD/selftests/core_deferred.t" -T 3600 || status=1
exit $status
