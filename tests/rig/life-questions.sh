#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Questions to a recorded run: what stands behind a verdict, and that everybody finds the same records
# in the capture with tools of their own.
set -u
. "$(dirname "$0")/lib.sh"
need tshark jq

sentinel=$BUILD/sentinel
"$sentinel" run -q -o "$tmp/asked" -t unshare-net -p udp-send >/dev/null 2>&1
is "the run exits with" $? 0
capture=$tmp/asked/capture-000001.pcapng

# ---- explain ----
"$sentinel" explain --color never "$tmp/asked" unshare-net udp-send >"$tmp/lines"
is "explain exits with" $? 0
"$sentinel" explain --color never "$tmp/asked" unshare-net/udp-send >"$tmp/one-word"
holds "a cell in one word is the same" cmp "$tmp/lines" "$tmp/one-word"
for cell in unshare-net /udp-send unshare-net/; do
	"$sentinel" explain "$tmp/asked" "$cell" >/dev/null 2>&1
	is "no cell: '$cell'" $? 2
done

line() { # arm, the rest of the line
	grep -E "^  \+ *[0-9]+\.[0-9]{6} s  #[0-9]+ +$1 [0-9]+ +$2" "$tmp/lines"
}
holds "A of on: process, call, answer" \
	line on 'A  raw_tp/sys_exit +sentinel-probe [0-9]+ +sendto\(3\) to 203\.0\.113\.[0-9]+:9001 = -101 ENETUNREACH'
is "W of on: no token" "$(line on 'W .*the token in' | wc -l)" 0
for arm in off baseline; do
	holds "W of $arm: the token" line $arm \
		'W  tcx/ingress@world .*packet: .* to 203\.0\.113\.[0-9]+:9001, udp, .*, the token in hex'
	holds "B of $arm: the token" line $arm 'B  tcx/ingress@boundary .*the token in hex'
	holds "$arm: the collector's own log" line $arm 'W  received .*, answered'
done
is "baseline: first and last" "$(line baseline '+trial ' | wc -l)" 2
nonce=$(line on '+trial ' | grep -oE 'nonce [0-9a-f]{32}' | head -1 | cut -d' ' -f2)
holds "on: the nonce is the session's" line on "A  tp_btf/sched_process_exec .*SENTINEL1:$nonce"

# What explain says finds a packet, and the packet alone.
filter=$(sed -n 's/^in Wireshark: \(.*\) finds packet #.*/\1/p' "$tmp/lines")
number=$(sed -n 's/^in Wireshark: .* finds packet #//p' "$tmp/lines")
found() { # filter
	tshark -n -r "$capture" -Y "$1" -T fields -e frame.packet_id -e ip.dst 2>/dev/null
}
is "tshark finds packets by '$filter'" "$(found "$filter" | wc -l)" 1
holds "the number in it" grep -qx "frame.packet_id == $number" <<<"$filter"
is "its destination, as explain says" "$(found "$filter" | cut -f2)" \
	"$(grep -E "#$number " "$tmp/lines" | grep -oE 'to [0-9.]+' | head -1 | cut -d' ' -f2)"
call=$(line on 'A  raw_tp/sys_exit .*= -101' | head -1 | grep -oE '#[0-9]+' | tr -d '#')
tshark -n -r "$capture" -Y "systemd_journal.field.value contains \"\\\"id\\\":\\\"$call\\\"\"" \
	-T fields -e systemd_journal.message >"$tmp/found" 2>/dev/null
is "tshark finds journal records by their id" "$(wc -l <"$tmp/found")" 1
holds "the refused call" grep -q "sendto(3) to .* = -101" "$tmp/found"

finish
