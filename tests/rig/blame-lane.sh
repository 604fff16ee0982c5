#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What stops a packet behind the sandbox's boundary, in the lane's own host: it is named, with the place,
# and is nobody's merit. The rule knows the trial's address, so that it stops nothing else.
set -u
. "$(dirname "$0")/lib.sh"
need ip nft
BUNDLES='' # no guard of the judge is met here

held_run() { # name, probe, family, chain, rule: to the address of the sandbox that is held
	local name=$1

	hold_again
	begin_sentinel "$name" -p "$2" -t "$(target waits-opened)"
	wait_held
	holds "$name: the rule is in the lane's host" nsenter --net="$(lane_of_held bnd0)" \
		nft "table $3 blocks { chain c { $4; ip daddr $(held_argument to) $5; }; }"
	release_held
	finish_sentinel "$name"
	run_is "$name" valid
	cell_is "$name" waits-opened "$2" inconclusive boundary-shared
}

make_target waits-opened
# It is no sandbox as far as the network goes.
sed -i 's/^expect: .*/expect: {namespaces: [user], uid: 65534}/' "$(target waits-opened)"

held_run forward udp-send inet 'type filter hook forward priority 0' drop
stopped_is forward waits-opened udp-send "inconclusive at B: netfilter@host"
held_run reject tcp-connect inet 'type filter hook forward priority 0' reject
stopped_is reject waits-opened tcp-connect "inconclusive at B: netfilter@host"
held_run ingress udp-send netdev 'type filter hook ingress device "bnd0" priority 0' drop
stopped_is ingress waits-opened udp-send "inconclusive at B: netfilter@host"

for run in forward reject ingress; do
	replays $run
done
finish
