#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A control that makes no difference, and one that stays open once it was loosened.
set -u
. "$(dirname "$0")/lib.sh"

make_target closed
make_target left-open leaves-open
# Open and closed are both the expected sandbox: only the control differs.
sed -i 's/^expect: .*/expect: {namespaces: [user], uid: 65534}/' "$(target left-open)"
# The same on arm as closed has, and an off arm that differs in nothing.
make_target closed off-is-closed
sed 's/^name: .*/name: no-difference/' "$(target closed)" >"$(target no-difference)"
make_target closed
run_sentinel lies -p udp-send -t "$(target closed)" -t "$(target left-open)" \
	-t "$(target no-difference)"

run_is lies valid
is "the exit code" "$code" 3
cell_is lies closed udp-send contained
is "closed: off crossed" "$(cell_of lies closed udp-send .arms.off.crossed)" true

is "no-difference: off was run closed" "$(said off-is-closed)" 1
cell_is lies no-difference udp-send inconclusive
cell_only lies no-difference udp-send control-makes-no-difference
is "no-difference: off crossed" "$(cell_of lies no-difference udp-send .arms.off.crossed)" false

is "left-open: on2 was run open" "$(said left-open)" 1
cell_is lies left-open udp-send inconclusive
cell_only lies left-open udp-send control-left-open
is "left-open: on crossed" "$(cell_of lies left-open udp-send .arms.on.crossed)" false
is "left-open: on2 crossed" "$(cell_of lies left-open udp-send .arms.on2.crossed)" true
replays lies
finish
