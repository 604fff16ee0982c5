#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sandbox that wants another one to look bad: nonces stand in /proc/PID/cmdline, so it can send the
# other's token, but only by its own lane. That is no escape of the other one; nor is anybody
# contained while such things happen.
set -u
. "$(dirname "$0")/lib.sh"
need perl
perl -MDigest::SHA -e 1 2>/dev/null || skip "perl's Digest::SHA is not installed"

make_target closed
make_target waits-for-test
make_target frames
run_sentinel framed -p udp-send -t "$(target closed)" -t "$(target waits-for-test)" \
	-t "$(target frames)"

run_is framed valid
is "the exit code" "$code" 3
is "a token was sent for another" "$(said frames)" 1
holds "it was seen: records of the framed one's on arm" test \
	"$(cell_of framed waits-for-test udp-send '.arms.on.records | length')" -ge 1
is "on crossed" "$(cell_of framed waits-for-test udp-send .arms.on.crossed)" false
cell_is framed waits-for-test udp-send inconclusive
cell_only framed waits-for-test udp-send unexplained-traffic
cell_is framed frames udp-send inconclusive unexplained-traffic
cell_is framed closed udp-send contained
replays framed

# A listener at a path is every lane's to call, and its log has no sender.
rm -rf "$tmp/targets/state/frames" "$tmp/targets/state/held"
for name in waits-for-test frames; do
	make_given "$name" nobody 'uid: 65534, no_new_privs: true' \
		"$tmp/targets/$name, \"{confine}\", \"--no-unix\", --" env
done
run_sentinel path -p unix-path -t "$(target waits-for-test)" -t "$(target frames)"
run_is path valid
is "the exit code" "$code" 3
is "a token was brought for another" "$(said frames)" 1
holds "it was received: records of the framed one's on arm" test \
	"$(cell_of path waits-for-test unix-path '.arms.on.records | length')" -ge 1
is "on crossed" "$(cell_of path waits-for-test unix-path .arms.on.crossed)" false
cell_is path waits-for-test unix-path inconclusive
cell_only path waits-for-test unix-path unexplained-traffic
replays path
finish
