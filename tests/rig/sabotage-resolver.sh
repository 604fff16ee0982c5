#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A lane's resolver that gets no answer asks again when the next trial is at work: that is the earlier
# trial's, as long as it is the earlier trial's question. A later sandbox that asks for an earlier
# trial's name, with something more in it, gets that out by the resolver.
set -u
. "$(dirname "$0")/lib.sh"
need openssl unbound

make_target closed
make_target asks-for-it keeps-question

# in one lane, deaf-collector's questions are asked again while others are at work
run_sentinel honest --lanes 1 -p dns-resolver -p udp-send -t "$(target closed)"
run_is honest valid
is "the resolver asked for a deaf name again: off's records" \
	"$(cell_of honest deaf-collector dns-resolver '.arms.off.records | length >= 3')" true
cell_is honest closed dns-resolver contained
cell_is honest closed udp-send contained
replays honest

run_sentinel more -p dns-resolver -t "$(target asks-for-it)"
is "off's name was asked for, with more in it, before on2" "$(said asks-for-it)" 1
is "on2 crossed" "$(cell_of more asks-for-it dns-resolver .arms.on2.crossed)" false
cell_is more asks-for-it dns-resolver inconclusive unexplained-traffic
run_is more valid
replays more
finish
