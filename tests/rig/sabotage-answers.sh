#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Something in the path accepts every connection, and answers what looks right.
#
# Inside the sandbox nothing may be granted: somebody took what the attempt sent, and whether it stayed
# with him nobody saw; a proxy with a way out of its own looks just like this. Nor is it an escape: the
# answer is no proof of anything, since only the far side has the key to it, and is shown as the probe's
# own view.
#
# Between the sandbox and the world, nothing may be concluded: outside any sandbox the attempt does
# not arrive either.
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

make_target closed
make_target swallows
make_target answers-everything
make_target waits-for-test

run_sentinel inside -p udp-send -p tcp-connect -t "$(target swallows)" \
	-t "$(target answers-everything)"
run_is inside valid
is "inside: the exit code" "$code" 3
is "it answered, each probe in on and on2" "$(said answer)" 4
for probe in udp-send tcp-connect; do
	is "the probe of $probe believed it" \
		"$(cell_of inside answers-everything $probe .probe_view)" answered
	is "$probe: on was answered" \
		"$(cell_of inside answers-everything $probe .arms.on.answered)" false
	is "$probe: off was answered" \
		"$(cell_of inside answers-everything $probe .arms.off.answered)" true
	cell_is inside swallows $probe inconclusive boundary-shared
	cell_is inside answers-everything $probe inconclusive boundary-shared
	is "$probe: where it stopped" "$(cell_of inside answers-everything $probe .stopped_at)" A
done
replays inside

# From then on, the far side's addresses end in each lane's host.
begin_sentinel between -p tcp-connect -t "$(target waits-for-test)"
wait_held
for lane in $(lanes_with bnd0); do
	nsenter --net="$lane" ip route add local 203.0.113.0/25 dev lo
	nsenter --net="$lane" "$tmp/targets/anyip.pl" answer 0.0.0.0 9000 \
		"$tmp/targets/state/between" >"$tmp/ready" 2>/dev/null &
	background+=($!)
	wait_until "somebody listens in the path" test -s "$tmp/ready"
	rm "$tmp/ready"
done
release_held
finish_sentinel between
holds "it answered" test "$(said between)" -ge 2
is "the last baseline was answered" "$(cell_of between waits-for-test tcp-connect \
	'.arms.off.answered or .arms.off.crossed')" false
cell_is between waits-for-test tcp-connect inconclusive \
	target-unreachable-outside control-makes-no-difference
none_contained between
is "escaped cells of targets" "$(verdict_of between \
	'[.cells[] | select(.role == "target" and .verdict == "escaped")] | length')" 0
is "between: the exit code" "$code" 3
replays between
finish
