#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How fast a replay verifies and judges, against what people have for reading captures; all measured in
# one go, by turns, so that a slow machine slows them all. Exits with 1 where a bound is missed.
#
# usage: replay.sh [PACKETS]      1,000,000 of them by default; needs 1 KB of space in $TMPDIR for each
#   O      where the programs are: build
#   TIMES  each is run so often, and the fastest counts: 7
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

O=${O:-build}
TIMES=${TIMES:-7}
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
	"$O/sentinel" replay --json "$1" >"$1.json" 2>/dev/null
	mv "$1.json" "$1/verdict.json"
	(cd "$1" && sha256sum -- * >../sums && mv ../sums SHA256SUMS)
}

# run NAME COMMAND...: a line "NAME SECONDS CPU-SECONDS KIB" more in $dir/runs
run() {
	local name=$1

	shift
	"$O/bench/measure" "$@" >"$dir/run" || {
		echo "replay.sh: '$1' failed" >&2
		exit 1
	}
	echo "$name $(cat "$dir/run")" >>"$dir/runs"
}

bundle "$dir/all" "$packets" >"$dir/size"
read -r count bytes <"$dir/size"
bundle "$dir/part" $((packets / TSHARK_PART)) >"$dir/size"
read -r part_count _ <"$dir/size"
verdicts=$(jq -r '.status + " run, " + ([.cells[].verdict] | join(" "))' "$dir/all/verdict.json")
captures=("$dir"/all/capture-*.pcapng)
part=("$dir"/part/capture-*.pcapng)

run tshark tshark -n -r "${part[@]}" -T fields -e frame.time_epoch -e ip.src -e ip.dst -e frame.comment
for ((i = 0; i < TIMES; i++)); do
	run libpcap "$O/bench/pcap_loop" "${captures[@]}"
	run replay "$O/sentinel" replay "$dir/all"
	run openssl openssl dgst -sha256 "${captures[@]}"
done
echo "$count annotated packets, $((bytes / 1000000)) MB in ${#captures[@]} files, $((bytes / count)) bytes each"
echo "$verdicts"
echo "$TIMES times by turns, on $(nproc) processors"
awk -v count="$count" -v part_count="$part_count" -v pcap_bound=$LIBPCAP_BOUND \
	-v tshark_bound=$TSHARK_BOUND -v memory_bound=$MEMORY_BOUND '
{
	if (!($1 in best) || $2 < best[$1]) {
		best[$1] = $2
		cpu[$1] = $3
	}
	if ($4 > most[$1])
		most[$1] = $4
}
function show(name, text) {
	printf "%-27s%8.3f s%8.3f s%10.1f MiB\n", text, best[name], cpu[name], most[name] / 1024
}
function judge(name, value, bound, unit) {
	ok = value <= bound
	missed += !ok
	printf "%-4s %-20s %8.3f%s, at most %s%s\n", ok ? "PASS" : "FAIL", name, value, unit, bound, unit
}
END {
	whole = best["tshark"] * count / part_count
	printf "\n%-27s%10s%10s%14s\n", "", "time", "processor", "memory"
	show("libpcap", "libpcap, pcap_next_ex")
	show("openssl", "openssl dgst -sha256")
	show("tshark", "tshark -T fields, a part")
	printf "%-27s%8.3f s (%d packets took %.3f s)\n", "  for all of them", whole, part_count, best["tshark"]
	show("replay", "sentinel replay")
	printf "\n"
	judge("replay / libpcap", best["replay"] / best["libpcap"], pcap_bound, "")
	judge("replay / tshark", best["replay"] / whole, 1 / tshark_bound, "")
	judge("replay, memory", most["replay"] / 1024, memory_bound, " MiB")
	exit missed > 0
}' "$dir/runs"
