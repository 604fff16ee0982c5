#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A wrapper that falls back to no sandbox: what crosses is shown, and not blamed on the sandbox that
# wasn't there. What does not cross is not credited to it either.
set -u
. "$(dirname "$0")/lib.sh"

lies=(falls-back tries-outside-first)
targets=()
for lie in closed "${lies[@]}"; do
	make_target "$lie"
	targets+=(-t "$(target "$lie")")
done
# The same wrapper where more is expected of the sandbox than it makes.
make_target closed
sed 's/^name: .*/name: less-than-expected/; s/^expect: .*/expect: {namespaces: [user, net, mnt]}/' \
	"$(target closed)" >"$(target less-than-expected)"
targets+=(-t "$(target less-than-expected)")
run_sentinel lies -p udp-send "${targets[@]}"

run_is lies valid
is "the exit code" "$code" 3
cell_is lies closed udp-send contained
for lie in "${lies[@]}"; do
	is "$lie: the lie was told, in on and on2" "$(said "$lie")" 2
	cell_is lies "$lie" udp-send inconclusive wrong-sandbox
	is "$lie: on crossed" "$(cell_of lies "$lie" udp-send .arms.on.crossed)" true
	is "$lie: grade" "$(cell_of lies "$lie" udp-send .grade)" null
done
cell_is lies less-than-expected udp-send inconclusive wrong-sandbox
is "less-than-expected: on crossed" \
	"$(cell_of lies less-than-expected udp-send .arms.on.crossed)" false
replays lies
finish
