#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What fails around a run is said, in time, and never becomes a verdict: a full disk, an output that
# nobody takes, a folder that can't be written, a client that stands still, a far side or a daemon
# that dies, programs that a sandbox's user may not execute.
# shellcheck disable=SC2317 # functions are called by name
set -u
# File systems are mounted: in a mount namespace of our own.
if [ "${1:-}" != inside ] && [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	exec unshare --mount -- "$0" inside
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/life.sh"
need bpftool mount pkill
[ "${1:-}" = inside ] || skip "a mount namespace"
[ -n "$cgroup_root" ] || skip "cgroup v2"

what=(-p udp-send -p tcp-connect -t unshare-net)

says() { # name, pattern of its error
	holds "$1 says so: $(grep -m1 'error:' "$tmp/$1.err")" grep -qE "error: .*($2)" "$tmp/$1.err"
}

has_no_verdict() { # name
	holds "$1 has no verdict" test ! -e "$tmp/$1/verdict.json"
	holds "$1 does not replay" not "$BUILD/sentinel" replay "$tmp/$1"
}

not() { # command...
	! "$@"
}

begin() { # name, trial: waits until it is there
	tagged begin_sentinel "$1" "${what[@]}"
	trial=$2
	wait_until "trial $trial of $1" trial_is_there
}

trial_is_there() {
	[ -d "$cgroup_root/sentinel-$(run_of "$daemon_pid")/trial-$trial" ]
}

# The outcome may be "don't know", never the wrong one.
never_wrong() { # name, exit code
	is "$1: wrong verdicts" "$(verdict_of "$1" '[.cells[] | select(
		(.target == "unshare-net" and .verdict == "escaped") or
		(.target == "claims-all-blocks-nothing" and .verdict == "contained") or
		(.target == "never-started" and .verdict != "inconclusive") or
		(.target == "deaf-collector" and .verdict != "inconclusive"))] | length')" 0
	holds "$1: exit 0 or 3: $2" test "$2" -eq 0 -o "$2" -eq 3
	replays "$1"
}

# ---- the disk ----

full_from_the_start() {
	mount -t tmpfs -o size=64k none "$tmp/small"
	mkdir "$tmp/small/from-the-start"
	ln -s "$tmp/small/from-the-start" "$tmp/from-the-start"
	tagged run_sentinel from-the-start "${what[@]}"
	is "from-the-start: exit" "$code" 3
	says from-the-start 'No space left|disk'
	has_no_verdict from-the-start
	umount "$tmp/small"
}

# The last byte is taken while the sandboxes are at work.
full_in_the_middle() {
	mount -t tmpfs -o size=8m none "$tmp/small"
	mkdir "$tmp/small/in-the-middle"
	ln -s "$tmp/small/in-the-middle" "$tmp/in-the-middle"
	begin in-the-middle 8
	dd if=/dev/zero of="$tmp/small/rest" bs=4k 2>/dev/null
	finish_sentinel in-the-middle
	is "in-the-middle: exit" "$code" 3
	says in-the-middle 'No space left|disk'
	has_no_verdict in-the-middle
	umount "$tmp/small"
}

# ---- standard output ----

# The evidence is whole; the exit code says that the answer was not delivered.
check_output() { # name, exit code
	is "$1: exit" "$2" 6
	says "$1" "can't (write|print)|standard output"
	run_is "$1" valid
	replays "$1"
}

output() {
	tagged "$BUILD/sentinel" run -q "${what[@]}" -o "$tmp/no-room" >/dev/full 2>"$tmp/no-room.err"
	check_output no-room $?
	tagged "$BUILD/sentinel" run -q "${what[@]}" -o "$tmp/closed" >&- 2>"$tmp/closed.err"
	check_output closed $?
	tagged "$BUILD/sentinel" run -q "${what[@]}" -o "$tmp/nobody" 2>"$tmp/nobody.err" | true
	check_output nobody "${PIPESTATUS[0]}"
	tagged "$BUILD/sentinel" run -q "${what[@]}" -o "$tmp/all-closed" <&- >&- 2>&-
	is "all-closed: exit" $? 6
	run_is all-closed valid
	cell_is all-closed unshare-net udp-send contained
	replays all-closed
}

# ---- the bundle's folder ----

