#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A run that is interrupted leaves a bundle that says so, and grants nothing.
set -u
. "$(dirname "$0")/lib.sh"

make_target waits-for-test
begin_sentinel interrupted -p udp-send -t unshare-net -t "$(target waits-for-test)"
wait_held
kill -INT "$sentinel_pid"
release_held
finish_sentinel interrupted
is "the exit code" "$code" 3
holds "it said why" grep -q interrupted "$tmp/interrupted.err"
is "status" "$(verdict_of interrupted .status)" rejected
is "rejected as aborted" "$(verdict_of interrupted '.rejected | contains(["aborted"])')" true
cell_is interrupted unshare-net udp-send inconclusive window-too-short
cell_is interrupted waits-for-test udp-send inconclusive window-too-short
none_contained interrupted
replays interrupted
finish
