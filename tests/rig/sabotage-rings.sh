#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rings that can't hold what happens while nobody reads them. What was lost could have been what speaks
# against the sandbox: each ring's loss withholds what that ring would have shown.
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

# The daemon is stopped while a sandbox makes its burst, before its session starts.
burst_run() { # name, way, arguments...; $probe: udp-send
	local name=$1 way=$2

	shift 2
	rm -rf "$tmp/targets/state/burst"
	hold_again
	again_at spent
	make_way bursts "$way"
	begin_sentinel "$name" -p "${probe:-udp-send}" -t "$(target "bursts-$way")" "$@"
	wait_held
	kill -STOP "$daemon_pid"
	[ "$way" != nothing ] || send_crowd "$(lane_of_held bnd0)" 200
	release_held
	wait_at spent
	kill -CONT "$daemon_pid"
	release_at spent
	finish_sentinel "$name"
	is "$name: the burst was made" "$(grep -cx -e "$way" "$tmp/targets/state/bursts")" 1
	rm "$tmp/targets/state/bursts"
	is "$name: all is counted" "$(verdict_of "$name" .observer.count.holds)" true
}

lost() { # name: records
	verdict_of "$1" .observer.lost.ring
}

# With rings as they are, nothing is lost.
for way in calls execs datagrams; do
	burst_run "honest-$way" $way
	cell_is "honest-$way" "bursts-$way" udp-send contained
	is "honest-$way: lost" "$(lost "honest-$way")" 0
done

# There may have been a second session.
burst_run execs execs --sabotage small-life-ring
holds "execs: records were lost" test "$(lost execs)" -gt 0
cell_is execs bursts-execs udp-send inconclusive identity-unknown

# There may have been an attempt.
burst_run calls calls-and-exits --sabotage small-life-ring
holds "calls: records were lost" test "$(lost calls)" -gt 0
cell_is calls bursts-calls-and-exits udp-send inconclusive no-attempt-seen records-lost

# Something may have passed the boundary, or arrived.
burst_run boundary datagrams --sabotage small-packet-ring
holds "boundary: records were lost" test "$(lost boundary)" -gt 0
cell_is boundary bursts-datagrams udp-send inconclusive records-lost
burst_run world nothing --world-ring 4096
holds "world: records were lost" test "$(lost world)" -gt 0
cell_is world bursts-nothing udp-send inconclusive records-lost

# Or gone to a listener on this side of W.
probe=host-loopback burst_run loopback calls --sabotage small-life-ring
holds "loopback: records were lost" test "$(lost loopback)" -gt 0
cell_is loopback bursts-calls host-loopback inconclusive records-lost

for run in execs calls boundary world loopback; do
	none_contained $run
	replays $run
done
finish
