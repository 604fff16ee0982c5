#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Routes that refuse: each by its own name.
set -u
. "$(dirname "$0")/lib.sh"
need ip
BUNDLES='' # no guard of the judge is met here

make_blockers no-route link-down unreachable prohibit blackhole nobody-there
run_sentinel blame -p tcp-connect -p tcp6-connect -p udp-send -p packet-socket "${targets[@]}"
run_is blame valid
while read -r way probe what; do
	stopped_is blame "$way" "$probe" "$what"
done <<'TABLE'
no-route tcp-connect contained at A: no-route
no-route tcp6-connect contained at A: no-address
no-route udp-send contained at A: no-route
link-down tcp-connect contained at A: no-route
link-down tcp6-connect contained at A: no-route
link-down udp-send contained at A: no-route
unreachable tcp-connect contained at A: unreachable-route
unreachable tcp6-connect contained at A: unreachable-route
unreachable udp-send contained at A: unreachable-route
prohibit tcp-connect contained at A: prohibit-route
prohibit tcp6-connect contained at A: prohibit-route
prohibit udp-send contained at A: prohibit-route
blackhole tcp-connect contained at A: blackhole-route
blackhole tcp6-connect contained at A: blackhole-route
blackhole udp-send contained at A: blackhole-route
no-route packet-socket contained at A: link-down
nobody-there tcp-connect inconclusive at A: reset
nobody-there tcp6-connect inconclusive at A: reset
nobody-there udp-send inconclusive at A: null
TABLE
replays blame
finish
