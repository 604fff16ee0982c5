#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One line of an honest session forged on its way to us. All else is in order, so each line alone must
# withhold: alive before, alive after, and both with the attempt in one instance.
set -u
. "$(dirname "$0")/lib.sh"
need openssl

ways=(alive1-wrong alive2-wrong ran-another alive2-another)
make_target closed
targets=()
for way in honest "${ways[@]}"; do
	make_way forges-line "$way"
	targets+=(-t "$(target "forges-line-$way")")
done
run_sentinel forged -p udp-send -t "$(target closed)" "${targets[@]}"

run_is forged valid
is "the exit code" "$code" 3
cell_is forged closed udp-send contained
# What only passes the lines on changes nothing.
cell_is forged forges-line-honest udp-send contained
for way in "${ways[@]}"; do
	is "$way: forged, in on and on2" "$(grep -cx "$way" "$tmp/targets/state/forges-line")" 2
	cell_is forged "forges-line-$way" udp-send inconclusive
	cell_only forged "forges-line-$way" udp-send sandbox-not-alive on2-missing
	is "$way: on crossed" "$(cell_of forged "forges-line-$way" udp-send .arms.on.crossed)" false
	is "$way: off crossed" "$(cell_of forged "forges-line-$way" udp-send .arms.off.crossed)" true
done
replays forged
finish
