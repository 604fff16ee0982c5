#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How fast a replay verifies and judges, against what people have for reading captures; all measured in
# one go, so that a slow machine slows them all. Exits with 1 where a bound is missed.
#
# usage: replay.sh [PACKETS]      1,000,000 of them by default; needs 1 KB of space in $TMPDIR for each
#   O      where the programs are: build
#   TIMES  each is run so often, and the fastest counts: 5
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

O=${O:-build}
TIMES=${TIMES:-5}
packets=${1:-1000000}
TSHARK_PART=10 # tshark reads a capture of so much less: it needs half a minute for all of it
LIBPCAP_BOUND=5
TSHARK_BOUND=20
MEMORY_BOUND=64 # MiB

for tool in tshark openssl jq sha256sum awk; do
	command -v "$tool" >/dev/null || {
		echo "$tool is not installed: scripts/deps.sh"
		exit 77
	}
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A whole bundle in folder $1 with $2 packets: "PACKETS BYTES" of it.
bundle() {
	mkdir "$1"
	"$O/bench/make_capture" "$1" "$2"
	"$O/sentinel" replay --json "$1" >"$1.json"
	mv "$1.json" "$1/verdict.json"
	(cd "$1" && sha256sum -- * >../sums && mv ../sums SHA256SUMS)
}

# best TIMES COMMAND...: sets seconds and kib
best() {
	"$O/bench/best_of" "$@" >"$dir/best" || {
		echo "replay.sh: '$2' failed" >&2
		exit 1
	}
	read -r seconds kib <"$dir/best"
}

bundle "$dir/all" "$packets" >"$dir/size"
read -r count bytes <"$dir/size"
bundle "$dir/part" $((packets / TSHARK_PART)) >"$dir/size"
read -r part_count _ <"$dir/size"
verdicts=$(jq -r '.status + " run, " + ([.cells[].verdict] | join(" "))' "$dir/all/verdict.json")
captures=("$dir"/all/capture-*.pcapng)
part=("$dir"/part/capture-*.pcapng)

best "$TIMES" "$O/bench/pcap_loop" "${captures[@]}"
pcap=$seconds
best "$TIMES" openssl dgst -sha256 "${captures[@]}"
digest=$seconds
best 1 tshark -n -r "${part[@]}" -T fields -e frame.time_epoch -e ip.src -e ip.dst -e frame.comment
tshark=$seconds
best "$TIMES" "$O/sentinel" replay "$dir/all"
replay=$seconds

awk -v count="$count" -v bytes="$bytes" -v verdicts="$verdicts" -v files=${#captures[@]} \
	-v part_count="$part_count" -v pcap="$pcap" -v replay="$replay" -v digest="$digest" \
	-v tshark="$tshark" -v kib="$kib" -v pcap_bound=$LIBPCAP_BOUND -v tshark_bound=$TSHARK_BOUND \
	-v memory_bound=$MEMORY_BOUND '
function judge(name, value, bound, unit) {
	ok = value <= bound
	missed += !ok
	printf "%-4s %-26s %8.3f%s, at most %s%s\n", ok ? "PASS" : "FAIL", name, value, unit, bound, unit
}
BEGIN {
	whole = tshark * count / part_count
	printf "%d annotated packets, %.0f MB in %d files, %.0f bytes each\n", count, bytes / 1e6, files, bytes / count
	printf "%s\n\n", verdicts
	printf "libpcap, pcap_next_ex      %8.3f s\n", pcap
	printf "openssl dgst -sha256       %8.3f s\n", digest
	printf "tshark -T fields, 4 fields %8.3f s (%.3f s for %d packets)\n", whole, tshark, part_count
	printf "sentinel replay            %8.3f s, %.1f MiB\n\n", replay, kib / 1024
	judge("replay / libpcap", replay / pcap, pcap_bound, "")
	judge("replay / tshark", replay / whole, 1 / tshark_bound, "")
	judge("replay, memory", kib / 1024, memory_bound, " MiB")
	exit missed > 0
}'
