#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs side by side: the verdicts of each are those of a run alone, and none sees another's packets.
# One starts while another is in the middle, one is killed in the middle.
# shellcheck disable=SC2317 # functions are called by name
set -u
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/life.sh"
need bpftool ip
[ -n "$cgroup_root" ] || skip "cgroup v2"

what=(-p tcp-connect -p udp-send -t unshare-net)
declare -A clients=() daemons=()

begin() { # name
	tagged begin_sentinel "$1" "${what[@]}"
	clients[$1]=$sentinel_pid
	daemons[$1]=$daemon_pid
}

end() { # name
	sentinel_pid=${clients[$1]}
	finish_sentinel "$1"
	is "$1: exit" "$code" 0
}

trial_is_there() { # name, trial
	[ -d "$cgroup_root/sentinel-$(run_of "${daemons[$1]}")/trial-$2" ]
}

verdicts() { # name
	verdict_of "$1" '.cells[] | [.target, .probe, .verdict, .reasons, .stopped_at] | tostring'
}

same_verdicts() { # name
	run_is "$1" valid
	is "$1: cells unlike those of a run alone" "$(diff <(verdicts alone) <(verdicts "$1") | wc -l)" 0
	replays "$1"
}

# Every token, and every trial's nonce, as the capture of that run says it.
secrets() { # name
	grep -aohE '"(token|nonce)":"[0-9a-f]{32}"' "$tmp/$1"/capture-*.pcapng | cut -d'"' -f4 | sort -u
}

# As text, as it is in a command line and on the wire.
strangers_in() { # name, of whom
	grep -aoFf <(secrets "$2") "$tmp/$1"/capture-*.pcapng | wc -l
}

apart() { # names
	local a b

	for a in "$@"; do
		holds "$a: its own tokens are in its capture" test "$(strangers_in "$a" "$a")" -gt 20
		for b in "$@"; do
			[ "$a" = "$b" ] || is "$a: tokens of $b in its capture" "$(strangers_in "$a" "$b")" 0
		done
	done
}

begin_census
tagged run_sentinel alone "${what[@]}"
run_is alone valid
is "alone: exit" "$code" 0

begin one
begin two
wait_until "two is in the middle" trial_is_there two 4
holds "one lives meanwhile" test -d "/proc/${daemons[one]}"
begin late
wait_until "late is in the middle" trial_is_there late 2
end one
end two
end late
for name in one two late; do
	same_verdicts $name
done
apart one two late

begin survivor
begin victim
wait_until "the victim is in the middle" trial_is_there victim 4
holds "the survivor lives meanwhile" test -d "/proc/${daemons[survivor]}"
kill -9 "${clients[victim]}" "${daemons[victim]}"
wait "${clients[victim]}" 2>/dev/null
is "the victim: exit" $? 137
begin after
end survivor
end after
for name in survivor after; do
	same_verdicts $name
done
apart survivor after
nothing_left "of six runs, one of them killed"
finish
