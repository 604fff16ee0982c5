#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A far side that is not there, or that keeps silent about what it received.
set -u
. "$(dirname "$0")/lib.sh"

probes=(-p udp-send -p tcp6-connect)
run_sentinel honest "${probes[@]}" -t unshare-net
run_is honest valid
is "honest: the exit code" "$code" 0
cell_is honest unshare-net udp-send contained
cell_is honest unshare-net tcp6-connect contained
is "honest: baseline of udp-send was answered" \
	"$(cell_of honest unshare-net udp-send .arms.baseline.answered)" true

# Nobody listens: the tap still sees what crosses, and that is not enough for "it exists".
run_sentinel no-collector -p udp-send -t unshare-net --sabotage no-collector
is "no-collector: baseline crossed" \
	"$(cell_of no-collector unshare-net udp-send .arms.baseline.crossed)" true
is "no-collector: baseline was answered" \
	"$(cell_of no-collector unshare-net udp-send .arms.baseline.answered)" false
cell_is no-collector unshare-net udp-send inconclusive target-unreachable-outside
cell_is no-collector deny-all udp-send inconclusive target-unreachable-outside
is "no-collector: the exit code" "$code" 3
none_contained no-collector

# A lane without IPv6: its cells alone are concerned.
run_sentinel no-ipv6 "${probes[@]}" -t unshare-net --sabotage no-ipv6
is "no-ipv6: baseline of tcp6-connect crossed" \
	"$(cell_of no-ipv6 unshare-net tcp6-connect .arms.baseline.crossed)" false
run_is no-ipv6 valid
is "no-ipv6: the exit code" "$code" 3
cell_is no-ipv6 unshare-net tcp6-connect inconclusive host-default # the kernel itself refused it
cell_is no-ipv6 unshare-net udp-send contained
cell_is no-ipv6 claims-all-blocks-nothing udp-send escaped

# It answers, and logs nothing: the tap alone shows the escape, and the witnesses differ.
run_sentinel quiet -p udp-send -t unshare-net --sabotage quiet-collector
is "quiet: baseline was answered" \
	"$(cell_of quiet unshare-net udp-send .arms.baseline.answered)" true
run_is quiet rejected witnesses-disagree
is "quiet: the exit code" "$code" 3
cell_is quiet claims-all-blocks-nothing udp-send escaped
cell_is quiet unshare-net udp-send inconclusive witnesses-disagree
is "quiet: what is not scored is still listed: off crossed" \
	"$(cell_of quiet unshare-net udp-send .arms.off.crossed)" true

# It dies in mid-run: what was answered before speaks for nothing after.
make_target waits-for-test
begin_sentinel dies -p udp-send -t "$(target waits-for-test)"
wait_held
collectors=$(pgrep -x -P "$daemon_pid" 'sentinel-collec')
is "dies: collectors of this run" "$(wc -w <<<"$collectors")" 8
for pid in $collectors; do
	kill "$pid"
done
release_held
finish_sentinel dies
is "dies: off crossed" "$(cell_of dies waits-for-test udp-send .arms.off.crossed)" true
is "dies: off was answered" "$(cell_of dies waits-for-test udp-send .arms.off.answered)" false
cell_is dies waits-for-test udp-send inconclusive target-unreachable-outside
none_contained dies

for run in honest no-collector no-ipv6 quiet dies; do
	replays $run
done
finish
