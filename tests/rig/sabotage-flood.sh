#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Floods. One in front of W that a small ring can't hold: what was lost could have been the token.
# And one of strangers, outside the lanes: no business of ours, and no effect.
# shellcheck disable=SC2317 # functions that are called by name
set -u
. "$(dirname "$0")/lib.sh"
need ip

# Datagrams as fast as one shell can, until it is killed; refusals are no reason to stop.
flood() { # address
	exec 3<>"/dev/udp/$1/7777"
	while :; do
		printf 'flood' >&3
	done 2>/dev/null
}
export -f flood

start_flood() { # network namespace, address
	nsenter --net="$1" bash -c "flood $2" &
	background+=($!)
}

stop_floods() {
	local pid

	for pid in "${background[@]}"; do
		[ "$pid" != "$sentinel_pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
}

# Datagrams that have left from there. The heading of these numbers begins with the same word.
# shellcheck disable=SC2016
datagrams_out() { # network namespace
	nsenter --net="$1" awk '$1 == "Udp:" && $5 != "OutDatagrams" { print $5 }' /proc/self/net/snmp
}

has_sent() { # network namespace, how many more than, before
	[ "$(datagrams_out "$1")" -ge $(($2 + $3)) ]
}

is_elsewhere() { # pid
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

make_target waits-for-test

# ---- the ring at W ----

run_sentinel small -p udp-send -t unshare-net --world-ring 32768
run_is small valid
is "small: the exit code" "$code" 0
is "small: lost" "$(verdict_of small .observer.lost.ring)" 0
cell_is small unshare-net udp-send contained

begin_sentinel flooded -p udp-send -t "$(target waits-for-test)" --world-ring 32768
wait_held
lane=$(lane_of_held bnd0)
start_flood "$lane" 203.0.113.1
wait_until "1000 datagrams of the flood" has_sent "$lane" 1000 0
release_held
finish_sentinel flooded
stop_floods
holds "flooded: records were lost" test "$(verdict_of flooded .observer.lost.ring)" -gt 0
is "flooded: all is counted" "$(verdict_of flooded .observer.count.holds)" true
cell_is flooded waits-for-test udp-send inconclusive records-lost
is "flooded: the exit code" "$code" 3
none_contained flooded
cell_is flooded claims-all-blocks-nothing udp-send escaped
replays flooded

# ---- strangers ----

unshare --net sleep 1000 &
stranger=$!
background+=("$stranger")
wait_until "a stranger's namespace" is_elsewhere "$stranger"
nsenter --net="/proc/$stranger/ns/net" ip link set lo up

hold_again
begin_sentinel strangers -p udp-send -t "$(target waits-for-test)"
wait_held
before_here=$(datagrams_out /proc/self/ns/net)
before_there=$(datagrams_out "/proc/$stranger/ns/net")
start_flood /proc/self/ns/net 127.0.0.1
start_flood "/proc/$stranger/ns/net" 127.0.0.1
wait_until "10000 datagrams here" has_sent /proc/self/ns/net 10000 "$before_here"
wait_until "10000 datagrams there" has_sent "/proc/$stranger/ns/net" 10000 "$before_there"
release_held
finish_sentinel strangers
stop_floods
run_is strangers valid
is "strangers: the exit code" "$code" 0
cell_is strangers waits-for-test udp-send contained
is "strangers: lost" "$(verdict_of strangers .observer.lost.ring)" 0
holds "strangers: what was seen of them was not recorded" \
	test "$(verdict_of strangers .observer.count.filtered)" -gt 10000
replays strangers
finish
