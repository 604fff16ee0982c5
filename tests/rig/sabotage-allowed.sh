#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A policy that lets one destination through: where that is dead, silence is no measurement. The platform
# may ask for the allowed name whenever it likes; what else it asks for, and what nobody declared, is
# traffic that nobody explains.
set -u
. "$(dirname "$0")/lib.sh"
need ip nft perl setpriv unbound

copy_reference

derive() { # name, sed script: allows-one with something else in it
	sed -E "s/^name: .*/name: $1/; $2" "$(target allows-one)" >"$(target "$1")"
}

asking() { # name, server, name to ask for: allows-one, but that is asked for at its start
	derive "$1" "s|^run: \[|&\"$tmp/targets/asks-name\", \"$2\", \"$3\", |"
}

derive dead 's/\{allowed\}/192.0.2.1/; s/\{allowed_name\}/nobody.test/'
resolver=10.117.0.53
asking asks-allowed $resolver allowed.sentinel.test
asking asks-more $resolver more.allowed.sentinel.test
asking asks-world 203.0.113.1 allowed.sentinel.test
asking undeclared $resolver allowed.sentinel.test
sed -i '/^allowed:/d' "$(target undeclared)"
run_sentinel policy -p udp-send -p http-post-proxy -t "$(target allows-one)" -t "$(target dead)" \
	-t "$(target asks-allowed)"
run_is policy valid
for probe in udp-send http-post-proxy; do
	# What the proxy asks for, when it is asked for what is allowed, is the trial's own.
	for name in allows-one asks-allowed; do
		cell_is policy $name $probe contained
		is "$name: what is allowed was answered" "$(cell_of policy $name $probe .arms.allowed.answered)" true
		is "$name: on crossed" "$(cell_of policy $name $probe .arms.on.crossed)" false
	done
	cell_is policy dead $probe inconclusive
	cell_only policy dead $probe allowed-destination-dead
	is "dead: off crossed" "$(cell_of policy dead $probe .arms.off.crossed)" true
done
is "allowed.sentinel.test was asked for, in on, on2 and allowed" "$(said asks-name)" 6
replays policy

# Each in a run of its own: such a frame is a doubt about all that is at work in its lane.
for name in asks-more asks-world undeclared; do
	rm "$tmp/targets/state/asks-name"
	run_sentinel $name -p udp-send -p dns-resolver -t "$(target $name)"
	holds "$name: a name was asked for, in on and on2 at least" test "$(said asks-name)" -ge 2
	cell_is $name $name udp-send inconclusive
	cell_only $name $name udp-send unexplained-traffic on2-missing
done

# What was not run can't be concluded from.
run_sentinel without --arms on,off,on2 -p udp-send -t "$(target allows-one)"
cell_only without allows-one udp-send allowed-destination-dead
is "without: the arm" "$(cell_of without allows-one udp-send .arms.allowed)" null
finish
