#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Silence at W where the sandbox stopped nothing: the attempt went where nobody looks, died behind the
# boundary of something that is no part of the sandbox, or failed because there was no room for it.
set -u
. "$(dirname "$0")/lib.sh"
need ip prlimit

# Another network, as a machine's own is beside the rig: a namespace with a way out, and its far end,
# where the probe's datagrams arrive.
there() { # command...
	nsenter --net="/proc/$other/ns/net" "$@"
}

# shellcheck disable=SC2317 # called by name
is_elsewhere() { # pid
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

unshare --net sleep 1000 &
other=$!
background+=("$other")
wait_until "a network namespace" is_elsewhere "$other"
there ip link set lo up
there ip link add name in type veth peer name out
there ip link set in up
there ip link set out up
there ip addr add 198.51.100.1/24 dev out
there ip neigh add 198.51.100.2 lladdr 02:00:00:00:00:01 dev out
there ip route add 203.0.113.0/24 via 198.51.100.2 dev out

received() { # frames that came to the far end
	there ip -s -j link show in | jq '.[0].stats64.rx.packets'
}

make_target closed
make_given short-lived root 'uid: 0' "$tmp/targets/short-lived, \"1\"" "$tmp/targets/short-lived, \"64\""
make_given elsewhere root 'namespaces: [net], uid: 0' "nsenter, --net=/proc/$other/ns/net" env
make_given asks-elsewhere root 'namespaces: [net, mnt], uid: 0' \
	"$tmp/targets/asks-elsewhere, \"/proc/$other/ns/net\"" env
make_given no-room nobody 'uid: 65534' 'prlimit, --nofile=3' env
before=$(received)
run_sentinel strays -p udp-send -t "$(target closed)" -t "$(target short-lived)" \
	-t "$(target elsewhere)" -t "$(target no-room)"

run_is strays valid
is "the exit code" "$code" 3
cell_is strays closed udp-send contained
for target in short-lived elsewhere no-room; do
	is "$target: on crossed" "$(cell_of strays $target udp-send .arms.on.crossed)" false
	is "$target: off crossed" "$(cell_of strays $target udp-send .arms.off.crossed)" true
done
is "short-lived: it was" "$(sort "$tmp/targets/state/short-lived" | paste -sd' ')" "1 1 64"
is "short-lived: last seen at" "$(cell_of strays short-lived udp-send .stopped_at)" B
cell_is strays short-lived udp-send inconclusive boundary-shared
holds "elsewhere: frames arrived there" test "$(received)" -ge $((before + 2))
cell_is strays elsewhere udp-send inconclusive boundary-shared
is "no-room: what the probe met" "$(cell_of strays no-room udp-send .probe_view)" EMFILE
cell_is strays no-room udp-send inconclusive no-attempt-seen
replays strays

# So it is with a resolver of the sandbox's own: where that sends it, W would not see.
before=$(received)
run_sentinel resolver -p dns-resolver -t "$(target asks-elsewhere)"
run_is resolver valid
is "asks-elsewhere: off crossed" "$(cell_of resolver asks-elsewhere dns-resolver .arms.off.crossed)" true
holds "asks-elsewhere: frames arrived there" test "$(received)" -ge $((before + 2))
cell_is resolver asks-elsewhere dns-resolver inconclusive boundary-shared
cell_only resolver asks-elsewhere dns-resolver boundary-shared
replays resolver
finish
