#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Questions to a recorded run: what stands behind a verdict, and that everybody finds the same records
# in the capture with tools of their own.
# shellcheck disable=SC2317 # functions are called by name
set -u
. "$(dirname "$0")/lib.sh"
need tshark jq chromium

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

# ---- report ----
# One page, judged anew; and a bundle that does not verify never looks contained in it.
page() { # bundle
	"$sentinel" report "$1" -o "$tmp/page.html" 2>"$tmp/page.err"
}
rated() { # a verdict: how many scored cells the page gives it; a rejected run scores none
	grep -oE "^<li class=\"v $1( none)?\"><b>[0-9]+" "$tmp/page.html" | grep -oE '[0-9]+$' || echo 0
}
headline() {
	grep -o '<h1>.*</h1>' "$tmp/page.html"
}
page "$tmp/asked"
is "report exits with" $? 0
is "what it says" "$(headline)" '<h1>Every scored attempt was contained</h1>'
is "cells contained" "$(rated contained)" 1
holds "who signed it is in it" grep -qE 'signed by the key SHA256:[A-Za-z0-9+/]{43};' "$tmp/page.html"
holds "what was executed is in it" grep -q "<code>sha256 $(sha256sum "$(readlink -f "$(command -v unshare)")" |
	cut -c1-64)</code>" "$tmp/page.html"
holds "no other file is left" test ! -e "$tmp/page.html.part"
"$sentinel" report "$tmp/asked" >"$tmp/out.html"
holds "on standard output the same" cmp "$tmp/page.html" "$tmp/out.html"
holds "a browser opens it" "$rig_folder/../golden/report-page.sh" "$tmp/page.html"
for number in $(jq -r '.cells[] | select(.target == "unshare-net") | .arms[] | .records // [] | .[]' \
	"$tmp/asked/verdict.json"); do
	holds "record $number of an arm is in it" grep -q "<code>#$number</code>" "$tmp/page.html"
done
holds "its time line is not all there is" grep -q 'records that tell less are left out' "$tmp/page.html"
# ... but how each trial ended, which is late, tells more than what was before it
is "ends of trials in it" "$(grep -c '<code>arm.end</code>' "$tmp/page.html")" \
	"$("$sentinel" timeline --json --type arm.end "$tmp/asked" | grep -vc '"trial.target":"baseline"')"
# The filter of a cell finds what crossed, at W.
filter=$(grep -oE 'frame\.packet_id in \{[0-9, ]+\}' "$tmp/page.html" | head -1)
is "what '$filter' finds" "$(tshark -n -r "$capture" -Y "$filter" -T fields -e frame.interface_name \
	2>/dev/null | cut -d@ -f1 | sort -u)" world

"$sentinel" report "$tmp/asked" -o "$tmp/asked/page.html" 2>"$tmp/err"
is "into the bundle: exit" $? 2
holds "the sums still match" sh -c "cd '$tmp/asked' && sha256sum --quiet -c SHA256SUMS && test ! -e page.html"
"$sentinel" report "$tmp/asked" >/dev/full 2>/dev/null
is "a full disk: exit" $? 6
"$sentinel" report "$tmp/asked" -o /dev/full 2>/dev/null
is "a full device by name: exit" $? 6
holds "it is what it was" test -c /dev/full -a ! -e /dev/full.part
"$sentinel" report "$tmp/nothing" >/dev/null 2>&1
is "no bundle: exit" $? 2

spoil() { # what, command... in a copy of the bundle
	local what=$1

	shift
	rm -rf "$tmp/spoilt"
	cp -r "$tmp/asked" "$tmp/spoilt"
	(cd "$tmp/spoilt" && "$@")
	page "$tmp/spoilt"
	is "$what: exit" $? 5
	is "$what: the page begins with" "$(headline)" '<h1>The evidence is damaged</h1>'
	is "$what: contained" "$(rated contained)" 0
	holds "$what: error" grep -q 'the evidence is damaged' "$tmp/page.err"
}
flip() {
	printf 'X' | dd of=capture-000001.pcapng bs=1 seek=50000 conv=notrunc status=none
}
forge() {
	sed -i 's/"verdict":"contained"/"verdict":"escaped"/' verdict.json
	find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
}
spoil "a byte of the capture" flip
spoil "the capture's end" truncate -s -500 capture-000001.pcapng
spoil "a byte beside it" sh -c 'echo >>probes.json'
spoil "another verdict" forge

