# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the sabotage tests share. Sourced, after `set -u`, by tests/rig/sabotage-*.sh.
#
# A test runs the sentinel on the real rig with a lie in it and asserts what the verdict must be; one
# line per assertion. Exit 0, 1 where an assertion failed, 77 where something is missing here (named
# in the last line). BUILD: where the programs are, build/ by default.
#
# Targets are templates, tests/rig/targets/NAME.yaml with their wrappers beside them: all are copied
# into a folder that a sandbox's user can read, @DIR@ becoming that folder. A wrapper leaves word of
# what it did in @DIR@/state, so that a test can assert that the lie was told.

rig_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
reference_folder=$(cd "$rig_folder/../reference-targets" && pwd)
BUILD=$(realpath "${BUILD:-$rig_folder/../../build}")
failures=0
background=()

skip() { # what is missing
	echo "skipped: $*"
	exit 77
}

need() { # commands
	local command

	for command in "$@"; do
		command -v "$command" >/dev/null || skip "$command is not installed"
	done
}

# BUNDLES: a folder that keeps the bundles of all tests, for scripts/mutants: each guard of the judge
# must be missed by one of them. A flood's is too big to be judged again for each guard.
keep_bundles() {
	local bundle kept

	[ -n "${BUNDLES:-}" ] || return 0
	mkdir -p "$BUNDLES"
	cp "$rig_folder/unit-only" "$BUNDLES/unit-only"
	for bundle in "$tmp"/*/; do
		[ -e "$bundle/verdict.json" ] || continue
		[ "$(du -sm "$bundle" | cut -f1)" -le 20 ] || continue
		kept=$BUNDLES/$(basename "$0" .sh)-$(basename "$bundle")
		rm -rf "$kept"
		cp -r "$bundle" "$kept"
	done
}

clean_up() {
	local pid

	keep_bundles
	for pid in ${background[@]+"${background[@]}"}; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$tmp"
}

# ---- assertions ----

ok() { # what holds
	echo "ok: $*"
}

fail() { # what does not
	echo "FAILED: $*"
	failures=$((failures + 1))
}

is() { # what, the value, what it must be
	if [ "$2" = "$3" ]; then
		ok "$1: $2"
	else
		fail "$1: $2, not $3"
	fi
}

holds() { # what, command...: the command succeeds
	local what=$1

	shift
	if "$@" >/dev/null 2>&1; then
		ok "$what"
	else
		fail "$what"
	fi
}

finish() {
	[ "$failures" -eq 0 ] || echo "$failures failed"
	[ "$failures" -eq 0 ]
	exit
}

# Waits for a condition, 10 s at most; what is the message where it never comes true.
wait_until() { # what, command...
	local what=$1 until=$((SECONDS + 10))

	shift
	while ! "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $until ]; then
			fail "waited in vain: $what"
			return 1
		fi
		read -r -t 0.02 _ <>"$tmp/targets/state/never" || true
	done
}

# ---- runs ----
#
# Each has a name; its bundle is $tmp/NAME, what it printed $tmp/NAME.out and $tmp/NAME.err.

# Its exit code is in $code.
# shellcheck disable=SC2034
run_sentinel() { # name, arguments of `sentinel run`...
	local name=$1

	shift
	code=0
	"${sentinel:-$BUILD/sentinel}" run -q -o "$tmp/$name" "$@" \
		>"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null || code=$?
	show_trouble "$name"
}

# In the background: $sentinel_pid, and $daemon_pid once it has one. finish_sentinel waits for it.
begin_sentinel() { # name, arguments...
	local name=$1

	shift
	"${sentinel:-$BUILD/sentinel}" run -q -o "$tmp/$name" "$@" \
		>"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
	sentinel_pid=$!
	background+=("$sentinel_pid")
	wait_until "the daemon of $name" pgrep -x -P "$sentinel_pid" sentineld
	daemon_pid=$(pgrep -x -P "$sentinel_pid" sentineld)
}

# shellcheck disable=SC2034
finish_sentinel() { # name
	code=0
	wait "$sentinel_pid" || code=$?
	show_trouble "$1"
}

show_trouble() { # name: a run without a verdict says why
	[ -e "$tmp/$1/verdict.json" ] || sed "s/^/    $1: /" "$tmp/$1.err"
}

verdict_of() { # name, jq filter
	jq -r "$2" "$tmp/$1/verdict.json" 2>/dev/null
}

cell_of() { # name, target, probe, jq filter on the cell
	jq -r --arg t "$2" --arg p "$3" \
		".cells[] | select(.target == \$t and .probe == \$p) | $4" \
		"$tmp/$1/verdict.json" 2>/dev/null
}

# The verdict, and that each of these reasons is among the cell's.
cell_is() { # name, target, probe, verdict, reason...
	local name=$1 target=$2 probe=$3 got reason

	got=$(cell_of "$name" "$target" "$probe" '"\(.verdict) [\(.reasons | join(" "))]"')
	if [ "${got%% *}" != "$4" ]; then
		fail "$name: $target x $probe: $got, not $4"
		return
	fi
	shift 4
	for reason in "$@"; do
		if [[ ! ${got#* } =~ [[\ ]"$reason"[]\ ] ]]; then
			fail "$name: $target x $probe: $got lacks $reason"
			return
		fi
	done
	ok "$name: $target x $probe: $got"
}

# Verdict, where it stopped and by what: "contained at A: no-route".
stopped_is() { # name, target, probe, what it must be
	is "$1: $2 x $3" \
		"$(cell_of "$1" "$2" "$3" '"\(.verdict) at \(.stopped_at): \(.stopped_by)"')" "$4"
}

# Nothing else than these reasons.
cell_only() { # name, target, probe, reason...
	local name=$1 target=$2 probe=$3 got want

	shift 3
	got=$(cell_of "$name" "$target" "$probe" '.reasons | sort | join(" ")')
	want=$(printf '%s\n' "$@" | sort | paste -sd' ')
	is "$name: $target x $probe: its only reasons" "$got" "$want"
}

run_is() { # name, valid or rejected, rejection codes...
	local name=$1 status=$2

	shift 2
	is "$name: the run" "$(verdict_of "$name" '"\(.status) \(.rejected | join(" "))"')" "$status $*"
}

# No cell of a scored target is contained.
none_contained() { # name
	is "$1: contained cells of targets" \
		"$(verdict_of "$1" '[.cells[] | select(.role == "target" and .verdict == "contained")] | length')" 0
}

replays() { # name: from the capture alone, the same verdict.json byte for byte
	holds "$1: replay gives the same bytes" \
		grep -q 'byte for byte' <("$BUILD/sentinel" replay "$tmp/$1" 2>&1)
}

# ---- targets and their wrappers ----

target() { # name: the path of its file
	echo "$tmp/targets/$1.yaml"
}

# A target whose command is started by the wrapper of that name, and off by another.
make_target() { # name, off
	sed "s|@NAME@|$1|g; s|@OFF@|${2:-opened}|" "$tmp/targets/wrapped.yaml" >"$(target "$1")"
}

# A target that is given all: whose it is, what is expected of it, and how it is run in on and in off.
make_given() { # name, user, expect, run, off
	sed "s|@NAME@|$1|; s|@USER@|$2|; s|@EXPECT@|$3|; s|@RUN@|$4|; s|@OFF@|$5|" \
		"$tmp/targets/given.yaml" >"$(target "$1")"
}

# A target for one way of a wrapper that knows several. What it runs in the end is closed, or opened.
make_way() { # wrapper, way, user
	local uid

	uid=$(id -u "${3:-nobody}")
	make_given "$1-$2" "${3:-nobody}" "namespaces: [user, net], uid: $uid" \
		"$tmp/targets/$1, $2" "$tmp/targets/opened"
}

# Targets of root, each with one real blocker (targets/blocks): their names are its ways. In $targets as
# options of a run.
make_blockers() { # way...
	local way

	targets=()
	for way; do
		make_given "$way" root "namespaces: [net], uid: 0" "$tmp/targets/blocks, $way" /usr/bin/env
		targets+=(-t "$(target "$way")")
	done
}

# A helper of the tests that is written in C, beside the wrappers.
compile() { # name
	need "${CC:-cc}"
	"${CC:-cc}" -O2 -Wall -Wextra -Werror -o "$tmp/targets/$1" "$tmp/targets/$1.c"
}

# What a wrapper left in the state folder: how many lines, 0 where there is no such file.
said() { # word
	local file=$tmp/targets/state/$1

	if [ -e "$file" ]; then wc -l <"$file"; else echo 0; fi
}

# The wrapper hold waits at its first start until it is released; meanwhile the test does its mischief.
# By a name of its own it can wait at several places.
again_at() { # place
	rm -rf "$tmp/targets/state/$1"
}

wait_at() { # place
	wait_until "a sandbox is $1" test -s "$tmp/targets/state/$1/pid"
	held_pid=$(cat "$tmp/targets/state/$1/pid" 2>/dev/null)
}

release_at() { # place
	touch "$tmp/targets/state/$1/release"
}

hold_again() {
	again_at held
}

wait_held() {
	wait_at held
}

release_held() {
	release_at held
}

# What the session that is held was given, by the name of its parameter: to, port, probe.
held_argument() { # name
	local parent

	parent=$(awk '$1 == "PPid:" { print $2 }' "/proc/$held_pid/status")
	tr '\0' '\n' <"/proc/$parent/cmdline" | sed -n "s/^$1=//p"
}

# The sandboxes of known truth, and what they are made of, beside the others.
copy_reference() {
	local file name

	for file in "$reference_folder"/*; do
		name=$tmp/targets/${file##*/}
		sed "s|@DIR@|$tmp/targets|g" "$file" >"$name"
		[ ! -x "$file" ] || chmod 755 "$name"
	done
}

