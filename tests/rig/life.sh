# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the life-*.sh tests share: what a run leaves on the machine. Sourced after lib.sh.
#
# Other runs may live on the machine at the same time. What is ours is known by a variable in the
# environment of our client, which its daemon and the far sides inherit (a sandbox starts with a
# clean one), and by the cgroup of our run; what a live process of somebody else holds is not ours.

tag=$$-$RANDOM$RANDOM
mkdir "$tmp/temporary"

lock_folder=/run/sentinel/lock
folder_parent=/run/sentinel/dir
cgroup_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)

# A function or command, whose processes can be told from everybody else's.
tagged() { # command...
	TMPDIR=$tmp/temporary SENTINEL_TEST_TAG=$tag "$@"
}

# Pids of live processes that carry the tag.
tagged_pids() {
	grep -lzxF "SENTINEL_TEST_TAG=$tag" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

# The run of a daemon: the name of the lock file that it holds. Nothing where it has none yet.
run_of() { # daemon
	find "/proc/$1/fd" -lname "$lock_folder/*" -printf '%l\n' 2>/dev/null |
		sed "s|.*/||; s| (deleted)||; q"
}

# Whether somebody lives who holds a lock on it.
is_held() { # path
	local inode

	inode=$(stat -c %i "$1" 2>/dev/null) || return
	grep -q "FLOCK .*:$inode " /proc/locks
}

is_locked() { # run
	is_held "$lock_folder/$1"
}

# ---- what there is: one thing a line, sorted ----

# Cgroups and lock files of runs that are dead: nobody holds the lock.
dead_runs() {
	local path run

	for path in "$cgroup_root"/sentinel-* "$lock_folder"/*; do
		[ -e "$path" ] || continue
		run=${path##*/}
		is_locked "${run#sentinel-}" || echo "run $path"
	done
}

# Files below /run/sentinel, but for the locks, and for the folders of live runs: they may be somebody
# else's.
run_files() {
	local folder

	find /run/sentinel -mindepth 1 ! -path "$lock_folder/*" ! -path "$folder_parent/*" 2>/dev/null
	for folder in "$folder_parent"/*; do
		[ -e "$folder" ] || continue
		is_held "$folder" || find "$folder" 2>/dev/null
	done
}

# What is dead now must be gone after the next start; what dies later is not looked for any more, it
# may be somebody else's.
note_dead_runs() {
	dead_runs >>"$tmp/dead"
}

bpf_ids() {
	bpftool prog list | sed -n 's/^\([0-9]*\): .*/bpf-program \1/p'
	bpftool link list | sed -n 's/^\([0-9]*\): .*/bpf-link \1/p'
}

# "PID THING" of every BPF program and link held by a descriptor, and of every namespace in use.
holders() {
	grep -E '^(prog_id|link_id):' /proc/[0-9]*/fdinfo/* 2>/dev/null |
		sed -nE 's,^/proc/([0-9]+)/.*:(prog|link)_id:\s*([0-9]+),\1 bpf-\2 \3,p' |
		sed 's/bpf-prog /bpf-program /'
	find /proc/[0-9]*/ns /proc/[0-9]*/fd -regextype egrep -lname '*:\[[0-9]*\]' \
		-regex '/proc/[0-9]+/(ns|fd)/.*' -printf '%p %l\n' 2>/dev/null |
		grep -E ' (cgroup|ipc|mnt|net|pid|time|user|uts):' |
		sed -E 's|^/proc/([0-9]+)/[^ ]* |\1 namespace |'
}

# Live processes of other people. A sandbox's that had left its cgroup would count as one; but then
# the sandbox would have had the right to write to the machine's cgroups.
strangers() {
	local pid mine

	mine=" $(tagged_pids | tr '\n' ' ') "
	for pid in /proc/[0-9]*; do
		pid=${pid#/proc/}
		[[ $mine == *" $pid "* ]] || echo "$pid"
	done
}

# Everything that a run could leave. What only strangers hold is left out.
census() {
	local held theirs

	held=$(holders)
	theirs=$(awk 'NR == FNR { stranger[$1] = 1; next }
		{ thing = $2 " " $3; all[thing] = 1; if (!($1 in stranger)) own[thing] = 1 }
		END { for (t in all) if (!(t in own)) print t }' <(strangers) - <<<"$held")
	{
		bpf_ids
		cut -d' ' -f2- <<<"$held"
		ip -o link show | awk '{ print "link", $1, $2 }'
		sed 's/^/mount /' /proc/self/mountinfo
		find /sys/fs/bpf -mindepth 1 -printf 'pin %p\n'
		find /dev/shm "$tmp/temporary" -mindepth 1 -printf 'file %p\n' 2>/dev/null
		run_files | sed 's/^/file /'
		find /var/lib/sentinel -name '.*' -printf 'file %p\n' 2>/dev/null
		dead_runs
		tagged_pids | while read -r pid; do
			echo "process $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")in" \
				"$(sed -n 's/^0:://p' "/proc/$pid/cgroup")"
		done 2>/dev/null
	} | sort -u | grep -vxF -f <(sed '/^$/d' <<<"$theirs")
}

begin_census() {
	mkdir -p "$lock_folder" "$folder_parent" # which stay
	census >"$tmp/before"
}

# What there is now and was not at begin_census, one a line; looked at for up to 2 s, since the
# kernel lets go of programs and namespaces a little after their last holder has died.
left_over() {
	local left until

	left=$(comm -13 "$tmp/before" <(census))
	[ ! -e "$tmp/dead" ] || left=$(grep -v '^run ' <<<"$left"; grep -xF -f "$tmp/dead" <<<"$left")
	until=$((${EPOCHREALTIME/./} + 2000000))
	while [ -n "$left" ] && [ "${EPOCHREALTIME/./}" -lt $until ]; do
		read -r -t 0.1 _ <>"$tmp/never" || true
		left=$(comm -12 <(echo "$left") <(census))
	done
	echo "$left"
}

nothing_left() { # after what
	local left

	left=$(left_over)
	if [ -z "$left" ]; then
		ok "nothing is left $1"
	else
		fail "left $1: $(echo "$left" | paste -sd';')"
	fi
}