refused() { # what, -o, pattern
	local name=${1// /-}

	code=0
	tagged "$BUILD/sentinel" run -q "${what[@]}" -o "$2" >"$tmp/$name.out" 2>"$tmp/$name.err" ||
		code=$?
	is "$1: exit" "$code" 2
	is "$1: lines of error" "$(wc -l <"$tmp/$name.err")" 1
	says "$name" "$3"
}

folders() {
	mkdir "$tmp/filled" "$tmp/read-only"
	touch "$tmp/filled/something" "$tmp/file"
	mount -t tmpfs -o ro none "$tmp/read-only"
	refused 'a folder with something in it' "$tmp/filled" 'not empty'
	holds "... which is still there" test -e "$tmp/filled/something"
	refused 'a file in its place' "$tmp/file" 'Not a directory|not a folder'
	refused 'a folder that is nowhere' "$tmp/no/where" 'No such file'
	refused 'a read-only file system' "$tmp/read-only/x" 'Read-only'
	umount "$tmp/read-only"

	mkdir "$tmp/mounted"
	mount -t tmpfs none "$tmp/mounted"
	tagged run_sentinel mounted "${what[@]}"
	is "an empty folder that is a mount point: exit" "$code" 0
	umount "$tmp/mounted"
}

# ---- who stands still, who dies ----

client_stands_still() {
	begin still 3
	kill -STOP "$sentinel_pid"
	read -r -t 3 _ <>"$tmp/never"
	kill -CONT "$sentinel_pid"
	finish_sentinel still
	never_wrong still "$code"
}

far_sides_die() {
	begin orphaned 3
	pkill -9 -x -P "$daemon_pid" sentinel-collec
	finish_sentinel orphaned
	holds "orphaned: the daemon says so" grep -q 'far side of lane .* has ended' "$tmp/orphaned.err"
	is "orphaned: exit" "$code" 3
	none_contained orphaned
	never_wrong orphaned "$code"
	is "orphaned: cells of unshare-net without an answer outside" "$(verdict_of orphaned \
		'[.cells[] | select(.target == "unshare-net") | .reasons[] |
		 select(. == "target-unreachable-outside")] | length')" 2
}

one_far_side_dies() {
	begin lame 1
	kill -9 "$(pgrep -o -x -P "$daemon_pid" sentinel-collec)"
	finish_sentinel lame
	never_wrong lame "$code"
}

daemon_dies() {
	local began

	begin headless 5
	kill -9 "$daemon_pid"
	began=$SECONDS
	finish_sentinel headless
	is "headless: exit" "$code" 3
	says headless 'daemon is gone'
	holds "headless: at once" test $((SECONDS - began)) -le 2
	has_no_verdict headless
}

# Told to end, a daemon leaves nothing: it does what it does when its client leaves.
daemon_is_told_to_end() {
	local run

	begin dismissed 5
	run=$(run_of "$daemon_pid")
	kill -TERM "$daemon_pid"
	finish_sentinel dismissed
	is "dismissed: exit" "$code" 3
	says dismissed 'daemon is gone|interrupted'
	holds "dismissed: its cgroup is gone" test ! -e "$cgroup_root/sentinel-$run"
	holds "dismissed: its lock is gone" test ! -e "$lock_folder/$run"
	run_is dismissed rejected aborted
	replays dismissed
}

is_interrupted() {
	! kill -INT "$sentinel_pid" 2>/dev/null
}

# Nobody is at home in the daemon: the client can still be ended, if only by asking twice.
daemon_stands_still() {
	begin stuck 5
	kill -STOP "$daemon_pid"
	wait_until "the client has ended" is_interrupted
	kill -CONT "$daemon_pid"
	kill -KILL "$sentinel_pid" 2>/dev/null
	wait "$sentinel_pid" 2>/dev/null
	wait_until "the daemon has ended" not kill -0 "$daemon_pid"
}

# A sandbox without a process namespace may kill whom its user may. Not the far side: that would end
# everybody's run.
sandbox_kills() {
	cat >"$tmp/killer.yaml" <<-'YAML'
		schema: 1
		name: killer
		about: kills the far sides, where it may
		user: nobody
		expect: {uid: 65534, namespaces: [net, user]}
		claims:
		  - probes: ["*"]
		    claimed: true
		    source: {document: this test, section: killer, version: "1", quote: nothing leaves}
		run: [sh, -c, 'pkill -9 -x sentinel-collec; exec unshare --user --net -- "$@"', sh, "{cmd}"]
		off:
		  - {probes: ["*"], run: [unshare, --user, --, "{cmd}"]}
	YAML
	tagged run_sentinel killed -p udp-send -t "$tmp/killer.yaml"
	is "killed: far sides that have ended" "$(grep -c 'far side of lane' "$tmp/killed.err")" 0
	run_is killed valid
	cell_is killed killer udp-send contained
}

# ---- a clone in a folder of one's own, as a home is ----

# The copy that everybody can reach is new, and the user's umask is strict.
private_folder() {
	mount -t tmpfs -o mode=755 none /var/lib
	mkdir -m 700 "$tmp/home"
	mkdir "$tmp/home/build"
	cp "$BUILD"/sentinel "$BUILD"/sentineld "$BUILD"/sentinel-probe "$BUILD"/sentinel-collector \
		"$BUILD"/sentinel-confine "$tmp/home/build"
	cp -r "$rig_folder/../../policies" "$tmp/home"
	umask 077
	sentinel=$tmp/home/build/sentinel tagged run_sentinel private "${what[@]}"
	umask 022
	umount /var/lib
	is "private: exit" "$code" 0
	run_is private valid
}

mkdir -p "$lock_folder" "$tmp/small"
begin_census
full_from_the_start
full_in_the_middle
output
folders
client_stands_still
far_sides_die
one_far_side_dies
daemon_is_told_to_end
daemon_stands_still
daemon_dies
sandbox_kills
private_folder
note_dead_runs
tagged run_sentinel next -p udp-send -t unshare-net
run_is next valid
nothing_left "of all these"
finish
