#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A metadata service that is none.
#
# Something in the sandbox poses as the service that a probe asks for credentials, or forbids it as a
# proxy does. What it hands out is no proof, since only the far side has the key to that; that it
# forbids is no proof either: where the request went from there, nobody saw.
#
# Where there is no such service outside either, to be stopped on the way to it means nothing.
set -u
. "$(dirname "$0")/lib.sh"
need ip perl

probes=(metadata-imds-v1 metadata-imds-v2 metadata-gcp metadata-azure metadata-ecs http-post-direct)
make_target poses-as-metadata
make_target forbids
# shellcheck disable=SC2046 # words
run_sentinel run $(printf -- '-p %s ' "${probes[@]}") -t unshare-net \
	-t "$(target poses-as-metadata)" -t "$(target forbids)"
run_is run valid
is "the exit code" "$code" 3
holds "it handed out, to each probe in on and on2" test "$(said credentials)" -ge $((2 * ${#probes[@]}))
holds "it forbade, each probe in on and on2" test "$(said forbid)" -ge $((2 * ${#probes[@]}))
for probe in "${probes[@]}"; do
	is "$probe: believed it" "$(cell_of run poses-as-metadata "$probe" .probe_view)" answered
	is "$probe: on was answered" \
		"$(cell_of run poses-as-metadata "$probe" .arms.on.answered)" false
	cell_is run poses-as-metadata "$probe" inconclusive boundary-shared
	is "$probe: was told" "$(cell_of run forbids "$probe" .probe_view)" status-403
	cell_is run forbids "$probe" inconclusive boundary-shared
	cell_is run unshare-net "$probe" contained
done
replays run

run_sentinel nowhere -p metadata-imds-v1 -p metadata-ipv6 -t unshare-net --sabotage no-collector
for probe in metadata-imds-v1 metadata-ipv6; do
	is "$probe: baseline crossed" \
		"$(cell_of nowhere unshare-net "$probe" .arms.baseline.crossed)" true
	is "$probe: baseline was answered" \
		"$(cell_of nowhere unshare-net "$probe" .arms.baseline.answered)" false
	cell_is nowhere unshare-net "$probe" inconclusive target-unreachable-outside
done
none_contained nowhere
replays nowhere
finish
