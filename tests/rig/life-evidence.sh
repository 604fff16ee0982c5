#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What becomes of the evidence when it can't be written, or whoever writes it is killed: each write of
# the daemon fails in turn, with the disk full, and SIGKILL comes at moments that nobody chose. The run
# says so and is no success; what was sealed until then verifies, the rest is named, and nothing of it
# is contained.
# shellcheck disable=SC2317 # functions are called by name
set -u
# File systems are mounted: in a mount namespace of our own.
if [ "${1:-}" != inside ] && [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	exec unshare --mount -- "$0" inside
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/life.sh"
need strace mount
[ "${1:-}" = inside ] || skip "a mount namespace"
[ -n "$cgroup_root" ] || skip "cgroup v2"

what=(-p udp-send -t unshare-net)

# ---- what is left of a run ----

# Of a capture that is not whole nothing is contained, and what it has is told.
evidence_is_honest() { # name
	local name=$1 status damaged

	"$BUILD/sentinel" verify --json "$tmp/$name" >"$tmp/$name.verify" 2>/dev/null
	status=$?
	if [ $status -eq 2 ]; then
		is "$name: there is no capture" "$(find "$tmp/$name/" -name 'capture-*' 2>/dev/null | wc -l)" 0
		return
	fi
	damaged=$(jq '[.damaged[] | select(.file | test("capture"))] | length' "$tmp/$name.verify")
	if [ "$damaged" -eq 0 ]; then
		holds "$name: its capture is whole, so it was closed" \
			grep -qa '"type":"run.end"' "$tmp/$name"/capture-000001.pcapng*
		return
	fi
	is "$name: verify: exit" $status 5
	"$BUILD/sentinel" replay --json "$tmp/$name" >"$tmp/$name.json" 2>/dev/null
	is "$name: replay: exit" $? 5
	is "$name: cells contained or provisional" \
		"$(jq '[.cells[] | select(.verdict == "contained" or .verdict == "provisional")] | length' \
			"$tmp/$name.json")" 0
	sealed_part_verifies "$name"
}

# What is called sealed is so for sha256sum, too: the last seal in it says what is before it.
sealed_part_verifies() { # name
	local file offset bytes last

	read -r file offset bytes < <(jq -r '[.sealed.file, .sealed.offset, .bytes] | join(" ")' "$tmp/$1.verify")
	if [ "$offset" = 0 ] || [ "$offset" = null ]; then
		echo "ok: $1: nothing was sealed yet, and nothing is called so"
		return
	fi
	head -c "$offset" "$file" >"$tmp/sealed"
	last=$(grep -ao '{"type":"seal".*}$' "$tmp/sealed" | tail -1)
	is "$1: the last seal of the $offset of $bytes bytes, by sha256sum" \
		"$(head -c "$(jq -r .offset <<<"$last")" "$file" | sha256sum | cut -d' ' -f1)" \
		"$(jq -r .sha256 <<<"$last")"
}

says() { # name, pattern of its error
	holds "$1 says so: $(grep -m1 'error:' "$tmp/$1.err")" grep -qE "error: .*($2)" "$tmp/$1.err"
}

trial_is_there() {
	[ -d "$cgroup_root/sentinel-$(run_of "$daemon_pid")/trial-1" ]
}

# ---- writes that fail ----

# Calls of the daemon fail, once it is at work: of one kind, and those that concern one file.
failing() { # name, strace's injection[, file]
	local name=$1 injection=$2

	tagged begin_sentinel "$name" "${what[@]}"
	wait_until "trial 1 of $name" trial_is_there
	strace -f -qq -o "$tmp/$name.strace" ${3:+-P "$tmp/$name/$3"} -e "trace=${injection%%:*}" \
		-e "inject=$injection" -p "$daemon_pid" &
	background+=($!)
	finish_sentinel "$name"
	holds "$name: a call has failed" grep -q INJECTED "$tmp/$name.strace"
	is "$name: exit" "$code" 3
	says "$name" 'No space left|Input/output error|disk'
	evidence_is_honest "$name"
}

part=capture-000001.pcapng.part
failing capture-write write:error=ENOSPC "$part"
failing capture-second-write write:error=ENOSPC:when=2+ "$part"
failing capture-sync fsync:error=EIO "$part"
failing capture-rename renameat:error=ENOSPC:when=1
failing verdict-write write:error=ENOSPC verdict.json.part
failing verdict-sync fsync:error=EIO verdict.json.part
failing sums-write write:error=ENOSPC SHA256SUMS.part
failing signature-write write:error=ENOSPC SHA256SUMS.sig.part
failing signature-rename renameat:error=ENOSPC:when=4
holds "the capture has not the name of a whole one" test -e "$tmp/capture-rename/$part"
for name in verdict-write verdict-sync; do
	holds "$name: no half of a verdict" test ! -e "$tmp/$name/verdict.json"
done
holds "sums-write: no half of sums" test ! -e "$tmp/sums-write/SHA256SUMS"
for name in signature-write signature-rename; do
	holds "$name: no half of a signature" test ! -e "$tmp/$name/SHA256SUMS.sig"
done

# ---- the first bytes ----

# So many files fit: the folder of targets, one file after the other of what is tested, the capture.
for files in 3 8 9; do
	mkdir -p "$tmp/small"
	mount -t tmpfs -o "size=8m,nr_inodes=$files" none "$tmp/small"
	ln -s "$tmp/small" "$tmp/files-$files"
	tagged run_sentinel "files-$files" "${what[@]}"
	holds "room for $files files: exit is none of a result: $code" test "$code" -eq 2 -o "$code" -eq 3
	says "files-$files" 'No space left'
	evidence_is_honest "files-$files"
	rm "$tmp/files-$files"
	umount "$tmp/small"
done

# ---- SIGKILL ----

RANDOM=${SEED:=$$}
echo "SEED=$SEED"
for shot in 1 2 3 4; do
	name=killed-$shot
	tagged begin_sentinel "$name" "${what[@]}"
	read -r -t "$((RANDOM % 3)).$((RANDOM % 10))$((RANDOM % 10))" _ <>"$tmp/targets/state/never"
	kill -9 "$daemon_pid" 2>/dev/null
	finish_sentinel "$name"
	[ "$code" -eq 0 ] && [ -e "$tmp/$name/SHA256SUMS.sig" ] && continue # it was over
	is "$name: exit" "$code" 3
	evidence_is_honest "$name"
done

tagged run_sentinel next "${what[@]}"
run_is next valid
finish
