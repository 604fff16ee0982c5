#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sandboxes of known truth (tests/reference-targets): each cell must come out as NAME.expect says, and
# each must be in it. REFERENCE, PROBES: to try only these.
set -u
. "$(dirname "$0")/lib.sh"
need ip nft perl setpriv
BUNDLES='' # as big as all others together, and no guard of the judge depends on them

reference=$(cd "$rig_folder/../reference-targets" && pwd)

copy_reference() {
	local file name

	for file in "$reference"/*; do
		name=$tmp/targets/${file##*/}
		sed "s|@DIR@|$tmp/targets|g" "$file" >"$name"
		[ ! -x "$file" ] || chmod 755 "$name"
	done
}

# The families of each probe, one probe a line.
families() {
	"$BUILD/sentinel" probes | awk '/^[^ ]/ { $2 = ""; print }'
}

# What NAME.expect says of a probe: its first line that has the probe's id, a family of it, or '*'.
expected() { # name, probe
	local pattern verdict rest families

	families=" $(sed -n "s/^$2  *//p" "$tmp/families") "
	while read -r pattern verdict rest; do
		[[ -n $pattern && $pattern != '#'* ]] || continue
		if [[ $pattern == '*' || $pattern == "$2" || $families == *" $pattern "* ]]; then
			echo "$verdict${rest:+ $rest}"
			return
		fi
	done <"$reference/$1.expect"
}

# A cell's verdict, and of what else the expectation names: "by WORD", "via", "because REASON".
cell_as_expected() { # name, probe
	local want got

	want=$(expected "$1" "$2")
	if [ -z "$want" ]; then
		fail "$1 x $2: no line in $1.expect"
		return
	fi
	got=$(cell_of reference "$1" "$2" .verdict)
	case " $want " in
	*" by "*) got+=$(cell_of reference "$1" "$2" '" by \(.stopped_by)"') ;;
	*" because "*) got+=$(cell_of reference "$1" "$2" '" because \(.reasons | join(","))"') ;;
	*" grade "*) got+=$(cell_of reference "$1" "$2" '" grade \(.grade)"') ;;
	esac
	is "$1 x $2" "$got" "$want"
}

compile refuses
copy_reference
families >"$tmp/families"
names=()
for file in "$reference"/*.yaml; do
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
run_sentinel reference "${options[@]}"
run_is reference valid
for name in "${names[@]}"; do
	cells=$(verdict_of reference ".cells[] | select(.target == \"$name\") | .probe")
	holds "$name has cells" test -n "$cells"
	for probe in $cells; do
		cell_as_expected "$name" "$probe"
	done
done
replays reference
finish
