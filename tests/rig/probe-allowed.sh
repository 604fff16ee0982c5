#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each attempt of ours that can go to what a policy may let through is answered there, at the start and
# in the steady state. It has as long for it as for an attempt in `on`, and only with the control on does
# anybody wait.
set -u
. "$(dirname "$0")/lib.sh"
need unbound

make_given open nobody 'namespaces: [user], uid: 65534' 'unshare, --user, --' 'unshare, --user, --'
printf '%s\n' 'allowed: ["*"]' 'steady: 200ms' >>"$(target open)"
run_sentinel open -t "$(target open)"
run_is open valid

"$BUILD/sentinel" probes --json @tcp @udp @dns @http @icmp | jq -r .id | sort >"$tmp/can"
verdict_of open '.cells[] | select(.target == "open" and .arms.allowed.answered) | .probe' | sort >"$tmp/answered"
is "answered at the allowed destination" "$(paste -sd' ' "$tmp/answered")" "$(paste -sd' ' "$tmp/can")"
is "its token there is no other way out" \
	"$(verdict_of open '[.cells[] | select(.target == "open") | .via | select(. != null)] | length')" 0
is "attempts with but one destination have no such arm" \
	"$(verdict_of open '[.cells[] | select(.target == "open" and (.probe | test("^(metadata|unix|host|sibling|env|file|proc)")))
		| .arms.allowed | select(. != null)] | length')" 0

# The words of the session's command, by arm: how long an attempt may take, and how late it is.
"$BUILD/sentinel" explain "$tmp/open" open tcp-connect >"$tmp/lines"
words_of() { # arm, parameter
	grep -E "#[0-9]+ +$1 [0-9]+ +A +tp_btf/sched_process_exec +unshare [0-9]+ +exec by 'sentinel'" "$tmp/lines" |
		grep -oE "$2=[0-9]+" | sort | paste -sd' '
}
is "allowed: as long as on" "$(words_of allowed timeout_ms)" "$(words_of on timeout_ms)"
for arm in on on2 allowed; do
	is "$arm: the second one waits" "$(words_of $arm wait_ms)" wait_ms=200
done
is "off: does not wait" "$(words_of off wait_ms)" ''
is "off: was made twice" "$(words_of off timeout_ms | wc -w)" 2
replays open
finish
