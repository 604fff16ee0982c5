#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A far side that is silent at first, and works from then on: that the attempt arrives outside any
# sandbox must be shown before and after, so that the last baseline does not speak for the first.
set -u
. "$(dirname "$0")/lib.sh"

# Asked for its version, which is before the first trial, it waits; and again in its first on arm.
make_target waits-for-test
echo "version: [\"$tmp/targets/hold\"]" >>"$(target waits-for-test)"

# shellcheck disable=SC2317 # called by name
ended() { # pid
	! kill -0 "$1" 2>/dev/null
}

begin_sentinel late -p udp-send -t "$(target waits-for-test)"
wait_held
collectors=$(pgrep -x -P "$daemon_pid" 'sentinel-collec')
is "collectors that were stopped" "$(wc -w <<<"$collectors")" 8
# shellcheck disable=SC2086 # one word per process
kill -STOP $collectors
release_held
wait_until "its version was told" ended "$held_pid"
hold_again
wait_held
# shellcheck disable=SC2086
kill -CONT $collectors
release_held
finish_sentinel late

run_is late valid
is "the exit code" "$code" 3
is "off was answered" "$(cell_of late waits-for-test udp-send .arms.off.answered)" true
cell_is late waits-for-test udp-send inconclusive
cell_only late waits-for-test udp-send target-unreachable-outside
cell_is late claims-all-blocks-nothing udp-send escaped
replays late
finish
