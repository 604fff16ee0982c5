#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A tap that is taken away while a sandbox is running: from then on, silence means nothing.
set -u
. "$(dirname "$0")/lib.sh"
need bpftool

detach() { # program: all links of it that this run holds
	local link n=0

	for link in $(links_of "$1"); do
		bpftool link detach id "$link" && n=$((n + 1))
	done
	echo $n
}

# Held before its first attempt, when the first baseline is over, or before any trial.
held_run() { # name, program to detach or '', target
	local name=$1 program=$2

	hold_again
	begin_sentinel "$name" -p udp-send --lanes 4 -t unshare-net -t "$(target "$3")"
	wait_held
	if [ -n "$program" ]; then
		is "$name: links of $program detached" "$(detach "$program")" 4
	fi
	release_held
	finish_sentinel "$name"
}

make_target waits-for-test
# Asked for its version, which is before the first trial, it takes its time.
make_target closed
echo "version: [\"$tmp/targets/hold\"]" >>"$(target closed)"

held_run honest '' waits-for-test
run_is honest valid
is "honest: the exit code" "$code" 0
cell_is honest unshare-net udp-send contained
cell_is honest waits-for-test udp-send contained

held_run world snt_world waits-for-test
cell_is world waits-for-test udp-send inconclusive observer-not-attached
none_contained world
is "world: is the hook at W said to be attached" \
	"$(verdict_of world '.observer.hooks | contains(["world"])')" false
is "world: status" "$(verdict_of world .status)" rejected
is "world: the exit code" "$code" 3

held_run boundary snt_boundary waits-for-test
cell_is boundary waits-for-test udp-send inconclusive observer-not-attached
none_contained boundary
is "boundary: is the hook at B said to be attached" \
	"$(verdict_of boundary '.observer.hooks | contains(["boundary"])')" false
is "boundary: what crossed at W is known all the same" \
	"$(cell_of boundary claims-all-blocks-nothing udp-send .verdict)" escaped
is "boundary: the exit code" "$code" 3

held_run from-start snt_world closed
is "from-start: status" "$(verdict_of from-start .status)" rejected
is "from-start: the exit code" "$code" 3
cell_is from-start closed udp-send inconclusive observer-not-attached
cell_is from-start unshare-net udp-send inconclusive observer-not-attached
none_contained from-start

for run in honest world boundary from-start; do
	replays $run
done
finish
