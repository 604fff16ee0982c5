#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Packets to a trial's own address that carry no token. Where they passed the sandbox's own boundary
# they are its, and it let them out; where they did not, somebody else sent them: nobody is blamed,
# and nobody is credited.
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

make_target waits-for-test
begin_sentinel strange -p udp-send -t "$(target waits-for-test)"
wait_held
lane=$(lane_of_held bnd0)
nsenter --net="$lane" bash -c "echo nothing >/dev/udp/$(held_argument to)/$(held_argument port)"
is "a datagram was sent behind the boundary" "$?" 0
release_held
finish_sentinel strange
run_is strange valid
is "strange: the exit code" "$code" 3
cell_is strange waits-for-test udp-send inconclusive
cell_only strange waits-for-test udp-send unclaimed-signal
is "strange: grade" "$(cell_of strange waits-for-test udp-send .grade)" null

make_target closed
make_way leaks connects-to-trial
run_sentinel own -p tcp-connect -t "$(target closed)" -t "$(target leaks-connects-to-trial)"
run_is own valid
is "own: the exit code" "$code" 1
cell_is own closed tcp-connect contained
is "a connection without a byte, in on and on2" \
	"$(grep -cx connects-to-trial "$tmp/targets/state/leaks")" 2
cell_is own leaks-connects-to-trial tcp-connect escaped
is "own: grade" "$(cell_of own leaks-connects-to-trial tcp-connect .grade)" signal

replays strange
replays own
finish
