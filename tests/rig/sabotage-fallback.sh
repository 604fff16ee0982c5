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

# What shows in nothing but a call that it refuses: there is no sandbox; the call is not made.
make_given unconfined nobody 'uid: 65534, refused: [connect]' env env
make_given calls-nobody nobody 'namespaces: [user, net], uid: 65534, refused: [connect]' \
	"$tmp/targets/drops-canary" "$tmp/targets/opened"
make_given confined nobody 'uid: 65534, refused: [connect]' '\"{confine}\", \"--tcp-connect=1\", --' env
run_sentinel refused -p udp-send -p tcp-connect -t "$(target unconfined)" -t "$(target calls-nobody)" \
	-t "$(target confined)"
run_is refused valid
is "the exit code" "$code" 1
for probe in udp-send tcp-connect; do
	cell_is refused unconfined $probe inconclusive wrong-sandbox
	is "unconfined x $probe: on crossed" \
		"$(cell_of refused unconfined $probe .arms.on.crossed)" true
	cell_is refused calls-nobody $probe inconclusive identity-unknown
	cell_only refused calls-nobody $probe identity-unknown on2-missing
done
cell_is refused confined tcp-connect contained
cell_is refused confined udp-send escaped
replays refused
finish
