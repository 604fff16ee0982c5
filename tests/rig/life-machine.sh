#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The machine's own network, sysctls, mounts, cgroups and BPF are the same bytes before and after: a
# run, an interrupted one, and failed ones.
# shellcheck disable=SC2317 # functions are called by name
set -u
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/life.sh"
need bpftool ip unshare
[ -n "$cgroup_root" ] || skip "cgroup v2"

# ---- the machine ----

# Lifetimes run.
network() {
	ip -o link show
	ip -o address show | sed 's/valid_lft.*//'
	ip rule show
	ip -6 rule show
	ip route show table all
	ip -6 route show table all | sed 's/ expires [0-9]*sec//'
	ip neighbour show nud permanent
}

firewall() {
	command -v nft >/dev/null || return 0
	nft -n list ruleset 2>&1
}

# Files that only can be written, and what counts by itself, have nothing to compare.
sysctls() {
	find /proc/sys/net -type f ! -name '*conntrack_count' -exec grep -H '' {} + 2>/dev/null | sort
}

# The first level, where a run's would be, and whatever has our name below: the rest is what services
# of the machine make and remove. Other people's live runs come and go.
cgroups() {
	local path

	find "$cgroup_root" -type d \( -path "$cgroup_root/*/*" ! -name '*sentinel*' -o -print \) |
		sort | while read -r path; do
		[[ $path =~ /sentinel-([^/]*) ]] && is_locked "${BASH_REMATCH[1]}" || echo "$path"
	done
}

kinds=(network firewall sysctls cgroups)

note_machine() { # folder
	local kind

	mkdir -p "$1"
	for kind in "${kinds[@]}"; do
		$kind >"$1/$kind"
	done
	cat /proc/self/mountinfo >"$1/mounts"
	find /sys/fs/bpf -ls >"$1/pins"
}

same_machine() { # after what
	local kind

	note_machine "$tmp/now"
	for kind in "${kinds[@]}" mounts pins; do
		if cmp -s "$tmp/was/$kind" "$tmp/now/$kind"; then
			ok "$kind as before, $1 ($(wc -c <"$tmp/now/$kind") bytes)"
		else
			fail "$kind changed, $1"
			diff "$tmp/was/$kind" "$tmp/now/$kind" | head -20 | sed 's/^/    /'
		fi
	done
	nothing_left "$1"
}

# ---- what is done to it ----

interrupt() { # signal
	tagged begin_sentinel "by-$1" -p udp-send -t unshare-net
	wait_until "its daemon has a run" run_is_there
	wait_until "its third trial" test -d "$cgroup_root/sentinel-$run/trial-3"
	kill "-$1" "$sentinel_pid"
	finish_sentinel "by-$1"
	is "interrupted by $1: exit" "$code" 3
	holds "... which says so" grep -q 'error: interrupted' "$tmp/by-$1.err"
	holds "... with a bundle that is whole" test -e "$tmp/by-$1/SHA256SUMS"
	replays "by-$1"
}

run_is_there() {
	run=$(run_of "$daemon_pid")
	[ -n "$run" ]
}

# In a mount namespace of its own: a file system for the bundle that is soon full.
fill_disk() {
	# shellcheck disable=SC2016 # $0 and $@ are the inner shell's
	SENTINEL_TEST_TAG=$tag unshare --mount sh -c 'mount -t tmpfs -o size=128k none "$0" &&
		exec "$@"' "$tmp/small" "$BUILD/sentinel" run -q -p udp-send -t unshare-net \
		-o "$tmp/small/bundle" >"$tmp/full.out" 2>"$tmp/full.err"
	is "the disk is full: exit" $? 3
	holds "... which says so" grep -q 'error: .*disk' "$tmp/full.err"
}

# A copy of the programs without one of them.
run_without() { # program
	mkdir -p "$tmp/$1-missing/build"
	cp "$BUILD"/sentinel "$BUILD"/sentineld "$BUILD"/sentinel-probe "$BUILD"/sentinel-collector \
		"$BUILD"/sentinel-confine "$tmp/$1-missing/build"
	cp -r "$rig_folder/../../policies" "$tmp/$1-missing"
	rm "$tmp/$1-missing/build/$1"
	sentinel=$tmp/$1-missing/build/sentinel tagged run_sentinel "without-$1" -p udp-send \
		-t unshare-net
	is "$1 is missing: exit" "$code" 3
	holds "... which names it" grep -q "error: .*$1" "$tmp/without-$1.err"
}

broken_target() {
	printf 'schema: 1\nname: broken\nrum: [x]\n' >"$tmp/broken.yaml"
	tagged run_sentinel broken -t "$tmp/broken.yaml"
	is "a broken target file: exit" "$code" 2
	holds "... with file, line and column" grep -q 'broken.yaml:3:1: ' "$tmp/broken.err"
}

mkdir -p "$tmp/small"
begin_census
note_machine "$tmp/was"
same_machine "having done nothing"

tagged run_sentinel whole
run_is whole valid
same_machine "after a whole run"

interrupt INT
same_machine "after SIGINT"
interrupt TERM
same_machine "after SIGTERM"
fill_disk
same_machine "after a full disk"
run_without sentinel-collector
same_machine "after a run without its far side"
broken_target
same_machine "after a broken target file"
finish
