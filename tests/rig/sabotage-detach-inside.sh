#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Hooks that see inside, taken away while a sandbox is running: who was started, and what was tried, is
# seen in part by others still; that is not enough.
set -u
. "$(dirname "$0")/lib.sh"
need bpftool
compile close-fd

make_target waits-for-test
run_detached honest '' 0 waits-for-test
run_is honest valid
is "honest: the exit code" "$code" 0
cell_is honest waits-for-test udp-send contained

for program in snt_exec snt_sock_create; do
	run_detached $program $program 1 waits-for-test
	is "$program: the exit code" "$code" 3
	is "$program: status" "$(verdict_of $program .status)" rejected
	cell_is $program waits-for-test udp-send inconclusive observer-not-attached
	none_contained $program
	is "$program: what crossed at W is known: off" \
		"$(cell_of $program waits-for-test udp-send .arms.off.crossed)" true
done
# Nobody saw the session start.
cell_is snt_exec waits-for-test udp-send inconclusive identity-unknown

for run in honest snt_exec snt_sock_create; do
	replays $run
done
finish
