#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Captures of other tools: known traffic between two namespaces of the test's own, recorded by tcpdump
# and dumpcap at once, converted by editcap; `sentinel replay` must show each flow, byte and name of
# it, as tshark and capinfos count them, and judge nothing.
# shellcheck disable=SC2317 # functions are called by name
set -u
if [ "${1:-}" != inside ] && [ "$(id -u)" -eq 0 ] && unshare --net true 2>/dev/null; then
	exec unshare --net -- "$0" inside
fi
. "$(dirname "$0")/lib.sh"
need ip tcpdump dumpcap editcap mergecap capinfos tshark perl jq
[ "${1:-}" = inside ] || skip "a network namespace"

# ---- two hosts: ours, private, and one far away ----

ip link set lo up
unshare --net sleep 1000 &
background+=("$!")
far_pid=$!
own_net=$(readlink /proc/self/ns/net)
is_apart() { [ "$(readlink "/proc/$far_pid/ns/net")" != "$own_net" ]; }
wait_until "the far namespace" is_apart
far() { nsenter --net="/proc/$far_pid/ns/net" -- "$@"; }

ip link add near0 type veth peer name far0
ip link set far0 netns "$far_pid"
ip addr add 10.99.0.1 peer 198.51.100.2 dev near0
ip addr add 2001:db8:99::1/64 dev near0 nodad
ip link set near0 up
far ip addr add 198.51.100.2 peer 10.99.0.1 dev far0
far ip addr add 2001:db8:99::2/64 dev far0 nodad
far ip link set lo up
far ip link set far0 up

# Answers one question about an address with 198.51.100.2; takes 30000 bytes and a request's head,
# says 1234; takes what comes by IPv6.
cat >"$tmp/far.pl" <<'PL'
use strict; use warnings; use IO::Socket::IP; use IO::Select; $| = 1;
my $dns = IO::Socket::IP->new(LocalHost => '198.51.100.2', LocalPort => 53, Proto => 'udp') or die $@;
my $web = IO::Socket::IP->new(LocalHost => '198.51.100.2', LocalPort => 8080, Listen => 5) or die $@;
my $six = IO::Socket::IP->new(LocalHost => '2001:db8:99::2', LocalPort => 7000, Proto => 'udp') or die $@;
print "ready\n";
my $select = IO::Select->new($dns, $web, $six);
while (my @ready = $select->can_read(20)) {
	for my $s (@ready) {
		if ($s == $dns) {
			$s->recv(my $q, 512);
			$s->send(substr($q, 0, 2) . pack('n5', 0x8180, 1, 1, 0, 0) . substr($q, 12) .
				 pack('n3Nn', 0xc00c, 1, 1, 60, 4) . pack('C4', 198, 51, 100, 2));
		} elsif ($s == $web) {
			my ($c, $got) = ($s->accept, '');
			while ($got !~ /\r\n\r\n.{30000}/s) { sysread($c, $got, 65536, length $got) or last }
			syswrite($c, 'z' x 1234);
			close $c;
		} else {
			$s->recv(my $d, 2000);
		}
	}
}
PL
cat >"$tmp/near.pl" <<'PL'
use strict; use warnings; use IO::Socket::IP;
my $dns = IO::Socket::IP->new(PeerHost => '198.51.100.2', PeerPort => 53, LocalPort => 5353 + 5, Proto => 'udp') or die $@;
for my $ask (['Files.Example.TEST', 1], ['nothing.example.test', 16]) {
	$dns->send(pack('n6', 7, 0x100, 1, 0, 0, 0) .
		   join('', map { pack('C/a', $_) } split /\./, $$ask[0]) . pack('Cnn', 0, $$ask[1], 1));
	$dns->recv(my $answer, 512);
}
my $web = IO::Socket::IP->new(PeerHost => '198.51.100.2', PeerPort => 8080, LocalPort => 40000) or die $@;
my $head = "POST /drop HTTP/1.1\r\nHost: drop.example.test\r\nContent-Length: 30000\r\n\r\n";
syswrite($web, $head);
syswrite($web, 'x' x 30000);
my $got = '';
1 while sysread($web, $got, 65536, length $got);
die 'answer cut' unless length($got) == 1234;
my $six = IO::Socket::IP->new(PeerHost => '2001:db8:99::2', PeerPort => 7000, LocalPort => 6000, Proto => 'udp') or die $@;
$six->send('y' x 500) for 1 .. 3;
my $none = IO::Socket::IP->new(PeerHost => '198.51.100.2', PeerPort => 9, LocalPort => 41000);
PL
# its head, and what follows
request=$((71 + 30000))

