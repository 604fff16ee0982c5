#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Silence is no proof: a sandbox that never ran the probe, or not to its end, is never contained.
set -u
. "$(dirname "$0")/lib.sh"
need openssl strace

lies=(exits-at-once says-it-ran forges-proofs every-second-fails starts-twice dies-before-attempt
	dies-after-attempt)
targets=()
for lie in closed "${lies[@]}"; do
	make_target "$lie"
	targets+=(-t "$(target "$lie")")
done
run_sentinel lies -p udp-send --repeat 2 "${targets[@]}"

run_is lies valid
is "the exit code" "$code" 3
cell_is lies closed udp-send contained
for lie in "${lies[@]}"; do
	holds "$lie: the lie was told" test "$(said "$lie")" -ge 1
done

cell_is lies exits-at-once udp-send inconclusive \
	sandbox-not-alive probe-did-not-run no-attempt-seen identity-unknown
cell_is lies says-it-ran udp-send inconclusive \
	sandbox-not-alive probe-did-not-run no-attempt-seen identity-unknown
# All that its output can prove is proven: what withholds is that the kernel saw nobody do it.
cell_is lies forges-proofs udp-send inconclusive \
	sandbox-not-alive no-attempt-seen identity-unknown
cell_is lies every-second-fails udp-send inconclusive sandbox-not-alive
cell_is lies starts-twice udp-send inconclusive sandbox-not-alive
# The kernel saw the session start, and the call that was cut off: a refusal, for all that it knows.
cell_is lies dies-before-attempt udp-send inconclusive
cell_only lies dies-before-attempt udp-send sandbox-not-alive probe-did-not-run on2-missing
is "dies-before-attempt: how it ended" \
	"$(sort -u "$tmp/targets/state/dies-before-attempt")" "ended with 137"
cell_is lies dies-after-attempt udp-send inconclusive sandbox-not-alive

for lie in "${lies[@]}"; do
	is "$lie: on crossed" "$(cell_of lies "$lie" udp-send .arms.on.crossed)" false
	is "$lie: off crossed" "$(cell_of lies "$lie" udp-send .arms.off.crossed)" true
done
replays lies
finish