# ---- timeline ----
# Two runs as one: every record, in order of the wall clock, each with its run.
mkdir "$tmp/runs"
mv "$tmp/asked" "$tmp/runs/one"
"$sentinel" run -q -o "$tmp/runs/two" -t unshare-net -p tcp-connect >/dev/null 2>&1
is "the second run exits with" $? 0
joined() { # option...
	"$sentinel" timeline --json "$tmp/runs" "$@" >"$tmp/joined" 2>"$tmp/err"
}
records() { # bundle
	"$sentinel" timeline "$1" | wc -l
}
joined
is "timeline exits with" $? 0
is "records of both" "$(wc -l <"$tmp/joined")" $(($(records "$tmp/runs/one") + $(records "$tmp/runs/two")))
is "the last record of one has its number" "$(records "$tmp/runs/one")" \
	"$(jq -r 'select(.bundle | endswith("one")) | .id' "$tmp/joined" | sort -n | tail -1)"
jq -r .time "$tmp/joined" >"$tmp/times"
holds "in order of time" env LC_ALL=C sort -c "$tmp/times"
is "times that are not RFC 3339 with nine digits" \
	"$(grep -vcE '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z$' "$tmp/times")" 0
holds "the first is when the first run began" grep -qF "$(head -1 "$tmp/times" | cut -c1-19)" \
	<(date -u -d "@$(jq -r 'select(.type == "run.begin") | .realtime_ns' "$tmp/joined" | head -1 |
		cut -c1-10)" +%FT%T)
is "numbered without a gap" "$(jq -r .seq "$tmp/joined" | sort -nu | tail -1)" "$(wc -l <"$tmp/joined")"
is "runs in it" "$(jq -r '."run.id"' "$tmp/joined" | sort -u | wc -l)" 2
# each line is flat, and has each key once
is "keys" "$(jq -s 'map(length) | add' "$tmp/joined")" \
	"$(grep -oE '[{,]"[A-Za-z0-9_./]+":' "$tmp/joined" | wc -l)"
joined --type packet -t unshare-net -p 'udp*'
is "of one cell" "$(jq -r '."trial.target" + "/" + ."trial.probe" + " " + .type' "$tmp/joined" | sort -u)" \
	"unshare-net/udp-send packet"
is "to whom at W" "$(jq -r 'select(.vantage == "W") | ."destination.port"' "$tmp/joined" | sort -u)" 9001
holds "and the token" grep -q 'the token in hex' "$tmp/joined"
joined -t baseline
is "outside any sandbox" "$(jq -r '."trial.arm"' "$tmp/joined" | sort -u)" baseline
"$sentinel" timeline --color never "$tmp/runs/two" "$tmp/runs/one" >"$tmp/lines"
holds "as text: which is which" grep -qx "\[2\]  $tmp/runs/one" "$tmp/lines"
holds "as text: a line" grep -qE \
	'^20[^ ]+Z  \[2\]  unshare-net/udp-send +#[0-9]+ +on [0-9]+ +A  raw_tp/sys_exit .*sendto\(3\) .* = -101 ENETUNREACH$' \
	"$tmp/lines"
is "a reader who leaves" "$(timeout 10 "$sentinel" timeline "$tmp/runs" | head -1)" "[1]  $tmp/runs/one"
"$sentinel" timeline "$tmp/runs" >/dev/full 2>/dev/null
is "a full disk: exit" $? 6
"$sentinel" timeline --type nothing "$tmp/runs" >/dev/null 2>&1
is "no such type: exit" $? 2
"$sentinel" timeline "$tmp/runs" "$tmp/nothing" >"$tmp/lines" 2>/dev/null
is "one that is not there: exit" $? 2
holds "the others are shown" grep -q run.begin "$tmp/lines"
(cd "$tmp/runs/two" && flip)
joined
is "a damaged one: exit" $? 5
holds "it is named" grep -q '"error".*runs/two.*damaged' "$tmp/err"
is "its readable part is shown" "$(jq -r 'select(.bundle | endswith("two")) | .id' "$tmp/joined" | head -1)" 1

finish
