#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL to the client, to the daemon and to both, at ten moments from the daemon's first step to
# its last unlink: after the next start nothing of the dead runs is left, and that start's own run is
# valid. In the dead runs' sandboxes a process ignores signals and has left its session and parent.
# shellcheck disable=SC2317 # functions are called by name
set -u
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/life.sh"
need bpftool ip setsid
[ -n "$cgroup_root" ] || skip "cgroup v2"

cat >"$tmp/stubborn.yaml" <<-YAML
	schema: 1
	name: stubborn
	about: leaves a process behind that ignores signals and is nobody's child
	user: nobody
	expect: {uid: 65534}
	claims: []
	run: [env, "SENTINEL_TEST_TAG=$tag", sh, -c,
	  'trap "" HUP INT QUIT TERM; setsid -f sleep 600; exec "\$@"', sh, "{cmd}"]
YAML

# ---- moments: what is seen of the run from outside ----

namespaces_are() { # at least
	[ "$(find "/proc/$daemon_pid/fd" -lname 'net:*' 2>/dev/null | wc -l)" -ge "$1" ]
}

taps_are() { # at least
	[ "$(grep -l '^link_type:.*\(tcx\|11\)' "/proc/$daemon_pid"/fdinfo/* 2>/dev/null | wc -l)" -ge "$1" ]
}

far_sides_are() { # at least
	[ "$(pgrep -c -x -P "$daemon_pid" sentinel-collec)" -ge "$1" ]
}

# A run has three namespaces a lane, held twice, and three taps; eight lanes.
has_come() { # moment
	local folder=$cgroup_root/sentinel-${run:-none}

	case "$1" in
	'first step') true ;;
	'cgroup made') [ -d "$folder" ] ;;
	'first namespace') namespaces_are 1 ;;
	'fourth lane') taps_are 10 ;;
	'far sides') far_sides_are 8 ;;
	'first trial') [ -d "$folder/trial-1" ] ;;
	'tenth trial') [ -d "$folder/trial-10" ] ;;
	'last trial') [ -d "$folder/trial-$trials" ] ;;
	'judged') [ -e "$tmp/$name/verdict.json" ] ;;
	'cgroup removed') [ -n "$run" ] && [ ! -d "$folder" ] ;;
	*) false ;;
	esac
}

# No nap: some moments are short. 20 s at most.
await_moment() { # moment
	local until=$((SECONDS + 20))

	run=
	while :; do
		[ -n "$run" ] || run=$(run_of "$daemon_pid")
		has_come "$1" && return
		[ $SECONDS -lt $until ] && [ -d "/proc/$daemon_pid" ] || return
	done
}

# ---- a shot ----

# Dead, reaped or not, and its files are closed: that takes it some 300 ms, for the taps.
daemon_has_ended() {
	! grep -q '^State:.*[^Z] (' "/proc/$daemon_pid/status" 2>/dev/null &&
		! grep -q "FLOCK .* $daemon_pid " /proc/locks && ! is_locked "${run:-none}"
}

check_client() { # whom, moment
	local status=0

	wait "$sentinel_pid" 2>/dev/null || status=$?
	if [ "$1" = daemon ]; then
		is "killed at '$2': the daemon: exit of the client" "$status" 3
		holds "... which says so" grep -q 'the daemon is gone' "$tmp/$name.err"
	else
		is "killed at '$2': the $1: exit of the client" "$status" 137
	fi
}

shoot() { # whom, moment, at once: don't wait for its end
	name=dead$((shots += 1))
	tagged begin_sentinel "$name" -p udp-send -t "$tmp/stubborn.yaml"
	await_moment "$2" || fail "no moment '$2'"
	case "$1" in
	client) kill -9 "$sentinel_pid" ;;
	daemon) kill -9 "$daemon_pid" ;;
	both) kill -9 "$sentinel_pid" "$daemon_pid" ;;
	esac
	check_client "$1" "$2"
	[ "${3:-}" = 'at once' ] || wait_until "the daemon has ended" daemon_has_ended
	note_dead_runs
	[ "$(tagged_pids | wc -l)" -eq 0 ] || outlived=$((outlived + 1))
}

shots=0 outlived=0
# Of one probe and this target: two baselines twice (a far side that answers, a deaf one), three arms
# of each calibrator and of the target, but for two that have no off.
trials=17

next_start() { # after what
	local next=next$shots

	tagged run_sentinel "$next" -p udp-send -t unshare-net
	run_is "$next" valid
	is "$next: exit" "$code" 0
	nothing_left "$1"
}

begin_census
for moment in 'first step' 'cgroup made' 'first namespace' 'fourth lane' 'far sides' 'first trial' \
	'tenth trial' 'last trial' 'judged' 'cgroup removed'; do
	for whom in client daemon both; do
		shoot $whom "$moment"
	done
	next_start "of three runs killed at '$moment'"
done

# The next start comes while the dead daemon's files are still being closed, its lock among them.
shoot both 'tenth trial' 'at once'
echo "run $cgroup_root/sentinel-$run" >>"$tmp/dead"
holds "a dead run is locked yet when the next starts" is_locked "$run"
next_start "of a run that was dying when the next started"
holds "processes of a sandbox outlived some daemons ($outlived)" test "$outlived" -gt 0
finish
