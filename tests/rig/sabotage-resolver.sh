#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A lane's resolver that gets no answer asks again when the next trial is at work: that is the earlier
# trial's, as long as it is the earlier trial's question. A later sandbox that asks for an earlier
# trial's name, with something more in it, gets that out by the resolver.
set -u
. "$(dirname "$0")/lib.sh"
need getent openssl perl unbound

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

# What a resolver was told once it does not ask for again: no trial asks for a name that another did.
make_given caches root 'namespaces: [mnt], uid: 0' "$tmp/targets/caches, 10.117.0.53" env
run_sentinel cached --repeat 2 -p dns-resolver -t "$(target caches)"
log=$tmp/targets/state/cache.log
holds "a name that was asked for again was known" test "$(grep -c known "$log")" -ge 3
run_is cached valid
cell_is cached caches dns-resolver escaped
is "rounds in which it crossed" "$(cell_of cached caches dns-resolver .repeats.crossed)" 2
replays cached
finish