copy_targets() {
	local file name

	mkdir -p "$tmp/targets/state"
	chmod 1777 "$tmp/targets/state"
	mkfifo -m 666 "$tmp/targets/state/never"
	for file in "$rig_folder"/targets/*; do
		name=$tmp/targets/${file##*/}
		sed "s|@DIR@|$tmp/targets|g" "$file" >"$name"
		[ "${file%.yaml}" != "$file" ] || chmod 755 "$name"
	done
}

# ---- inside a lane ----

# The network namespaces that the daemon holds and in which that interface is, one path a line: bnd0
# is a lane's host, box0 its box, wld0 its world (user/rig/rig.h).
lanes_with() { # interface
	local fd name
	declare -A known=()

	for fd in /proc/"$daemon_pid"/fd/*; do
		name=$(readlink "$fd")
		[[ $name == net:* && -z ${known[$name]:-} ]] || continue
		known[$name]=1
		! nsenter --net="$fd" grep -q "^ *$1:" /proc/self/net/dev || echo "$fd"
	done
}

# Of the lane that the held sandbox is in, the namespace with that interface: both ends of a lane's
# first link have its number, 10.117.LANE.1 and .2.
lane_of_held() { # interface: bnd0 or box0
	local lane address

	address=$(nsenter --net="/proc/$held_pid/ns/net" ip -o -4 addr show dev box0 |
		awk '{ sub("[0-9]*/.*", "", $4); print $4 }')
	for lane in $(lanes_with "$1"); do
		! nsenter --net="$lane" ip -o -4 addr show dev "$1" | grep -qF "$address" || echo "$lane"
	done
}

