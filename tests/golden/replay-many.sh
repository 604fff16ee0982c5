#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `sentinel replay` of many bundles: in folders, from a list, in parts, with one that is damaged and
# one whose capture is gone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for tool in jq sha256sum script; do
	command -v "$tool" >/dev/null || {
		echo "$tool is not installed: scripts/deps.sh"
		exit 77
	}
done

O=$(realpath "${O:-build}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX JOB_COMPLETIONS
checked=0

is() { # what found wanted
	[ "$2" = "$3" ] || {
		echo "replay-many: $1: '$2' and not '$3'" >&2
		cat "$dir/err" >&2
		exit 1
	}
	checked=$((checked + 1))
}

says() { # file text
	grep -q -- "$2" "$1" || {
		echo "replay-many: '$2' is not said in $1:" >&2
		cat "$1" >&2
		exit 1
	}
	checked=$((checked + 1))
}

# Sets code; what is printed goes to $dir/out and $dir/err. Paths are those within $dir.
replay() {
	code=0
	(cd "$dir/runs" && "$O/sentinel" replay "$@") >"$dir/out" 2>"$dir/err" || code=$?
}

# A whole bundle; further arguments go to make_capture.
bundle() {
	mkdir -p "$dir/runs/$1"
	"$O/bench/make_capture" "$dir/runs/$1" 100 "${@:2}" >/dev/null
	"$O/sentinel" replay --json "$dir/runs/$1" >"$dir/verdict" 2>/dev/null || [ $? -eq 1 ]
	mv "$dir/verdict" "$dir/runs/$1/verdict.json"
	(cd "$dir/runs/$1" && sha256sum -- * >../sums && mv ../sums SHA256SUMS)
}

for name in monday/1 monday/2 tuesday/deep/1 tuesday/deep/2 wednesday; do
	bundle "$name"
done
bundle monday/escape escaped
mkdir "$dir/runs/empty"

# one line a bundle, in the order of their paths
replay --json .
is "exit code of all" "$code" 1
is "bundles, in order" "$(jq -r .bundle "$dir/out" | tr '\n' ' ')" \
	"./monday/1 ./monday/2 ./monday/escape ./tuesday/deep/1 ./tuesday/deep/2 ./wednesday "
is "their exit codes" "$(jq -r .exit "$dir/out" | tr '\n' ' ')" "0 0 1 0 0 0 "
is "the verdict in a line" "$(jq -r 'select(.exit == 1).cells[-1].verdict' "$dir/out")" escaped
is "what is wrong" "$(jq -r 'select(.error) | .bundle' "$dir/out")" ""
sort "$dir/out" >"$dir/whole"

# a line is the bundle's own verdict, and of the bundle alone nothing is added
jq -c 'select(.bundle == "./wednesday") | del(.bundle, .exit)' "$dir/out" >"$dir/line"
is "a line's verdict" "$(jq -c . "$dir/runs/wednesday/verdict.json")" "$(cat "$dir/line")"
replay --json wednesday/
is "one bundle alone" "$(sha256sum <"$dir/out")" "$(sha256sum <"$dir/runs/wednesday/verdict.json")"

# the parts are the whole: as many as bundles, fewer, more
for n in 1 2 3 6 20; do
	: >"$dir/parts"
	for ((k = 1; k <= n; k++)); do
		replay --json --shard "$k/$n" --exit-zero .
		is "exit code of part $k of $n" "$code" 0
		cat "$dir/out" >>"$dir/parts"
	done
	is "$n parts" "$(sort "$dir/parts" | sha256sum)" "$(sha256sum <"$dir/whole")"
done
replay --json --shard 20/20 .
is "exit code of a part without a bundle" "$code" 3

# from a list, by what a batch system says
(cd "$dir/runs" && printf '%s\n' monday '' wednesday tuesday/deep/1) >"$dir/list"
replay --json --list "$dir/list"
is "bundles of a list" "$(jq -r .bundle "$dir/out" | tr '\n' ' ')" \
	"monday/1 monday/2 monday/escape wednesday tuesday/deep/1 "
: >"$dir/parts"
for id in 4 6 8; do
	SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_STEP=2 \
		SLURM_ARRAY_TASK_COUNT=3 replay --json --shard auto --exit-zero --list "$dir/list"
	is "a task of Slurm takes" "$(wc -l <"$dir/out")" "$((id == 8 ? 1 : 2))"
	cat "$dir/out" >>"$dir/parts"
done
for index in 0 1 2; do
	JOB_COMPLETION_INDEX=$index replay --json --shard auto/3 --exit-zero --list - <"$dir/list"
	cat "$dir/out" >>"$dir/parts"
done
replay --json --list "$dir/list"
is "twice all of the list" "$(sort "$dir/parts" | sha256sum)" \
	"$(cat "$dir/out" "$dir/out" | sort | sha256sum)"

# refused, with what is wrong
replay --shard 4/3 .
is "exit code of part 4 of 3" "$code" 2
says "$dir/err" '--shard 4/3: K is the number of this part, 1 to 3'
replay --shard auto .
is "exit code without a batch system" "$code" 2
replay empty wednesday
is "exit code of a folder without a bundle" "$code" 2
says "$dir/err" 'empty: there is no bundle in this folder or below it'

# tables say of which bundle they are; progress is for terminals
replay monday
is "tables of" "$(grep '^bundle ' "$dir/out" | tr '\n' ' ')" \
	"bundle monday/1 bundle monday/2 bundle monday/escape "
is "progress without a terminal" "$(grep -c 'bundle 1 of 3' "$dir/err" || true)" 0
script -qec "cd '$dir/runs' && '$O/sentinel' replay monday" /dev/null >"$dir/terminal" </dev/null || true
is "progress on a terminal" "$(grep -ao 'sentinel: bundle 1 of 3, 0 %' "$dir/terminal" | head -1)" \
	"sentinel: bundle 1 of 3, 0 %"

# what is damaged, or gone, shows, whatever else there is
size=$(stat -c %s "$dir/runs/monday/2/capture-000001.pcapng")
printf '\xff' | dd of="$dir/runs/monday/2/capture-000001.pcapng" bs=1 seek=$((size / 2)) \
	conv=notrunc status=none
replay --json --exit-zero monday tuesday
is "exit code with a damaged one" "$code" 5
is "the damaged one" "$(jq -r 'select(.exit == 5).bundle' "$dir/out")" monday/2
jq -r 'select(.exit == 5).error' "$dir/out" >"$dir/error"
says "$dir/error" 'the evidence is damaged'
is "lines" "$(wc -l <"$dir/out")" 5
rm "$dir/runs/wednesday/capture-000001.pcapng"
replay --json --exit-zero .
is "exit code with one whose capture is gone" "$code" 2
is "its line" "$(jq -c 'select(.bundle == "./wednesday") | keys' "$dir/out")" '["bundle","error","exit"]'
is "lines" "$(wc -l <"$dir/out")" 6

# what can't be printed is no verdict
code=0
(cd "$dir/runs" && "$O/sentinel" replay --json --exit-zero monday) >/dev/full 2>"$dir/err" || code=$?
is "exit code with a full disk" "$code" 6
echo "many bundles, $checked checks"
