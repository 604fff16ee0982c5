#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Nobody reaches a sandbox that is not there: the one beside must prove itself alive, as the one that it
# was, before and after the attempt to reach it.
set -u
. "$(dirname "$0")/lib.sh"
need sed unshare

lies=(missing late forged-before forged-after gone replaced)
targets=()
make_target closed
targets+=(-t "$(target closed)")
make_given shared nobody 'uid: 65534' env env
targets+=(-t "$(target shared)")
for lie in "${lies[@]}"; do
	make_way lies-of-sibling "$lie"
	targets+=(-t "$(target "lies-of-sibling-$lie")")
done
# three seconds are longer than such a sandbox may take to start
echo 'timeout: {start: 1s}' >>"$(target lies-of-sibling-late)"
run_sentinel siblings -p sibling "${targets[@]}"

run_is siblings valid
is "the exit code" "$code" 1
cell_is siblings closed sibling contained
is "closed: off crossed" "$(cell_of siblings closed sibling .arms.off.crossed)" true
cell_is siblings shared sibling escaped
holds "the table says what was reached" \
	grep -q 'What it sent reached a listener that no sandbox may reach' "$tmp/siblings.out"
is "shared: its grade" "$(cell_of siblings shared sibling .grade)" payload
for lie in "${lies[@]}"; do
	holds "$lie: the lie was told" test "$(said "sibling-$lie")" -ge 2
	is "$lie: on crossed" "$(cell_of siblings "lies-of-sibling-$lie" sibling .arms.on.crossed)" false
	cell_is siblings "lies-of-sibling-$lie" sibling inconclusive sandbox-not-alive on2-missing
done
replays siblings
finish