# ---- everybody records it ----

recorders=()
record() { # name, command...
	local name=$1

	shift
	"$@" >"$tmp/$name.log" 2>&1 &
	recorders+=("$!")
	background+=("$!")
	wait_until "$1 for $name" grep -qiE 'listening on|File:' "$tmp/$name.log"
}
far perl "$tmp/far.pl" >"$tmp/far.log" 2>&1 &
background+=("$!")
wait_until "the far side" grep -q ready "$tmp/far.log"
record tcpdump tcpdump -Z root -B 65536 --immediate-mode -nU -i near0 -w "$tmp/tcpdump.pcap"
record nano tcpdump -Z root -B 65536 --immediate-mode -nU -i near0 --time-stamp-precision=nano -w "$tmp/nano.pcap"
record any tcpdump -Z root -B 65536 --immediate-mode -nU -i any -w "$tmp/any.pcap"
record cooked tcpdump -Z root -B 65536 --immediate-mode -nU -i any -y LINUX_SLL -w "$tmp/cooked.pcap"
record dumpcap dumpcap -q -B 64 -i near0 -w "$tmp/dumpcap.pcapng"
perl "$tmp/near.pl" || fail "the traffic itself"

# The last packet of all: the refused connection's reset.
has_all() { # file
	[ "$(tshark -n -r "$1" -Y 'tcp.srcport == 9 && tcp.flags.reset == 1' 2>/dev/null | wc -l)" -ge 1 ]
}
for name in tcpdump nano any cooked; do
	wait_until "all packets in $name" has_all "$tmp/$name.pcap"
done
wait_until "all packets in dumpcap" has_all "$tmp/dumpcap.pcapng"
kill -INT "${recorders[@]}"
wait "${recorders[@]}"

# ---- what replay says ----

replay() { # name, file, arguments...: $tmp/NAME.out, .err, and $code
	local name=$1 file=$2

	shift 2
	code=0
	"$BUILD/sentinel" replay "$@" "$file" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null || code=$?
}

lines() { # name, jq filter on each line
	jq -r "$2" "$tmp/$1.out"
}

flow() { # name, jq condition, jq value: of the one flow that it holds for
	jq -r "select(.type == \"flow\" and ($2)) | $3" "$tmp/$1.out"
}

# Everything that is said about the test's own flows and questions, but for what a conversion changes:
# lengths of link headers, and times below the microsecond.
story() { # name
	jq -cS 'select(.type == "dns" or (.type == "flow" and (.["source.port"] // 0) > 0)) |
		del(.seq, .["file.path"], .["event.start"], .["event.end"], .["network.bytes"], .["source.bytes"],
		    .["destination.bytes"], .["network.direction"])' "$tmp/$1.out" | sort
}

web='.["destination.port"] == 8080'
six='.["destination.port"] == 7000'
ask='.["destination.port"] == 53'

check_story() { # name, direction that is expected
	local name=$1

	is "$name: to whom" "$(flow "$name" "$web" \
		'"\(.["source.ip"]):\(.["source.port"]) \(.["destination.ip"]) \(.["network.transport"])"')" \
		'10.99.0.1:40000 198.51.100.2 tcp'
	is "$name: bytes sent and received" \
		"$(flow "$name" "$web" '"\(.["source.payload_bytes"]) \(.["destination.payload_bytes"])"')" \
		"$request 1234"
	is "$name: by IPv6" "$(flow "$name" "$six" \
		'"\(.["source.ip"]) \(.["network.type"]) \(.["source.packets"]) \(.["source.payload_bytes"])"')" \
		'2001:db8:99::1 ipv6 3 1500'
	is "$name: whom the request names" "$(flow "$name" "$web" '.["url.domain"]')" drop.example.test
	is "$name: which way" "$(flow "$name" "$web" '.["network.direction"]')" "$2"
	is "$name: the resolver, answered" "$(flow "$name" "$ask" \
		'"\(.["source.packets"]) \(.["destination.packets"])"')" '2 2'
	is "$name: names" "$(lines "$name" 'select(.type == "dns") | [.["dns.question.name"],
		.["dns.question.type"], .["dns.questions"], .["dns.answers"], .["dns.response_code"],
		.["dns.resolved_ip"][]] | join(" ")' | sort | paste -sd,)" \
		'files.example.test A 1 1 NOERROR 198.51.100.2,nothing.example.test TXT 1 1 NOERROR 198.51.100.2'
	is "$name: judged" "$(lines "$name" 'select(.type == "capture") | "\(.judged) \(.complete)"')" \
		'false true'
}

