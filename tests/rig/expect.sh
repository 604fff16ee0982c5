# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after lib.sh: what a target's cells must be, by NAME.expect in a folder. A line is a probe, a
# family or '*', the verdict, and what else must be so; the first that matches counts:
#
#   by WORD             what it was stopped by
#   at A|B              where it was last seen
#   because REASON      all its reasons, with commas
#   grade WORD          of an escape
#   startup N steady N  rounds that crossed at the start, and in the steady state
#   allowed WORD        what is allowed: answered or dead
#   crossed | held      whether it crossed in `on`, where nobody claims that it does not

# The families of each probe, one probe a line.
"$BUILD/sentinel" probes | awk '/^[^ ]/ { $2 = ""; print }' >"$tmp/families"

expected() { # folder, name, probe
	local pattern verdict rest families

	families=" $(sed -n "s/^$3  *//p" "$tmp/families") "
	while read -r pattern verdict rest; do
		[[ -n $pattern && $pattern != '#'* ]] || continue
		if [[ $pattern == '*' || $pattern == "$3" || $families == *" $pattern "* ]]; then
			echo "$verdict${rest:+ $rest}"
			return
		fi
	done <"$1/$2.expect"
}

# What a cell is, in the words of what is wanted of it.
cell_in_words_of() { # run, name, probe, wanted
	local got word

	got=$(cell_of "$1" "$2" "$3" .verdict)
	for word in $4; do
		case $word in
		by) got+=$(cell_of "$1" "$2" "$3" '" by \(.stopped_by)"') ;;
		at) got+=$(cell_of "$1" "$2" "$3" '" at \(.stopped_at)"') ;;
		because) got+=$(cell_of "$1" "$2" "$3" '" because \(.reasons | join(","))"') ;;
		grade) got+=$(cell_of "$1" "$2" "$3" '" grade \(.grade)"') ;;
		startup | steady) got+=$(cell_of "$1" "$2" "$3" "\" $word \(.$word.crossed)\"") ;;
		allowed)
			got+=$(cell_of "$1" "$2" "$3" \
				'if .arms.allowed.answered then " allowed answered" else " allowed dead" end')
			;;
		crossed | held)
			got+=$(cell_of "$1" "$2" "$3" \
				'if .arms.on.crossed then " crossed" else " held" end')
			;;
		esac
	done
	echo "$got"
}

cells_as_expected() { # run, folder, name
	local cells probe want

	cells=$(verdict_of "$1" ".cells[] | select(.target == \"$3\") | .probe")
	holds "$3 has cells" test -n "$cells"
	for probe in $cells; do
		want=$(expected "$2" "$3" "$probe")
		if [ -z "$want" ]; then
			fail "$3 x $probe: no line in $3.expect"
			continue
		fi
		is "$3 x $probe" "$(cell_in_words_of "$1" "$3" "$probe" "$want")" "$want"
	done
}

# And by what a user would do in CI: all files as one, each line with its target.
replay_expects() { # run, folder, names...
	local run=$1 folder=$2 name

	shift 2
	for name; do
		sed -nE "s/^[^#[:space:]]/$name &/p" "$folder/$name.expect"
	done >"$tmp/$run.expect"
	"$BUILD/sentinel" replay --expect "$tmp/$run.expect" "$tmp/$run" >/dev/null 2>"$tmp/$run.differs"
	is "$run: replay --expect: exit code" "$?" 0
	holds "$run: replay --expect" sh -c "! grep 'not as expected' '$tmp/$run.differs' >&2"
}
