#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sandbox that holds in the first of two rounds and never starts in the second: one good round does
# not speak for the other, and the cell says that they differ.
set -u
. "$(dirname "$0")/lib.sh"

make_target closed
make_target tires
# One lane, so that the rounds come one after the other.
run_sentinel unstable -p udp-send --repeat 2 --lanes 1 -t "$(target closed)" -t "$(target tires)"

run_is unstable valid
is "the exit code" "$code" 3
cell_is unstable closed udp-send contained
is "starts of the sandbox" "$(said tires)" 4
cell_is unstable tires udp-send inconclusive unstable sandbox-not-alive
replays unstable
finish
