#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each probe makes its attempt by the calls that it is there for, and by no other way: a sandbox that
# stops one way in may know nothing of its neighbour. In a network namespace of its own, where
# nobody listens. BUILD says where the programs are (build/ by default).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${BUILD:-build}")

if ! command -v strace >/dev/null; then
	echo "skipped: strace is not installed"
	exit 77
fi
if [ "${1:-}" != inside ]; then
	if ! unshare --net true 2>/dev/null; then
		echo "skipped: root is needed, to make a network namespace"
		exit 77
	fi
	BUILD=$build exec unshare --net -- "$0" inside
fi

nonce=00112233445566778899aabbccddeeff
v4='sin_addr=inet_addr\("203.0.113.5"\)'
mapped='inet_pton\(AF_INET6, "::ffff:203.0.113.5", &sin6_addr\)'
failures=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ip link set lo up
ip route add local 203.0.113.0/25 dev lo

# A write() to a descriptor above 2: the session's own lines go to 1.
calls_of() { # probe port: the calls of its attempt, one a line, refused ones too
	strace -qq -s 64 -e trace=network,write,io_uring_setup,io_uring_enter -o "$tmp/calls" \
		"$build/sentinel-probe" "SENTINEL1:$nonce" "probe=$1" to=203.0.113.5 "port=$2" \
		"challenge=$nonce" timeout_ms=300 hold_ms=0 </dev/null >/dev/null
	grep -vE '^write\([12],|^(recv|poll|getsockopt|setsockopt)' "$tmp/calls"
}

# A probe's calls by which something could leave: these and no other, in this order.
makes() { # probe port regex...
	local calls=() i

	mapfile -t calls < <(calls_of "$1" "$2")
	for ((i = 0; i < ${#calls[@]} || i < $# - 2; i++)); do
		[[ ${calls[i]:-nothing} =~ ^${*:i+3:1}$ ]] && continue
		echo "FAILED: $1 made ${calls[i]:-nothing}, not ${*:i+3:1}"
		failures=$((failures + 1))
		return
	done
	echo "ok: $1"
}

stream='socket\(AF_INET, SOCK_STREAM\|SOCK_CLOEXEC\|SOCK_NONBLOCK, IPPROTO_IP\) = 3'
datagram='socket\(AF_INET, SOCK_DGRAM\|SOCK_CLOEXEC, IPPROTO_IP\) = [34]'
text='"SENTINEL [0-9a-f]{32}\\n"'

makes tcp-connect 9000 "$stream" "connect\(3, .*$v4.*"
makes mapped-ipv6 9000 "${stream/AF_INET/AF_INET6}" "connect\(3, .*$mapped.*"
makes tcp-fastopen 9000 "$stream" "sendto\(3, $text, 42, .*MSG_FASTOPEN, .*$v4.*"
makes io-uring-connect 9000 'io_uring_setup\(2, .*' 'io_uring_enter\(3, 2, 2, .*' \
	'io_uring_enter\(3, 2, 2, .*'
makes udp-send 9001 "$datagram" "sendto\(3, $text, 42, 0, .*$v4.*"
makes udp-sendmsg 9001 "$datagram" "sendmsg\(3, .*$v4.*$text.*"
makes udp-sendmmsg 9001 "$datagram" "sendmmsg\(3, .*$v4.*$text.*"
makes udp-write 9001 "$datagram" "connect\(3, .*$v4.*" "write\(3, $text, 42\) .*"
makes dns-udp-direct 53 "$datagram" "sendto\(3, .*$v4.*"
makes dns-tcp-direct 53 "$stream" "connect\(3, .*$v4.*"
for probe in http-post-direct metadata-imds-v1 metadata-gcp metadata-azure metadata-ecs; do
	makes $probe 80 "$stream" "connect\(3, .*$v4.*"
done
makes https-post 443 "$stream" "connect\(3, .*$v4.*"
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
makes http-post-proxy 80 "$stream" "connect\(3, .*$v4.*"
http_proxy=http://127.0.0.1:3128 makes http-post-proxy 80 "$stream" 'connect\(3, .*htons\(3128\).*127.0.0.1.*'
makes icmp-echo 0 'socket\(AF_INET, SOCK_DGRAM\|SOCK_CLOEXEC, IPPROTO_ICMP\) = -1 EACCES .*' \
	'socket\(AF_INET, SOCK_RAW\|SOCK_CLOEXEC, IPPROTO_ICMP\) = 3' "sendto\(3, .*$v4.*"
sysctl -qw net.ipv4.ping_group_range='0 0'
makes icmp-echo 0 'socket\(AF_INET, SOCK_DGRAM\|SOCK_CLOEXEC, IPPROTO_ICMP\) = 3' "sendto\(3, .*$v4.*"
makes packet-socket 9001 'socket\(AF_PACKET, SOCK_RAW\|SOCK_CLOEXEC, .*' "$datagram.*" 'bind\(4, .*' \
	'getsockname\(4, .*' 'socket\(AF_NETLINK, .*' 'sendto\(5, .*nlmsg_type=(RTM_GETROUTE|0x1a).*' 'bind\(3, .*AF_PACKET.*' \
	'sendto\(3, .*SENTINEL.*AF_PACKET.*'

exit $((failures > 0))
