#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a user looks at before a run: the lists as JSON, a target file to begin with, and what
# `targets check` finds in one before it costs a run.
set -u
. "$(dirname "$0")/lib.sh"
need jq unshare
[ "$(id -u)" -eq 0 ] || skip "root"
chmod 755 "$tmp"
sentinel=$BUILD/sentinel

# ---- lists ----

for list in targets probes doctor; do
	"$sentinel" $list --json >"$tmp/$list.json"
	# shellcheck disable=SC2016 # jq's
	is "$list --json: an object with schema and type on each line" \
		"$(jq -s 'all(.schema == 1 and (.type | length > 0)) and length > 3' "$tmp/$list.json")" true
	is "$list --json: one line each" "$(wc -l <"$tmp/$list.json")" "$(jq -s length "$tmp/$list.json")"
done
is 'probes of a family' "$("$sentinel" probes --json @dns | jq -r '.families[]' | sort -u)" '@dns'
is 'probes by glob and id' "$("$sentinel" probes --json 'tcp[6]*' udp-send | jq -r .id | paste -sd' ')" \
	'tcp6-connect udp-send'
is 'targets by glob' "$("$sentinel" targets --json 'unshare-*' | jq -r .name)" unshare-net
"$sentinel" probes --json nothing >/dev/null 2>"$tmp/err"
is 'no such probe: exit' $? 2
is 'no such probe: an error as JSON' "$(jq -r .level "$tmp/err")" error

# ---- a file to begin with ----

"$sentinel" targets new mine "$tmp/mine.yaml"
is 'targets new: exit' $? 0
is 'targets new: on standard output the same' "$("$sentinel" targets new mine | sha256sum)" \
	"$(sha256sum <"$tmp/mine.yaml")"
echo 'precious' >"$tmp/there.yaml"
"$sentinel" targets new mine "$tmp/there.yaml" 2>/dev/null
is 'targets new: never over a file: exit' $? 2
is 'targets new: never over a file' "$(cat "$tmp/there.yaml")" precious
"$sentinel" targets new '../mine' >"$tmp/out" 2>/dev/null
is 'targets new: a name that is none' $? 2
holds 'targets new: and nothing is written' test ! -s "$tmp/out"

# ---- what check finds ----

check() { # what, exit code, pattern; the file is $tmp/checked.yaml
	"$sentinel" targets check "$tmp/checked.yaml" >"$tmp/out" 2>&1
	is "$1: exit" $? "$2"
	holds "$1: says so" grep -qE -- "$3" "$tmp/out"
}

edit() { # sed script, out of the starter
	sed -E "$1" "$tmp/mine.yaml" >"$tmp/checked.yaml"
}

edit ''
check 'the starter' 0 'ready to be run'
holds 'the starter: what off takes away' grep -q 'off 1 .*: without --net$' "$tmp/out"
holds 'the starter: its version' grep -q 'version .*util-linux' "$tmp/out"
holds 'the starter: no note' test "$(grep -cE 'note|LACKS|MISTAKE' "$tmp/out")" -eq 0
is 'the starter: what is claimed' "$(grep -c ' claimed .*compared with off 1' "$tmp/out")" \
	"$("$sentinel" probes --json @tcp @udp @dns | wc -l)"
edit 's/^(  - .*run: \[unshare, --user,)/\1 --net,/'
check 'an off that loosens nothing' 2 'MISTAKE .*off 1 loosens nothing'
edit 's/"@dns"/"@dsn"/'
check 'a claim that is misspelt' 2 \
	"checked.yaml:$(grep -n '@dsn' "$tmp/checked.yaml" | cut -d: -f1):[0-9]+: .*'@dsn'"
