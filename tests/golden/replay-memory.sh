#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A replay needs the same memory for ten times the packets, and never more than 64 MiB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

O=${O:-build}
BOUND=$((64 << 10)) # KiB
MORE=2048	     # of the two, as pages fall
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Most memory of a replay of a capture with $1 packets, in KiB.
memory() {
	mkdir "$dir/$1"
	"$O/bench/make_capture" "$dir/$1" "$1" >/dev/null
	"$O/bench/measure" "$O/sentinel" replay "$dir/$1" >"$dir/run"
	cut -d" " -f3 "$dir/run"
}

small=$(memory 20000)
large=$(memory 200000)
echo "20,000 packets: $small KiB, 200,000: $large KiB"
[ "$large" -le "$BOUND" ] && [ "$large" -le $((small + MORE)) ]
