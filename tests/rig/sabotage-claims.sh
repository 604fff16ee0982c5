#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a target does not promise, what it can't be compared with, and what happens only now and then.
set -u
. "$(dirname "$0")/lib.sh"
need prlimit

without_off() { # name: what stands last in its file is gone
	sed -i '/^off:/,$d' "$(target "$1")"
}

# ---- it promises nothing: what crosses is shown, and neither blamed nor scored ----

make_given no-promise nobody 'namespaces: [user], uid: 65534' "$tmp/targets/opened" "$tmp/targets/opened"
sed 's/^name: .*/name: promise/' "$(target no-promise)" >"$(target promise)"
sed -i 's/claimed: true/claimed: false/' "$(target no-promise)"
run_sentinel no-promise -p udp-send -t "$(target no-promise)"
run_is no-promise valid
is "no-promise: nothing is scored: the exit code" "$code" 3
cell_is no-promise no-promise udp-send not-claimed
is "no-promise: on crossed" "$(cell_of no-promise no-promise udp-send .arms.on.crossed)" true
is "no-promise: grade" "$(cell_of no-promise no-promise udp-send .grade)" payload

run_sentinel promise -p udp-send -t "$(target promise)"
cell_is promise promise udp-send escaped
is "promise: the exit code" "$code" 1

# ---- it can't be loosened ----

make_target closed
make_given no-off nobody 'namespaces: [user, net], uid: 65534' "$tmp/targets/closed" "$tmp/targets/opened"
without_off no-off
run_sentinel no-off -p udp-send -t "$(target no-off)"
run_is no-off valid
is "no-off: the exit code" "$code" 4
cell_is no-off no-off udp-send provisional
is "no-off: what stopped it" "$(cell_of no-off no-off udp-send .stopped_by)" no-route
"$BUILD/sentinel" replay --accept provisional "$tmp/no-off" >/dev/null 2>&1
is "no-off: the exit code where provisional is accepted" "$?" 0

# Then what stopped the attempt must be known, and the attempt be seen: that the session says it ran
# is not enough. The probe has no descriptor left to make a socket with.
make_given no-room nobody 'uid: 65534' 'prlimit, --nofile=3' env
echo 'attempt: inferred' >>"$(target no-room)"
sed 's/^name: .*/name: no-room-no-off/' "$(target no-room)" >"$(target no-room-no-off)"
sed -i '/^off:/,/^  -/d' "$(target no-room-no-off)"
run_sentinel inferred -p udp-send -t "$(target closed)" -t "$(target no-room-no-off)"
run_is inferred valid
cell_is inferred closed udp-send contained
is "no-room-no-off: the attempt is" "$(cell_of inferred no-room-no-off udp-send .attempt)" inferred
cell_is inferred no-room-no-off udp-send inconclusive stop-unknown no-attempt-seen
is "inferred: the exit code" "$code" 3

# ---- one of two ----

make_target second-crosses
sed -i 's/^expect: .*/expect: {namespaces: [user], uid: 65534}/' "$(target second-crosses)"
make_target second-fails
run_sentinel one-of-two -p udp-send --lanes 1 --repeat 2 -t "$(target second-crosses)" \
	-t "$(target second-fails)"
run_is one-of-two valid
is "second-crosses was started, twice in each round" "$(said second-crosses)" 4
is "second-fails was started, twice in each round" "$(said second-fails)" 4
cell_is one-of-two second-crosses udp-send escaped
is "one-of-two: how many crossed" \
	"$(cell_of one-of-two second-crosses udp-send '"\(.repeats.crossed) of \(.repeats.n)"')" "1 of 2"
cell_is one-of-two second-fails udp-send inconclusive unstable sandbox-not-alive
is "one-of-two: the exit code" "$code" 1

for run in no-promise promise no-off inferred one-of-two; do
	replays $run
done
finish
