#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A hook that is taken away while a sandbox is running: from then on, silence means nothing.
set -u
. "$(dirname "$0")/lib.sh"
need bpftool

make_target waits-for-test
# Asked for its version, which is before the first trial, it takes its time.
make_target closed
echo "version: [\"$tmp/targets/hold\"]" >>"$(target closed)"

run_detached honest '' 0 waits-for-test
run_is honest valid
is "honest: the exit code" "$code" 0
cell_is honest unshare-net udp-send contained
cell_is honest waits-for-test udp-send contained

run_detached world snt_world 4 waits-for-test
cell_is world waits-for-test udp-send inconclusive observer-not-attached
none_contained world
is "world: is the hook at W said to be attached" \
	"$(verdict_of world '.observer.hooks | contains(["world"])')" false
is "world: status" "$(verdict_of world .status)" rejected
is "world: the exit code" "$code" 3

run_detached boundary snt_boundary 4 waits-for-test
cell_is boundary waits-for-test udp-send inconclusive observer-not-attached
none_contained boundary
is "boundary: is the hook at B said to be attached" \
	"$(verdict_of boundary '.observer.hooks | contains(["boundary"])')" false
is "boundary: what crossed at W is known all the same" \
	"$(cell_of boundary claims-all-blocks-nothing udp-send .verdict)" escaped
is "boundary: the exit code" "$code" 3

run_detached from-start snt_world 4 closed
is "from-start: the far side received what the tap did not see" \
	"$(verdict_of from-start '.rejected | contains(["witnesses-disagree"])')" true
is "from-start: status" "$(verdict_of from-start .status)" rejected
is "from-start: the exit code" "$code" 3
cell_is from-start closed udp-send inconclusive observer-not-attached
cell_is from-start unshare-net udp-send inconclusive observer-not-attached
none_contained from-start

# The far side's log is silent too: what is left is its answer, which nobody has who was not there.
# That it came, and nothing was seen, says what is broken.
run_detached answered snt_world 4 closed --sabotage quiet-collector
is "answered: status" "$(verdict_of answered .status)" rejected
is "answered: the witnesses disagree" \
	"$(verdict_of answered '.rejected | contains(["witnesses-disagree"])')" true
is "answered: baseline and on crossed, as far as was seen" \
	"$(cell_of answered claims-all-blocks-nothing udp-send '.arms.baseline.crossed or .arms.on.crossed')" \
	false
is "answered: what was seen of a baseline" \
	"$(cell_of answered closed udp-send '.arms.baseline.records | length')" 0
is "answered: on was answered" \
	"$(cell_of answered claims-all-blocks-nothing udp-send .arms.on.answered)" true
cell_is answered claims-all-blocks-nothing udp-send escaped
cell_is answered closed udp-send inconclusive observer-not-attached
none_contained answered

for run in honest world boundary from-start answered; do
	replays $run
done
finish