# Frames and bytes of each TCP and UDP flow as tshark has them, and all of them as capinfos has them.
check_counts() { # name, file, bytes of a link header that are not counted
	local name=$1 file=$2

	tshark -n -r "$file" -Y 'tcp || udp' -T fields -E separator=' ' -e ip.src -e ipv6.src \
		-e tcp.srcport -e udp.srcport -e frame.len 2>/dev/null |
		awk -v cut="$3" '{ n[$1 " " $2]++; b[$1 " " $2] += $3 - cut }
			END { for (k in n) print k, n[k], b[k] }' | sort >"$tmp/$name.tshark"
	flow "$name" '(.["source.port"] // 0) > 0' \
		'"\(.["source.ip"]) \(.["source.port"]) \(.["source.packets"]) \(.["source.bytes"])",
		 "\(.["destination.ip"]) \(.["destination.port"]) \(.["destination.packets"]) \(.["destination.bytes"])"' |
		grep -v ' 0 0$' | sort >"$tmp/$name.flows"
	holds "$name: tshark counts $(wc -l <"$tmp/$name.tshark") sides of flows in the same way" \
		cmp "$tmp/$name.tshark" "$tmp/$name.flows"
	is "$name: packets, and bytes as capinfos has them" \
		"$(lines "$name" "select(.type == \"capture\") |
			\"\\(.[\"network.packets\"]) \\((.[\"network.bytes\"] | tonumber) + $3 * (.[\"network.packets\"] | tonumber))\"")" \
		"$(capinfos -M -T -r -c -d "$file" 2>/dev/null | awk '{ print $(NF - 1), $NF }')"
}

check() { # name, file, direction, bytes of a link header that are not counted
	replay "$1" "$2" --json
	is "$1: exit" "$code" 3
	check_story "$1" "$3"
	check_counts "$1" "$2" "$4"
}

check tcpdump "$tmp/tcpdump.pcap" outbound 0
check nano "$tmp/nano.pcap" outbound 0
check dumpcap "$tmp/dumpcap.pcapng" outbound 0
check any "$tmp/any.pcap" egress 20
check cooked "$tmp/cooked.pcap" egress 16
is "nano: digits of its times" \
	"$(lines nano 'select(.type == "capture") | .["event.start"] | test("T[0-9:]{8}[.][0-9]{9}Z$")')" true

# ---- conversions: the same story ----

convert() { # name, file name, editcap's arguments...
	local name=$1 file=$tmp/$2

	shift 2
	editcap "$@" "$tmp/tcpdump.pcap" "$file" 2>"$tmp/$name.log" ||
		fail "$name: editcap: $(cat "$tmp/$name.log")"
	replay "$name" "$file" --json
	is "$name: exit" "$code" 3
	story "$name" >"$tmp/$name.story"
	holds "$name: the same story" cmp "$tmp/tcpdump.story" "$tmp/$name.story"
}
story tcpdump >"$tmp/tcpdump.story"
is "lines of the story" "$(wc -l <"$tmp/tcpdump.story")" 6
convert pcapng converted.pcapng -F pcapng
convert nsecpcap converted.ns.pcap -F nsecpcap
convert modified converted.mod.pcap -F modpcap
tcpdump -nr "$tmp/tcpdump.pcap" -w "$tmp/ip.pcap" 'ip or ip6' 2>/dev/null
cp "$tmp/ip.pcap" "$tmp/tcpdump.pcap"
convert raw raw.pcap -F pcap -C 14 -L -T rawip
convert raw-pcapng raw.pcapng -F pcapng -C 14 -L -T rawip

# ---- what pcapng has besides: whose a packet is, as ptcpdump says it; several link types ----

first=$(tshark -n -r "$tmp/nano.pcap" -Y 'tcp.dstport == 8080' -T fields -e frame.number 2>/dev/null | head -n 1)
editcap -F pcapng -a "$first:$(printf 'PID: 4242\nCmd: /usr/bin/curl\nArgs: curl')" \
	"$tmp/nano.pcap" "$tmp/comment.pcapng" 2>/dev/null
replay comment "$tmp/comment.pcapng" --json
is "comment: the process" \
	"$(flow comment "$web" '"\(.["process.name"]) \(.["process.pid"])"')" 'curl 4242'
is "comment: of no other flow" "$(jq -c 'select(.["process.pid"])' "$tmp/comment.out" | wc -l)" 1
mergecap -w "$tmp/both.pcapng" "$tmp/nano.pcap" "$tmp/cooked.pcap"
replay both "$tmp/both.pcapng" --json
is "two link types: exit" "$code" 3
is "two link types: sent, recorded twice" "$(flow both "$web" '.["source.payload_bytes"]')" $((2 * request))
editcap -s 68 "$tmp/nano.pcap" "$tmp/short.pcapng" 2>/dev/null
replay short "$tmp/short.pcapng" --json
is "68 bytes of each packet: bytes sent and received" \
	"$(flow short "$web" '"\(.["source.payload_bytes"]) \(.["destination.payload_bytes"])"')" "$request 1234"
