#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: data flows one way, and so do the includes. A stage knows what is on its left
# by struct ev alone, and the reports know the judge by its verdict alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What a file of each part may include, besides its own folder, as an extended expression over the
# path in #include "...".
ev='bpf/events\.h|user/base/[a-z_]+\.h|user/decode/ev\.h'
parsers='user/decode/(packet|dns|stream|server_name)\.h'
allowed() {
	case "$1" in
	bpf) echo 'vmlinux\.h|bpf/[a-z_.]+\.h|[a-z_]+\.(bpf\.)?h' ;;
	user/base) echo 'user/base/[a-z_]+\.h' ;;
	user/sense) echo "$ev|sentinel\.skel\.h" ;;
	user/decode | user/attribute | user/record) echo "$ev" ;;
	# the matcher and the traffic tables take packets apart with the same pure parsers as decode
	user/judge | user/live) echo "$ev|$parsers" ;;
	# names and flows are shown as the tables have them
	user/report) echo "$ev|user/judge/(verdict|facts)\.h|user/live/[a-z_]+\.h|user/decode/dns\.h|report_css\.h" ;;
	# its control channel speaks the JSON of the records, and it schedules the probes' manifests
	user/rig) echo "$ev|user/record/(evjson|digest)\.h|probes/probe\.h" ;;
	# rig.h is the plan alone: addresses and ports
	probes | probes/collector) echo "$ev|probes/[a-z_]+\.h|user/decode/dns\.h|user/rig/rig\.h" ;;
	*) echo '.*' ;; # user/*.c and user/cmd: the flow itself, and the commands
	esac
}

bad=0
while IFS=: read -r file line include; do
	part=$(dirname "$file")
	case "$part" in
	bpf | user/* | probes | probes/*) ;;
	*) continue ;;
	esac
	path=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
	[ "$(dirname "$path")" != "$part" ] || continue
	if ! grep -qxE "$(allowed "$part")" <<<"$path"; then
		echo "$file:$line: '$part' must not include \"$path\""
		bad=1
	fi
done < <(git grep -n --untracked -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' -- \
	'bpf/*.[ch]' 'user/**/*.[ch]' 'user/*.[ch]' 'probes/*.[ch]')

# Headers form no cycle.
edges=$(git grep --untracked -E '^#include "(bpf|user|probes)/[^"]+\.h"' -- '*.h' |
	sed -E 's/^([^:]+):#include "([^"]+)".*/\1 \2/')
if ! loops=$(tsort <<<"$edges" 2>&1 >/dev/null); then
	printf 'headers include each other in a cycle:\n%s\n' "$loops"
	bad=1
fi
exit $bad