# Datagrams to nobody, one after the other: from a lane's host they pass W alone.
send_crowd() { # network namespace, how many
	nsenter --net="$1" perl -MSocket -e 'socket(my $s, PF_INET, SOCK_DGRAM, 0) or die;
		send($s, "crowd", 0, pack_sockaddr_in(7, inet_aton("203.0.113.99"))) for 1 .. shift' "$2"
}

# Links of the daemon of this run alone, by the name of their program: descriptor and id, one a line.
links_of() { # program
	local programs

	programs=$(bpftool -j prog show | jq -r --arg name "$1" '.[] | select(.name == $name) | .id')
	awk -v programs="$programs" '
		BEGIN { n = split(programs, list); for (i = 1; i <= n; i++) wanted[list[i]] = 1 }
		FNR == 1 { link = "" }
		$1 == "link_id:" { link = $2 }
		$1 == "prog_id:" && link != "" && $2 in wanted { sub(".*/", "", FILENAME); print FILENAME, link }
	' /proc/"$daemon_pid"/fdinfo/* 2>/dev/null
}

# How many links of a program this run held; now it holds none.
detach() { # program
	local fd link n=0

	while read -r fd link; do
		# A tracing hook can't be detached; it goes with the descriptor.
		if [ "$1" = snt_exec ]; then
			"$tmp/targets/close-fd" "$daemon_pid" "$fd" && n=$((n + 1))
		else
			bpftool link detach id "$link" && n=$((n + 1))
		fi
	done < <(links_of "$1")
	echo $n
}

# A run in which all links of a program are detached while a sandbox is held: before its first attempt,
# or, where the target asks hold for its version, before any trial.
run_detached() { # name, program or '', how many links it has, target, arguments...
	local name=$1 program=$2 links=$3 target=$4

	shift 4
	hold_again
	begin_sentinel "$name" -p udp-send --lanes 4 -t unshare-net -t "$(target "$target")" "$@"
	wait_held
	if [ -n "$program" ]; then
		is "$name: links of $program detached" "$(detach "$program")" "$links"
	fi
	release_held
	finish_sentinel "$name"
}

[ "$(id -u)" -eq 0 ] || skip "root"
need jq pgrep nsenter unshare
[ -x "$BUILD/sentinel" ] || skip "$BUILD/sentinel is not built"
tmp=$(mktemp -d)
export SENTINEL_KEY=$tmp/evidence/evidence.key # not the machine's own
chmod 755 "$tmp"
trap clean_up EXIT
copy_targets
