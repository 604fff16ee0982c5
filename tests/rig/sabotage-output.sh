#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a sandbox prints, and what its files say, is foreign bytes: it changes no verdict, and reaches
# neither the terminal nor a file as anything but letters.
# shellcheck disable=SC2317 # functions that are called by name
set -u
. "$(dirname "$0")/lib.sh"

talking() { # what it does besides talking, what is expected of it
	sed "s|@HOW@|$1|g; s|@EXPECT@|$2|" "$tmp/targets/talks.yaml" >"$(target "talks-$1")"
}

# Nothing but letters and newlines; C1 controls (U+0080 to U+009f), which a terminal obeys too, and
# the marks that turn the direction of writing are no letters.
plain() { # file
	! LC_ALL=C grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$1"
}

talking open user
talking closed 'user, net'
talking fakes 'user, net'
talking never 'user, net'
make_target closed
run_sentinel talk -p udp-send -t "$(target closed)" -t "$(target talks-open)" \
	-t "$(target talks-closed)" \
	-t "$(target talks-fakes)" -t "$(target talks-never)" --junit "$tmp/junit.xml"

cell_is talk closed udp-send contained
is "it talked, in each arm" "$(said talks)" 12
holds "its version was asked, and is in the evidence" \
	grep -qa '1\.0 ..*owned' "$tmp/talk/capture-000001.pcapng"
cell_is talk talks-open udp-send escaped
cell_is talk talks-closed udp-send contained
# Of each kind of session line the first one counts: who lies in it has not proved to be alive.
cell_is talk talks-fakes udp-send inconclusive sandbox-not-alive probe-did-not-run
cell_is talk talks-never udp-send inconclusive \
	sandbox-not-alive probe-did-not-run no-attempt-seen
run_is talk valid
is "the exit code" "$code" 1

"$BUILD/sentinel" explain "$tmp/talk" talks-open udp-send >"$tmp/explain.out" 2>"$tmp/explain.err"
"$BUILD/sentinel" replay --json "$tmp/talk" >"$tmp/json.out" 2>"$tmp/json.err"
holds "explain says something" test -s "$tmp/explain.out"
"$BUILD/sentinel" report "$tmp/talk" 2>"$tmp/page.err" | tr -d '\t' >"$tmp/page.html"
for file in page.html page.err; do
	holds "$file: letters and newlines only" plain "$tmp/$file"
done
for file in talk.out talk.err explain.out explain.err json.out json.err junit.xml \
	talk/verdict.json talk/probes.json; do
	holds "$file: letters and newlines only" plain "$tmp/$file"
	holds "$file: less than 64 KiB" test "$(stat -c %s "$tmp/$file")" -lt 65536
done
holds "its 120 MB did not go into the bundle" test "$(du -s "$tmp/talk" | cut -f1)" -lt 8192
holds "verdict.json is one JSON text" jq -e . "$tmp/talk/verdict.json"
replays talk
finish