holds "68 bytes of each packet: said" \
	test "$(lines short 'select(.type == "capture") | .cut_short')" -gt 0

# ---- for people ----

replay text "$tmp/dumpcap.pcapng"
is "text: exit" "$code" 3
holds "text: nothing is judged" grep -q '^no trial marks: nothing is judged$' "$tmp/text.out"
holds "text: the flow" grep -qE "^outbound +tcp +10.99.0.1:40000 +198.51.100.2:8080 +$request .* drop.example.test \(http\)$" "$tmp/text.out"
holds "text: no word of a verdict" test -z "$(grep -iE 'contained|escaped' "$tmp/text.out")"

# ---- what can't be read, or not all of it ----

size=$(stat -c %s "$tmp/dumpcap.pcapng")
whole=$(capinfos -M -T -r -c "$tmp/dumpcap.pcapng" 2>/dev/null | awk '{ print $NF }')
for lost in 1 200; do
	head -c $((size - lost)) "$tmp/dumpcap.pcapng" >"$tmp/cut.pcapng"
	replay cut "$tmp/cut.pcapng" --json
	is "cut by $lost bytes: exit" "$code" 5
	left=$(lines cut 'select(.type == "capture") | .["network.packets"]')
	holds "cut by $lost bytes: $left of $whole packets" \
		test "$left" -le "$whole" -a "$left" -ge $((whole - 4))
	is "cut by $lost bytes: said" "$(lines cut 'select(.type == "capture") | .complete')" false
	holds "cut by $lost bytes: said to people" grep -q "can't be read to its end" "$tmp/cut.err"
done
replay cut "$tmp/cut.pcapng"
holds "cut, as text: said" grep -q '^CUT: ' "$tmp/cut.out"
editcap -F pcap -T ieee-802-11 "$tmp/nano.pcap" "$tmp/radio.pcap" 2>/dev/null
replay radio "$tmp/radio.pcap"
is "another link type: exit" "$code" 2
holds "another link type: named" grep -q 'error: .*radio.pcap.*IEEE802_11' "$tmp/radio.err"
"$BUILD/sentinel" replay "$tmp/nano.pcap" >/dev/full 2>/dev/null
is "a full disk: exit" "$?" 6

# ---- ours stay ours ----

mkdir "$tmp/ours"
"$BUILD/test/test_capture" --write "$tmp/ours"
ours=$(find "$tmp/ours" -name 'capture-000001.pcapng')
replay ours "$ours" --json
holds "ours: judged" jq -e 'has("judge")' "$tmp/ours.out"
head -c 3000 "$ours" >"$tmp/ours-cut.pcapng"
replay ours-cut "$tmp/ours-cut.pcapng"
is "ours, cut: exit" "$code" 5
holds "ours, cut: judged as what it is" grep -q '^run ' "$tmp/ours-cut.out"
tcpdump -nr "$ours" -w "$tmp/ours.pcap" 2>/dev/null
replay ours-packets "$tmp/ours.pcap" --json
is "ours, its packets alone: exit" "$code" 3
is "ours, its packets alone: judged" "$(lines ours-packets 'select(.type == "capture") | .judged')" false

# ---- a million packets, in the memory of a few ----

perl -e 'binmode STDOUT; print pack("VvvVVVV", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101);
	my $ip = pack("H*", "450000300000400040110000c0000201c6336402");
	for my $i (1 .. 1_000_000) {
		print pack("VVVV", $i >> 10, $i & 1023, 48, 48), $ip,
			pack("nnnn", 1024 + $i % 60000, 2000 + int($i / 60000), 28, 0), "x" x 20;
	}' >"$tmp/million.pcap"
(
	ulimit -v 250000
	"$BUILD/sentinel" replay --json "$tmp/million.pcap" >"$tmp/million.out"
)
is "a million packets: exit" "$?" 3
tail -n 1 "$tmp/million.out" >"$tmp/last.out"
is "a million packets: seen" "$(lines last '"\(.["network.packets"]) \(.flows)"')" '1000000 1000000'
is "a million packets: each in a line, also of flows that made room" \
	"$(grep -c '"type":"flow"' "$tmp/million.out")" 1000000
rm -f "$tmp/million.out" "$tmp/million.pcap"
finish
