#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A run that ends without listening for late packets: silence is then no evidence, except where the
# kernel refused the attempt itself, and nothing hints at the contrary. Its own calibrator, whose
# attempts pass the boundary, says that such a run is worth nothing.
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

# A target of root's has a baseline of its own, and in one lane its rounds come last: the run ends right
# after them.
as_root() { # name
	sed -i 's/^user: .*/user: root/; s/uid: 65534/uid: 0/' "$(target "$1")"
}

make_target closed
as_root closed
make_target answers-everything
as_root answers-everything
make_way leaks dies-on-its-way root
make_way bursts calls root
of_all=(-p udp-send -t "$(target closed)" -t "$(target leaks-dies-on-its-way)"
	-t "$(target answers-everything)")

run_sentinel honest "${of_all[@]}"
run_is honest valid
cell_is honest closed udp-send contained
cell_is honest answers-everything udp-send inconclusive
cell_only honest answers-everything udp-send boundary-shared

run_sentinel hasty --lanes 1 --sabotage no-wait "${of_all[@]}"
run_is hasty rejected deny-not-contained
is "hasty: the exit code" "$code" 3
cell_is hasty closed udp-send inconclusive
cell_only hasty closed udp-send self-test-failed
holds "answers-everything: W listened less than a second" \
	test "$(cell_of hasty answers-everything udp-send .window_ms)" -lt 1000
cell_is hasty answers-everything udp-send inconclusive
cell_only hasty answers-everything udp-send boundary-shared self-test-failed window-too-short
# The probe's own call was refused, but a packet to its address was under way.
holds "dies-on-its-way: it was sent, in on and on2" \
	test "$(grep -cx dies-on-its-way "$tmp/targets/state/leaks")" -eq 4
cell_is hasty leaks-dies-on-its-way udp-send inconclusive window-too-short
cell_is honest leaks-dies-on-its-way udp-send inconclusive
cell_only honest leaks-dies-on-its-way udp-send boundary-shared

# Another call may have been made, and not been refused: what says so was lost.
begin_sentinel lossy --lanes 1 --sabotage no-wait --sabotage small-life-ring -p udp-send \
	-t "$(target bursts-calls)"
wait_held
kill -STOP "$daemon_pid"
release_held
wait_at spent
kill -CONT "$daemon_pid"
release_at spent
finish_sentinel lossy
holds "lossy: records were lost" test "$(verdict_of lossy .observer.lost.ring)" -gt 0
cell_is lossy bursts-calls udp-send inconclusive window-too-short

for run in honest hasty lossy; do
	replays $run
done
finish
