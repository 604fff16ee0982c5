#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Start-up window and steady state apart: what holds at the start may open later, and an attempt at the
# start says nothing of the steady state, whatever it is called.
set -u
. "$(dirname "$0")/lib.sh"

make_target closed
make_target impatient
make_given opens-later nobody 'namespaces: [user], uid: 65534' "$tmp/targets/opens-later" "$tmp/targets/opened"
targets=()
for name in closed impatient opens-later; do
	echo 'steady: 500ms' >>"$(target "$name")"
	targets+=(-t "$(target "$name")")
done
run_sentinel steady --repeat 2 -p udp-send -p tcp-connect "${targets[@]}"

states() { # target, probe: rounds at the start and in the steady state, and how many of them crossed
	cell_of steady "$1" "$2" '[.repeats.n, .startup.n, .startup.crossed, .steady.n, .steady.crossed] | join(" ")'
}

run_is steady valid
for probe in udp-send tcp-connect; do
	cell_is steady closed $probe contained
	is "closed x $probe: rounds" "$(states closed $probe)" '4 2 0 2 0'
	is "closed x $probe: how late" "$(cell_of steady closed $probe .steady.after_ms)" 500
	cell_is steady opens-later $probe escaped
	is "opens-later x $probe: rounds" "$(states opens-later $probe)" '4 2 0 2 2'
	cell_is steady impatient $probe inconclusive
	cell_only steady impatient $probe no-attempt-seen unstable on2-missing
done
# two probes, twice each on and on2
is "the impatient one did not wait" "$(grep -cx wait_ms=500 "$tmp/targets/state/impatient")" 8
holds "the table says when it crossed" \
	grep -qx 'opens-later / tcp-connect, udp-send: ESCAPED in the steady state only' "$tmp/steady.out"
holds "explain too" grep -qx '  when  *in the steady state only' \
	<("$BUILD/sentinel" explain "$tmp/steady" opens-later udp-send)
replays steady
finish
