#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the host stops by itself is credited to the host: nobody may make packet sockets, in a sandbox or
# outside. Root may, and there it is the sandbox that stops it.
set -u
. "$(dirname "$0")/lib.sh"
need ip
BUNDLES='' # no guard of the judge is met here

make_target closed
make_blockers no-route
run_sentinel host -p packet-socket -p udp-send -t "$(target closed)" "${targets[@]}"
run_is host valid
stopped_is host closed packet-socket "inconclusive at A: host:capability:EPERM"
cell_is host closed packet-socket inconclusive host-default
is "closed: credit" "$(cell_of host closed packet-socket .credit)" host
stopped_is host closed udp-send "contained at A: no-route"
is "closed: credit of udp-send" "$(cell_of host closed udp-send .credit)" null
is "root's: credit" "$(cell_of host no-route packet-socket .credit)" null
cell_is host no-route packet-socket contained
replays host
finish
