#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sandboxes of known truth (tests/reference-targets): each cell must come out as NAME.expect says, and
# each must be in it. REFERENCE, PROBES: to try only these.
set -u
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/expect.sh"
need ip nft perl setpriv
BUNDLES='' # as big as all others together, and no guard of the judge depends on them

compile refuses
copy_reference
names=()
for file in "$reference_folder"/*.yaml; do
	name=$(basename "$file" .yaml)
	[[ -z ${REFERENCE:-} || " $REFERENCE " == *" $name "* ]] || continue
	names+=("$name")
done
options=()
read -r -a probes <<<"${PROBES:-*}"
for probe in "${probes[@]}"; do
	options+=(-p "$probe")
done
for name in "${names[@]}"; do
	options+=(-t "$(target "$name")")
done
run_sentinel reference --lanes 20 "${options[@]}"
run_is reference valid
for name in "${names[@]}"; do
	cells_as_expected reference "$reference_folder" "$name"
done
replay_expects reference "$reference_folder" "${names[@]}"
replays reference
finish
