#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the reference targets are made of, sourced by each as its first step: a network namespace of the
# sandbox's own with a link to box, which forwards and masquerades, as container engines have it. Then
# the target sets up its control, and at last confined() runs the session as nobody.
#
# Run by root, in box. What is left behind in box when a sandbox is killed matches nothing any more.

set -eu
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

in_box() { # command...
	nsenter --net=/proc/self/fd/3 "$@"
}

# Addresses of this sandbox alone: a link that is about to go must not be taken for its successor.
link4=10.99.$(($$ / 64 % 256)).$(($$ % 64 * 4))
near4=${link4%.*}.$((${link4##*.} + 2)) gate4=${link4%.*}.$((${link4##*.} + 1))
link6=$(printf 'fd00:99:%x:%x' $(($$ / 65536)) $(($$ % 65536)))
near6=$link6::2 gate6=$link6::1
peer=bv$$

if [ "${NETWORK_INSIDE:-}" != yes ]; then
	exec 3</proc/self/ns/net
	NETWORK_INSIDE=yes exec unshare --net -- "$0" "$@"
fi
unset NETWORK_INSIDE

forward_in_box() {
	in_box sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
	in_box nft 'add table inet engine; add chain inet engine nat { type nat hook postrouting priority 100; };
		flush chain inet engine nat; add rule inet engine nat oifname box0 masquerade'
}

# A pair of links, of which the second one is in box.
pair_with_box() { # name here, its address, name in box, its address
	ip link add "$1" address "$2" type veth peer name "$3" address "$4"
	ip link set "$3" netns /proc/self/fd/3
	in_box ip link set "$3" up
}

gateway() { # link in box
	in_box ip addr add "$gate4/30" dev "$1"
	in_box ip -6 addr add "$gate6/64" dev "$1" nodad
	in_box ip link set "$1" up
}

link_to_box() {
	pair_with_box v0 02:00:00:00:00:02 "$peer" 02:00:00:00:00:01
	gateway "$peer"
}

# Between the sandbox and its gateway frames are handed on by slow-link.
slow_link_to_box() {
	pair_with_box v0 02:00:00:00:00:02 "$peer" 02:00:00:00:00:03
	in_box ip link add "$peer-g" address 02:00:00:00:00:01 type veth peer name "$peer-s"
	in_box ip link set "$peer-s" up
	gateway "$peer-g"
	coproc slow { exec nsenter --net=/proc/self/fd/3 "${0%/*}/slow-link" "$peer" "$peer-s" 3; }
	read -r _ <&"${slow[0]}"
}

address_v0() {
	ip link set lo up
	ip link set v0 up
	ip addr add "$near4/30" dev v0
	ip -6 addr add "$near6/64" dev v0 nodad
	ip route add default via "$gate4"
	ip -6 route add default via "$gate6" dev v0
	echo '0 2147483647' >/proc/sys/net/ipv4/ping_group_range
}

# The session as nobody, with these capabilities or none: confined [+CAPABILITY,...] -- command... The
# network outlives it for a moment, as an engine's does: connections end in order, and no router says
# that somebody has gone.
confined() {
	local caps=-all

	while [ "$1" != -- ]; do
		caps=-all,$1
		shift
	done
	shift
	setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs --inh-caps="$caps" \
		--ambient-caps="$caps" --bounding-set="$caps" -- "$@" 3<&-
	sleep 0.2
}

if [ "${link_of_network:-}" = slow ]; then
	slow_link_to_box
else
	link_to_box
fi
address_v0
forward_in_box
