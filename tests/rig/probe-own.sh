#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A user's own probe is judged as ours are: by what the kernel saw. Whatever it prints counts for
# nothing, one that attempts nothing fails its own test without costing the others theirs, and its
# copies come and go with the runs that use them.
# shellcheck disable=SC2317 # functions are called by name
set -u
if [ "${1:-}" != inside ] && [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	exec unshare --mount -- "$0" inside
fi
. "$(dirname "$0")/lib.sh"
need bash jq perl unshare
[ "${1:-}" = inside ] || skip "a mount namespace"

# Nothing of this machine's own copies is touched.
copies=/var/lib/sentinel/bin
mkdir -p /var/lib/sentinel
mount -t tmpfs -o mode=755 none /var/lib/sentinel
probes=$rig_folder/probes

# ---- honest ones ----

sed 's/"@tcp", "@udp", "@dns"/bash-tcp, "@udp"/; s/^name: .*/name: of-my-own/' \
	"$rig_folder/../../policies/targets/unshare-net.yaml" >"$(target of-my-own)"
mkdir -p "$copies"
mkdir "$copies/forgotten" "$copies/in-use" "$copies/recent"
touch "$copies/forgotten/file"
touch -d '2 days ago' "$copies/forgotten" "$copies/in-use"
flock -s "$copies/in-use" sleep 60 &
background+=($!)
wait_until 'the lock' sh -c "! flock -nx $copies/in-use true"

make_given open nobody 'namespaces: [user], uid: 65534' 'unshare, --user, --' 'unshare, --user, --'
echo 'allowed: [bash-tcp, sh-udp]' >>"$(target open)"
run_sentinel honest -t unshare-net -t "$(target of-my-own)" -t "$(target open)" -p "$probes/bash-tcp.yaml" \
	-p "$probes/sh-udp.yaml" -p "$probes/bash-tcp6.yaml" -p "$probes/perl-icmp.yaml" -p tcp-connect
run_is honest valid
for probe in bash-tcp sh-udp; do
	cell_is honest claims-all-blocks-nothing $probe escaped
	cell_is honest deny-all $probe contained
	cell_is honest unshare-net $probe contained
	is "honest: $probe: what unshare-net stopped it with" \
		"$(cell_of honest unshare-net $probe .stopped_by)" no-route
	is "honest: $probe: its answer came back" \
		"$(cell_of honest claims-all-blocks-nothing $probe .arms.on.answered)" true
	is "honest: $probe: it was answered where a policy may let it through" \
		"$(cell_of honest open $probe .arms.allowed.answered)" true
	is "honest: $probe: its own view" "$(cell_of honest claims-all-blocks-nothing $probe .probe_view)" \
		answered
done
cell_is honest unshare-net bash-tcp6 contained
# What needs a capability has it where the instrument is tested, and not in a target.
cell_is honest claims-all-blocks-nothing perl-icmp escaped
cell_is honest deny-all perl-icmp contained
cell_is honest unshare-net perl-icmp inconclusive host-default
is 'honest: bash-tcp: its own view of what stopped it' \
	"$(cell_of honest unshare-net bash-tcp .probe_view)" exit-1
cell_is honest of-my-own bash-tcp contained
cell_is honest of-my-own tcp-connect not-claimed
replays honest

# ---- what the bundle keeps of them ----

is 'its file is in the bundle' "$(sha256sum <"$tmp/honest/probes/bash-tcp.yaml")" \
	"$(sha256sum <"$probes/bash-tcp.yaml")"
is "its program's digest is" \
	"$(jq -r '.[] | select(.id == "bash-tcp") | ."process.hash.sha256"' "$tmp/honest/probes.json")" \
	"$(sha256sum "$probes/bash-tcp" | cut -d' ' -f1)"
holds 'the sums cover it' grep -q ' probes/bash-tcp.yaml$' "$tmp/honest/SHA256SUMS"

# ---- its copies ----

is 'one copy' "$(find "$copies" -maxdepth 1 -name 'own-bash-tcp-*' | wc -l)" 1
holds 'what nobody used for a day is gone' test ! -e "$copies/forgotten"
holds 'what somebody holds is not' test -d "$copies/in-use"
holds 'what was used today is not' test -d "$copies/recent"
holds 'nothing half-made is left' test -z "$(find "$copies" -name '.copy-*')"

# ---- one that only talks ----

run_sentinel talk -t unshare-net -p "$probes/says-contained.yaml" -p tcp-connect
run_is talk valid
cell_is talk unshare-net tcp-connect contained
cell_is talk unshare-net says-contained inconclusive target-unreachable-outside \
	no-attempt-seen
is 'talk: its answer has no key' \
	"$(cell_of talk claims-all-blocks-nothing says-contained .arms.on.answered)" false
is 'talk: exit' "$code" 3
is 'one copy of each' "$(find "$copies" -maxdepth 1 -name 'own-*' | wc -l)" 4
holds 'no probe is left behind' sh -c "! pgrep -f '^yes SENTINEL1:ran'"

# ---- one that works outside a sandbox alone ----

cp "$probes/first-and-last" "$tmp/targets"
# The baseline's ends, on and on2 of the fake, off of what never starts, and all of two more.
sed "s|@STATE@|$tmp/targets/state/calls|; s|@LAST@|$((2 + 2 + 1 + 6))|" "$probes/first-and-last.yaml" \
	>"$tmp/targets/first-and-last.yaml"
run_sentinel odd --lanes 1 -t unshare-net -p "$tmp/targets/first-and-last.yaml" -p udp-send
run_is odd valid
is 'odd: how often it was called' "$(stat -c %s "$tmp/targets/state/calls")" 11
cell_is odd unshare-net udp-send contained
cell_is odd unshare-net first-and-last inconclusive self-test-failed

# ---- mistakes ----

says() { # what, pattern, arguments of run...
	local what=$1 pattern=$2

	shift 2
	run_sentinel mistake "$@"
	is "$what: exit" "$code" 2
	holds "$what: says so" grep -qE "$pattern" "$tmp/mistake.err"
	holds "$what: no folder" test ! -e "$tmp/mistake"
}

sed 's/^id: .*/id: udp-send/' "$probes/sh-udp.yaml" >"$tmp/one.yaml"
says 'the id of one of ours' "one.yaml:4:5: 'udp-send' is a probe of ours" -p "$tmp/one.yaml"
sed 's/^about: .*/about: another/' "$probes/sh-udp.yaml" >"$tmp/two.yaml"
says 'two of one id' "a probe 'sh-udp' already" -p "$probes/sh-udp.yaml" -p "$tmp/two.yaml"
says 'a claim on a probe that is not named' "of-my-own.yaml:[0-9]+:[0-9]+: no probe is 'bash-tcp'" \
	-t "$(target of-my-own)" -p udp-send
"$BUILD/sentinel" targets check -p "$probes/bash-tcp.yaml" "$(target of-my-own)" >"$tmp/out" 2>&1
is 'targets check with its file: exit' $? 0
holds 'targets check counts it in' grep -qE 'bash-tcp +claimed +compared with off 1' "$tmp/out"
is 'probes lists it beside ours' "$("$BUILD/sentinel" probes -p "$probes/bash-tcp.yaml" | grep -c '^[a-z]')" \
	$(($("$BUILD/sentinel" probes | grep -c '^[a-z]') + 1))
is 'probes lists it' "$("$BUILD/sentinel" probes --json "$probes/bash-tcp.yaml" | jq -r '"\(.id) \(.builtin)"')" \
	'bash-tcp false'
finish
