#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is missing or wrong before a run can begin is one line, with the remedy, and the exit code that
# the manual page says; and nothing is left, an empty folder for the bundle neither.
# shellcheck disable=SC2317 # functions are called by name
set -u
if [ "${1:-}" != inside ] && [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	exec unshare --mount -- "$0" inside
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/life.sh"
need bpftool mount setpriv
[ "${1:-}" = inside ] || skip "a mount namespace"
[ -n "$cgroup_root" ] || skip "cgroup v2"

# An argp error has a second line, about --help.
says() { # what, exit code, pattern, command...
	local what=$1 code=$2 pattern=$3 err=$tmp/err status=0

	shift 3
	tagged "$@" >"$tmp/out" 2>"$err" </dev/null || status=$?
	is "$what: exit" "$status" "$code"
	if [ "$(grep -vc '^Try ' "$err")" -eq 1 ] && grep -qE "$pattern" "$err"; then
		ok "$what: $(head -1 "$err")"
	else
		fail "$what: not one line with '$pattern': $(paste -sd'|' "$err")"
	fi
	holds "$what: nothing on standard output" test ! -s "$tmp/out"
	holds "$what: no folder is left" test ! -e "$tmp/bundle"
	rm -rf "$tmp/bundle"
}

run=("$BUILD/sentinel" run -q -o "$tmp/bundle")

copy() { # folder: the programs and the targets
	mkdir -p "$1/build"
	cp "$BUILD"/sentinel "$BUILD"/sentineld "$BUILD"/sentinel-probe "$BUILD"/sentinel-collector \
		"$BUILD"/sentinel-confine "$1/build"
	cp -r "$rig_folder/../../policies" "$1"
}

# Each is a command that is run where something is not as it should be.
without_cgroup2() {
	mount -t tmpfs none "$cgroup_root"
	says 'no cgroup v2' 3 'error: .*cgroup v2.*mount -t cgroup2' "${run[@]}" -p udp-send
	umount "$cgroup_root"
}

without_btf() {
	local btf=/sys/kernel/btf/vmlinux

	[ -e $btf ] || skip "BTF of the kernel"
	mount --bind /dev/null $btf
	says 'no BTF' 3 'error: .*BTF' "${run[@]}" -p udp-send
	umount $btf
}

without_program() { # program, exit code
	copy "$tmp/$1-missing"
	rm "$tmp/$1-missing/build/$1"
	says "no $1" "$2" "error: .*$1" "$tmp/$1-missing/build/sentinel" run -q -p udp-send \
		-o "$tmp/bundle"
}

mkdir -p "$lock_folder"
chmod 755 "$tmp"
copy "$tmp/all"
mkdir -p "$tmp/alone/build/bin"
cp "$BUILD/sentinel" "$tmp/alone/build/bin"
begin_census

says 'not root' 2 'root.*sudo' setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$tmp/all/build/sentinel" run -q -o "$tmp/bundle"
says 'no such target' 2 "error: .*'nowhere'.*sentinel targets" "${run[@]}" -t nowhere
says 'no such target file' 2 'error: .*nowhere.yaml.*No such file' "${run[@]}" -t "$tmp/nowhere.yaml"
sed 's/^about: .*/about: another sandbox of that name/' "$rig_folder/../../policies/targets/unshare-net.yaml" \
	>"$tmp/namesake.yaml"
says 'two targets of one name' 2 "error: .*'unshare-net' already, from .*name of its own" \
	"${run[@]}" -t unshare-net -t "$tmp/namesake.yaml"
sed 's/^about: .*/about: no calibrator/; s/^name: .*/name: deny-all/' \
	"$rig_folder/../../policies/targets/unshare-net.yaml" >"$tmp/namesake.yaml"
says 'the name of a calibrator' 2 "error: .*'deny-all' already, from " \
	"${run[@]}" -t "$tmp/namesake.yaml"
says 'no such probe' 2 "error: .*'nothing'.*sentinel probes" "${run[@]}" -p nothing
says 'no target of that kind' 2 "error: .*'now\\*'.*sentinel targets" "${run[@]}" -t 'now*'
sed 's/"@dns"/"@dsn"/; s/^name: .*/name: misspelt/' "$rig_folder/../../policies/targets/unshare-net.yaml" \
	>"$tmp/misspelt.yaml"
says 'a claim that matches no probe' 2 "misspelt.yaml:[0-9]+:[0-9]+: .*'@dsn'.*sentinel probes" \
	"${run[@]}" -t "$tmp/misspelt.yaml"
says 'no such option' 2 "sentinel run: .*'--nothing'" "${run[@]}" --nothing
says 'an option without its value' 2 'sentinel run: .*requires an argument' "${run[@]}" -t
says 'a number out of range' 2 'sentinel run: .*--lanes.* 1 to ' "${run[@]}" --lanes 1000
says 'a word too much' 2 "sentinel run: 'word'" "${run[@]}" word
says 'no such command' 2 "'walk'.*sentinel --help" "$BUILD/sentinel" walk
without_cgroup2
without_btf
without_program sentineld 3
without_program sentinel-probe 3
without_program sentinel-confine 3
without_program sentinel-collector 3
says 'no policies' 2 'error: .*policies/targets' "$tmp/alone/build/bin/sentinel" run -q \
	-o "$tmp/bundle"
chmod 1777 "$tmp/all/policies/targets"
says 'policies that anybody may write' 2 'error: .*policies/targets' "$tmp/all/build/sentinel" run -q \
	-o "$tmp/bundle"
nothing_left "of runs that never began"
finish
