#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A control that stops nothing, but takes its time: late arrivals count.
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

make_target swallows
make_target relays-slowly
run_sentinel slow -p udp-send -t "$(target swallows)" -t "$(target relays-slowly)"

is "what was swallowed, in on and on2" "$(said swallow)" 2
cell_is slow swallows udp-send inconclusive boundary-shared
is "what was relayed 0.8 s later, in on and on2" "$(said relay)" 2
cell_is slow relays-slowly udp-send escaped
is "relays-slowly: grade" "$(cell_of slow relays-slowly udp-send .grade)" payload
is "the exit code" "$code" 1
run_is slow valid
replays slow
finish
