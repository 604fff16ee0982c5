#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A packet of an earlier trial that arrives while a later one is running belongs to the earlier one.
set -u
. "$(dirname "$0")/lib.sh"
need openssl

make_target closed
make_target sends-late keeps-nonce
make_target sends-its-own
run_sentinel late -p udp-send -t "$(target closed)" -t "$(target sends-late)" \
	-t "$(target sends-its-own)"

cell_is late closed udp-send contained
is "off's token was sent again before on2" "$(said sends-late)" 1
is "off's token was seen at W: off's records" \
	"$(cell_of late sends-late udp-send '.arms.off.records | length >= 3')" true
is "on2 crossed" "$(cell_of late sends-late udp-send .arms.on2.crossed)" false
cell_is late sends-late udp-send contained

# The counter-check: the same act with the trial's own token is an escape.
is "its own token was sent, in on and on2" "$(said sends-its-own)" 2
cell_is late sends-its-own udp-send escaped
is "the exit code" "$code" 1
run_is late valid
replays late
finish