edit 's/^needs: .*/needs: [no-such-command]/'
check 'what it needs is not here' 3 'LACKS .*no-such-command'
edit 's/^version: .*/version: [unshare, --no-such-option]/'
check 'a version command that fails' 3 "LACKS .*'unshare' ended with status 1"
edit 's/^version: .*/version: ["true"]/'
check 'a version command that says nothing' 3 "LACKS .*'true' printed nothing"
edit 's/^expect: .*/expect: {no_new_privs: false}/'
check 'an expect that fits everybody' 0 'note .*never entered'
edit '/^off:/,/^  - /d'
check 'no off' 0 'claimed +provisional at best'
edit 's/^run: .unshare/run: [.\/launcher/'
check 'a launcher that is not beside the file' 3 "LACKS .*$tmp/\./launcher of run"
cp "$(command -v unshare)" "$tmp/launcher"
check 'a launcher beside the file' 0 'ready to be run'
mkdir -m 700 "$tmp/closed"
mv "$tmp/launcher" "$tmp/closed"
edit 's/^run: .unshare/run: [closed\/launcher/'
check 'a launcher that the user can not reach' 3 "LACKS .*can't be reached by the user nobody"
edit "\$a allowed: ['*']\nsteady: 1500ms"
check 'an allowed destination, and a steady state' 0 'steady +each round is made twice: .* 1500 ms'
is 'an allowed destination: of the probes that could go there' \
	"$(sed -nE 's/^ +([^ ]+) .*; what is allowed must answer$/\1/p' "$tmp/out" |
		grep -cE '^(tcp-connect|dns-resolver|metadata-gcp|unix-path|env-credential)$')" 2
holds 'an allowed destination that the policy is not told' grep -q "note .*'allowed', and neither" "$tmp/out"
edit 's/^run: .unshare/run: [unshare, "--setgroups={allowed_name}"/'
check 'the same the other way round' 0 "note .*{allowed_name} in 'run', and no 'allowed'"
edit "s/^run: .unshare/run: [unshare, '--setgroups={allowed}'/; \$a allowed: ['*']\nsteady: 1500ms"
check 'both' 0 'ready to be run'
holds 'both: no such note' test "$(grep -c 'note .*{allowed}' "$tmp/out")" -eq 0
"$sentinel" targets --json "$tmp/checked.yaml" >"$tmp/out"
is 'targets --json: both' "$(jq -c '[.allowed, .steady_ms]' "$tmp/out")" '[["*"],1500]'
edit "\$a allowed: [udp-send, '@metadata']"
check 'an allowed destination where none could be' 2 \
	"checked.yaml:[0-9]+:21: '@metadata' has no allowed destination"
printf 'schema: 1\n' >"$tmp/checked.yaml"
check 'a broken file' 2 "checked.yaml:1:1: 'name' is missing"

# ---- a run says it too ----

edit 's/^version: .*/version: ["false"]/'
"$sentinel" run -q -o "$tmp/run" -p udp-send --arms on -t "$tmp/checked.yaml" >/dev/null 2>"$tmp/err"
holds 'run: warns of a version that is not known' \
	grep -qE "warn: mine: its version is not known: 'false' ended with status 1" "$tmp/err"
is 'run: warns of no other' "$(grep -c 'its version' "$tmp/err")" 1
edit 's/^run: .*/run: [sh, -c, "echo no room in here; exit 1", x, "{cmd}"]/'
"$sentinel" run -q -o "$tmp/no-start" -p udp-send --arms on -t "$tmp/checked.yaml" >"$tmp/out" 2>/dev/null
holds 'run: the table shows why a sandbox did not start' \
	grep -qxE " +it said: 'no room in here ?'" "$tmp/out"
is 'run: so does verdict.json, where it did not' \
	"$(jq -r '[.cells[] | select(.start_error != null) | .target] | unique | join(" ")' \
		"$tmp/no-start/verdict.json")" mine
"$sentinel" explain "$tmp/no-start" claims-all-blocks-nothing udp-send >"$tmp/out"
holds 'explain: packets with their addresses and the token' \
	grep -qE 'tcx/ingress@world .*packet: 10\.117\.[0-9.]+:[0-9]+ to 203\.0\.113\.[0-9]+:9001, udp, [0-9]+ bytes of payload, the token in hex' \
	"$tmp/out"
finish
