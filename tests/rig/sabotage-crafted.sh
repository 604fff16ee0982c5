#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Root's own packets, made so that the observer takes them for something else: for a dead connection's
# last word, for what nobody could read, for an error about the far side's answer.
set -u
. "$(dirname "$0")/lib.sh"
need perl

make_target closed
targets=()
ways=(reset overlap quote)
declare -A packets=([reset]=2 [overlap]=4 [quote]=1) # all told, in on and on2
for way in "${ways[@]}"; do
	make_way crafts "$way" root
	targets+=(-t "$(target "crafts-$way")")
done
# The off arm says to whom the far side's answer went.
sed -i "s|$tmp/targets/opened|$tmp/targets/keeps-nonce|" "$(target crafts-quote)"
run_sentinel crafted -p udp-send -t "$(target closed)" "${targets[@]}"

run_is crafted valid
is "the exit code" "$code" 3
cell_is crafted closed udp-send contained
for way in "${ways[@]}"; do
	is "$way: packets" "$(grep -cx "$way" "$tmp/targets/state/crafts")" "${packets[$way]}"
	is "$way: on crossed" "$(cell_of crafted "crafts-$way" udp-send .arms.on.crossed)" false
	is "$way: off crossed" "$(cell_of crafted "crafts-$way" udp-send .arms.off.crossed)" true
	cell_is crafted "crafts-$way" udp-send inconclusive unexplained-traffic
done
# What it said can't be known, so it is as good as lost.
cell_is crafted crafts-overlap udp-send inconclusive records-lost
replays crafted

# A reset to where the trial's own connections go is no connection of its own.
run_sentinel reset -p tcp-connect -t "$(target closed)" -t "$(target crafts-reset)"
run_is reset valid
cell_is reset closed tcp-connect contained
cell_is reset crafts-reset tcp-connect inconclusive unexplained-traffic
is "reset: on crossed" "$(cell_of reset crafts-reset tcp-connect .arms.on.crossed)" false
replays reset
finish
