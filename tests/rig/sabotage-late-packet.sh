#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A packet of an earlier trial that arrives when nobody is at work in its lane belongs to that trial.
# One that a later trial's own sandbox sends is that sandbox's traffic, whatever token it carries.
set -u
. "$(dirname "$0")/lib.sh"
need openssl

make_target counts keeps-nonce
make_target sends-late keeps-nonce
make_target sends-its-own
state=$tmp/targets/state

# The namespace with that interface in the lane where off ran: both ends of its first link have its
# number, 10.117.LANE.1 and .2.
lane_of_off() { # interface
	local box lane='' fd

	for box in $(lanes_with box0); do
		[ "$(readlink "$box")" != "$(cat "$state/off-net")" ] ||
			lane=$(nsenter --net="$box" ip -o -4 addr show dev box0 |
				sed -n 's|.* \(10\.117\.[0-9]*\)\.2/.*|\1|p')
	done
	for fd in $(lanes_with "$1"); do
		! nsenter --net="$fd" ip -o -4 addr show dev "$1" | grep -qF " $lane." || echo "$fd"
	done
}

# shellcheck disable=SC2317 # called by name
nobody_works() { # in the namespace where off ran
	local pid

	[ "$(said counts)" -eq 4 ] || return 1
	for pid in /proc/[0-9]*; do
		[ "$(readlink "$pid/ns/net")" != "$(cat "$state/off-net")" ] || return 1
	done
}

# With tcp-connect W is listened to for long enough.
begin_sentinel idle -p udp-send -p tcp-connect -t "$(target counts)"
wait_until "on, off and on2 are over" nobody_works
token=$(printf 'token%s' udp-send |
	openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(cat "$state/off-nonce")" -r)
nsenter --net="$(lane_of_off bnd0)" bash -c \
	"printf 'SENTINEL %s\n' '${token:0:32}' >'/dev/udp/$(cat "$state/off-to")/9001'"
ok "off's token was sent once more, from outside every sandbox"
finish_sentinel idle
run_is idle valid
is "the exit code" "$code" 0
is "it was seen at W: off's records" \
	"$(cell_of idle counts udp-send '.arms.off.records | length >= 3')" true
cell_is idle counts udp-send contained
replays idle
rm "$state"/off-*

make_target closed
run_sentinel late -p udp-send -t "$(target closed)" -t "$(target sends-late)" \
	-t "$(target sends-its-own)"

cell_is late closed udp-send contained
is "off's token was sent again before on2" "$(said sends-late)" 1
is "off's token was seen at W: off's records" \
	"$(cell_of late sends-late udp-send '.arms.off.records | length >= 3')" true
is "on2 crossed" "$(cell_of late sends-late udp-send .arms.on2.crossed)" false
cell_is late sends-late udp-send inconclusive unexplained-traffic

# The counter-check: the same act with the trial's own token is an escape.
is "its own token was sent, in on and on2" "$(said sends-its-own)" 2
cell_is late sends-its-own udp-send escaped
is "the exit code" "$code" 1
run_is late valid
replays late

# Nor are bytes to the address of an earlier trial that trial's, because somebody else sends them.
rm "$state"/off-*
make_target sends-bytes keeps-nonce
run_sentinel bytes -p udp-send -t "$(target sends-bytes)"
is "bytes were sent to off's address before on2" "$(said sends-bytes)" 1
cell_is bytes sends-bytes udp-send inconclusive unexplained-traffic
run_is bytes valid
replays bytes
finish
