#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A token matcher that never matches, and one that always does: the instrument's own tests reject the
# run. MUTANT_BUILD: a build with -DSENTINEL_MUTANTS, in which SENTINEL_MUTANT names the guard that
# is left out (user/judge/guard.h).
set -u
. "$(dirname "$0")/lib.sh"
[ -n "${MUTANT_BUILD:-}" ] || skip "MUTANT_BUILD: a build with EXTRA_CFLAGS=-DSENTINEL_MUTANTS"
MUTANT_BUILD=$(realpath "$MUTANT_BUILD")
[ -x "$MUTANT_BUILD/sentinel" ] || skip "$MUTANT_BUILD/sentinel is not built"

# With no guard left out, it is the same instrument.
sentinel=$MUTANT_BUILD/sentinel run_sentinel honest -p udp-send -t unshare-net
run_is honest valid
is "honest: the exit code" "$code" 0
cell_is honest unshare-net udp-send contained
replays honest

for mutant in MATCH_NEVER MATCH_ALWAYS; do
	SENTINEL_MUTANT=$mutant sentinel=$MUTANT_BUILD/sentinel \
		run_sentinel $mutant -p udp-send -t unshare-net
	is "$mutant: status" "$(verdict_of $mutant .status)" rejected
	is "$mutant: the exit code" "$code" 3
	none_contained $mutant
	# The matcher was what was broken: the sound one reads another verdict in the same bytes.
	holds "$mutant: a sound judge differs on what it recorded" \
		grep -q 'is not what the capture gives' <("$BUILD/sentinel" replay "$tmp/$mutant" 2>&1)
	holds "$mutant: it differs on an honest capture" \
		grep -q 'is not what the capture gives' <(SENTINEL_MUTANT=$mutant "$MUTANT_BUILD/sentinel" replay "$tmp/honest" 2>&1)
	is "$mutant: run of an honest capture" \
		"$(SENTINEL_MUTANT=$mutant "$MUTANT_BUILD/sentinel" replay --json "$tmp/honest" 2>/dev/null | jq -r .status)" \
		rejected
done
is "MATCH_NEVER: why" "$(verdict_of MATCH_NEVER '.rejected | contains(["witnesses-disagree"])
	or contains(["fake-not-escaped"])')" true
is "MATCH_ALWAYS: why" "$(verdict_of MATCH_ALWAYS '.rejected | contains(["decoy-matched"])')" true
finish
