#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The two static programs as they are shipped, against each other: each probe in an empty root,
# without /proc, /dev, /etc or an environment, as nobody, asks a far side in a network namespace of
# its own. BUILD says where the programs are (build/ by default).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${BUILD:-build}")

if [ "${1:-}" != inside ]; then
	if ! unshare --net true 2>/dev/null; then
		echo "root is needed, to make a network namespace"
		exit 77
	fi
	BUILD=$build exec unshare --net -- "$0" inside
fi

fail() {
	echo "FAILED: $*"
	exit 1
}

nonce=00112233445566778899aabbccddeeff
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ip link set lo up
ip route add local 203.0.113.0/25 dev lo
ip -6 route add local 2001:db8:113::/64 dev lo
for service in 169.254.169.254 169.254.169.251 169.254.170.2 fd00:ec2::254; do
	ip addr add "$service" dev lo
done
mkdir "$tmp/root"
cp "$build/sentinel-probe" "$tmp/root/probe"
mkfifo "$tmp/log"

# The far side; 32 bytes of key on 3, the log on 4.
"$build/sentinel-collector" --lane 1 --epoch 1 --key-fd 3 --log-fd 4 \
	3< <(printf '%032d' 7) 4>"$tmp/log" &
collector=$!
exec 5<"$tmp/log"

next() { # what the log's next line must contain...; it is then in $line
	read -r -t 5 -u 5 line || fail "no line of the log within 5 s"
	for part in "$@"; do
		[[ $line == *"$part"* ]] || fail "no '$part' in $line"
	done
}

# In the empty root the session is started with nothing but its parameters.
session() { # probe address port
	printf 'challenge %s\nquit\n' "$nonce" |
		env -i "$(command -v chroot)" --userspec=65534:65534 "$tmp/root" /probe \
			"SENTINEL1:$nonce" "probe=$1" "to=$2" "port=$3" "challenge=$nonce" \
			timeout_ms=3000 hold_ms=3000
}

next '{"ready":true}'
while read -r probe to port; do
	out=$(session "$probe" "$to" "$port") || fail "$probe: exit $?"
	[ "$(grep -c '^SENTINEL1:' <<<"$out")" -eq 3 ] || fail "$probe said: $out"
	[ "$(grep -o 'instance=[0-9a-f]*' <<<"$out" | sort -u | wc -l)" -eq 1 ] ||
		fail "$probe is not one instance: $out"
	grep -qE '^SENTINEL1:ran .* view=answered answer=[0-9a-f]{64} secret=- twin=-$' <<<"$out" ||
		fail "$probe was not answered: $out"
	# Several: a metadata service is asked up to three times, and TLS says hello first.
	for asked in 1 2 3; do
		next "\"dst\":\"$to\"" "\"dport\":$port,"
		[[ $line == *'"answered":false'* && $probe =~ ^(metadata-|https-) && $asked -lt 3 ]] || break
	done
	[[ $line == *'"answered":true'* ]] || fail "no answer in $line"
	echo "$probe: answered"
done <<-PROBES
	tcp-connect 203.0.113.5 9000
	tcp6-connect 2001:db8:113::5 9000
	mapped-ipv6 203.0.113.5 9000
	tcp-fastopen 203.0.113.5 9000
	io-uring-connect 203.0.113.5 9000
	udp-send 203.0.113.6 9001
	udp-sendmsg 203.0.113.6 9001
	udp-sendmmsg 203.0.113.6 9001
	udp-write 203.0.113.6 9001
	dns-udp-direct 203.0.113.7 53
	dns-tcp-direct 203.0.113.7 53
	http-post-direct 203.0.113.8 80
	https-post 203.0.113.8 443
	http-post-proxy 203.0.113.8 80
	metadata-imds-v1 169.254.169.254 80
	metadata-imds-v2 169.254.169.254 80
	metadata-imds-v2-hop 169.254.169.251 80
	metadata-gcp 169.254.169.254 80
	metadata-azure 169.254.169.254 80
	metadata-ecs 169.254.170.2 80
	metadata-ipv6 fd00:ec2::254 80
PROBES

# A port where nobody listens, and an address to which there is no route.
[[ $(session tcp-connect 203.0.113.5 9) == *'view=ECONNREFUSED answer=-'* ]] || fail "closed port"
[[ $(session udp-send 198.51.100.1 9001) == *'view=ENETUNREACH answer=-'* ]] || fail "no route"

# Bad parameters are refused with a message, and nothing is said on stdout.
status=0
out=$(session tcp-connect nowhere 9000 2>"$tmp/err") || status=$?
[[ $status -eq 2 && -z $out && $(<"$tmp/err") == *"'to=nowhere'"* ]] || fail "bad address"

# It reads strangers' bytes under a uid that no sandbox has, and ends with the reader of its log.
grep -qP '^Uid:\t65533\t65533\t65533\t' "/proc/$collector/status" || fail "the collector's uid is not its own"
exec 5<&-
wait "$collector" || fail "the collector ended with $?"
echo "the far side ended with its reader"

# It ends with its parent too, while somebody still reads.
exec 6<>"$tmp/log"
(
	"$build/sentinel-collector" --lane 1 --epoch 1 --key-fd 3 --log-fd 4 \
		3< <(printf "%032d" 7) 4>"$tmp/log" 6<&- &
	echo $! >"$tmp/pid"
	read -r -t 5 -u 6 _
)
running() { # no zombie that nobody has fetched yet
	[[ -e /proc/$1/stat && $(<"/proc/$1/stat") != *') Z '* ]]
}
pid=$(<"$tmp/pid")
for _ in $(seq 50); do
	running "$pid" || break
	sleep 0.1
done
! running "$pid" || fail "the collector outlived its parent"
echo "the far side ended with its parent"
