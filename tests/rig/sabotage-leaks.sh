#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A hole beside the control. The probe's own packet is stopped, and its token gets out by another
# way, in other clothes: an escape wherever a token can be read, and never contained.
set -u
. "$(dirname "$0")/lib.sh"
need perl
perl -MDigest::SHA -MMIME::Base64 -e 1 2>/dev/null || skip "perl's Digest::SHA is not installed"

readable=(other-port other-address canary-like upper-hex raw-bytes base64 in-json huge-datagram
	stream bytewise-stream much-first dns-labels ping decoy passed-descriptor)
unreadable=(two-datagrams xored closed-port in-error)

leaking() { # ways: the arguments of a run
	local way

	targets=()
	for way; do
		make_way leaks "$way"
		targets+=(-t "$(target "leaks-$way")")
	done
}

# A lane for each round: frames that nobody explains (the handshake before a token, a fragment) also
# spoil the window of whoever was in the lane just before.
make_target closed
leaking "${readable[@]}" reversed-to-trial
run_sentinel leaks -p udp-send --lanes 24 -t "$(target closed)" "${targets[@]}"
run_is leaks valid
is "the exit code" "$code" 1
cell_is leaks closed udp-send contained
for way in "${readable[@]}"; do
	is "$way: sent, in on and on2" "$(grep -cx "$way" "$tmp/targets/state/leaks")" 2
	cell_is leaks "leaks-$way" udp-send escaped
	is "$way: grade" "$(cell_of leaks "leaks-$way" udp-send .grade)" payload
done
for way in other-port other-address canary-like stream dns-labels ping; do
	holds "$way: by which way ($(cell_of leaks "leaks-$way" udp-send .via))" \
		test "$(cell_of leaks "leaks-$way" udp-send .via)" != null
done
# Bytes that say nothing, but to the trial's own address, and seen at its own boundary.
cell_is leaks leaks-reversed-to-trial udp-send escaped
is "reversed-to-trial: grade" "$(cell_of leaks leaks-reversed-to-trial udp-send .grade)" signal
replays leaks

# What nobody can read, also where a router was made to say it, and a SYN to a port that refused it:
# nothing is known to have been handed over, but something went out.
leaking "${unreadable[@]}"
run_sentinel murky -p udp-send --lanes 24 "${targets[@]}"
run_is murky valid
is "murky: the exit code" "$code" 3
for way in "${unreadable[@]}"; do
	is "$way: sent, in on and on2" "$(grep -cx "$way" "$tmp/targets/state/leaks")" 2
	cell_is murky "leaks-$way" udp-send inconclusive unexplained-traffic
done
replays murky
finish
