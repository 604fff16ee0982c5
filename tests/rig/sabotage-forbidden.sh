#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Listeners that a sandbox must not reach: what another takes in their place, or brings to them beside
# the session, withholds; what is the session's own is an escape, whoever brought it.
set -u
. "$(dirname "$0")/lib.sh"
need ip openssl perl

ways=(takes scribbles itself)
make_target closed
targets=(-t "$(target closed)")
for way in "${ways[@]}"; do
	make_given "$way" nobody 'namespaces: [user, net], uid: 65534' \
		"$tmp/targets/at-forbidden, $way" "$tmp/targets/at-forbidden, off"
	targets+=(-t "$(target "$way")")
done

for probe in host-loopback unix-abstract; do
	rm -f "$tmp/targets/state/"*
	run_sentinel $probe -p $probe "${targets[@]}"
	run_is $probe valid
	is "$probe: the exit code" "$code" 1
	cell_is $probe closed $probe contained
	for way in "${ways[@]}"; do
		holds "$probe: $way: the lie was told" test "$(said "at-forbidden-$way")" -ge 1
		is "$way: off crossed" "$(cell_of $probe "$way" $probe .arms.off.crossed)" true
	done
	# Who it was that took it, nobody knows.
	cell_is $probe takes $probe inconclusive boundary-shared
	cell_only $probe takes $probe boundary-shared
	cell_is $probe scribbles $probe inconclusive unexplained-traffic
	cell_is $probe itself $probe escaped
	replays $probe
done

# Off's own session may have left it there, or a later sandbox of that lane brought it. Whoever else
# was watched in that lane then, a calibrator too, is in doubt.
make_given late nobody 'namespaces: [user, net], uid: 65534' \
	"$tmp/targets/at-forbidden, late" "$tmp/targets/at-forbidden, off"
for probe in host-loopback unix-abstract; do
	rm -f "$tmp/targets/state/"*
	run_sentinel late-$probe --lanes 1 -p $probe -t "$(target late)"
	is "late-$probe: the lie was told" "$(said at-forbidden-late)" 1
	cell_is late-$probe late $probe inconclusive unexplained-traffic
	is "late-$probe: on2 crossed" "$(cell_of late-$probe late $probe .arms.on2.crossed)" false
	replays late-$probe
done
finish
