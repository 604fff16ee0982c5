#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The main job as `make run` does it: a valid run in which every cell is what it must be, and a bundle
# that an investigator without root, BPF or our programs can read.
set -u
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/expect.sh"
need bwrap systemd-nspawn tcpdump tshark setpriv sha256sum

run_sentinel main
probes=$(verdict_of main '[.cells[].probe] | unique | join(" ")')
run_is main valid
is "the exit code: landlock lets TCP Fast Open pass" "$code" 1

# On every probe the calibrators are what they must be, in each arm.
for probe in $probes; do
	cell_is main claims-all-blocks-nothing "$probe" escaped
	is "$probe: its grade" "$(cell_of main claims-all-blocks-nothing "$probe" .grade)" payload
	cell_is main never-started "$probe" inconclusive sandbox-not-alive
	cell_is main deny-all "$probe" contained
	is "deny-all x $probe: baseline, on, off, on2 crossed" \
		"$(cell_of main deny-all "$probe" \
			'[.arms.baseline, .arms.on, .arms.off, .arms.on2 | .crossed] | join(" ")')" \
		"true false true false"
	case $probe in
	# refused inside: it needs no packet that leaves
	unix-* | host-loopback | sibling | *-credential | proc-environ)
		cell_is main deaf-collector "$probe" inconclusive
		stopped=A
		;;
	*)
		cell_is main deaf-collector "$probe" inconclusive target-unreachable-outside
		stopped=B
		;;
	esac
	is "deny-all x $probe: stopped at" "$(cell_of main deny-all "$probe" .stopped_at)" $stopped
done

# The platforms are what their .expect says, and those that are contained, by all arms.
platforms=$(cd "$rig_folder/../platforms" && pwd)
for name in $(verdict_of main '[.cells[] | select(.role == "target") | .target] | unique | .[]'); do
	cells_as_expected main "$platforms" "$name"
done
# shellcheck disable=SC2046 # names
replay_expects main "$platforms" \
	$(verdict_of main '[.cells[] | select(.role == "target") | .target] | unique | .[]')
is "contained cells of platforms whose arms say something else" "$(verdict_of main \
	'[.cells[] | select(.role == "target" and .verdict == "contained") |
		[.arms.baseline, .arms.on, .arms.off, .arms.on2 | .crossed] |
		select(. != [true, false, true, false])] | length')" 0
is "records lost" "$(verdict_of main '[.observer.lost[]] | join(" ")')" "0 0"
is "seen adds up" "$(verdict_of main .observer.count.holds)" true

# The bundle, with our reader and without.
replays main
bundle=$tmp/main
chmod a+x "$tmp"
chmod -R a+rX "$bundle"
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
	"$BUILD/sentinel" replay "$bundle" >/dev/null 2>&1
is "replay as nobody, without a capability, exits with" "$?" 1
holds "sha256sum -c" sh -c "cd '$bundle' && sha256sum --quiet -c SHA256SUMS"
holds "tcpdump reads it" sh -c "tcpdump -nr '$bundle'/capture-000001.pcapng | grep -q 203.0.113"
holds "tshark reads it" sh -c \
	"tshark -r '$bundle'/capture-000001.pcapng -Y systemd_journal -T fields \
		-e systemd_journal.message | grep -q 'run .* begins'"
holds "the capture holds no verdict" \
	sh -c "! grep -aqE '\"(verdict|reasons|grade)\"' '$bundle'/capture-*.pcapng"

# What was changed afterwards is noticed: the verdict, and the evidence. In a small bundle, which is kept
# for scripts/mutants.
run_sentinel small -p tcp-connect -t unshare-net
run_is small valid
cp -r "$tmp/small" "$tmp/forged"
sed -i 's/inconclusive/contained/' "$tmp/forged/verdict.json"
rm "$tmp/forged/SHA256SUMS.sig"
sums=$(cd "$tmp/forged" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum)
echo "$sums" >"$tmp/forged/SHA256SUMS"
"$BUILD/sentinel" replay "$tmp/forged" >/dev/null 2>&1
is "replay of a changed verdict.json exits with" "$?" 5
cp -r "$tmp/small" "$tmp/damaged"
size=$(stat -c %s "$tmp/small/capture-000001.pcapng")
printf '\xff' | dd of="$tmp/damaged/capture-000001.pcapng" bs=1 seek=$((size / 2)) conv=notrunc status=none
"$BUILD/sentinel" replay --json "$tmp/damaged" >"$tmp/damaged.json" 2>"$tmp/damaged.err"
is "replay of a changed capture exits with" "$?" 5
is "contained cells in it" "$(jq '[.cells[] | select(.verdict == "contained")] | length' "$tmp/damaged.json")" 0

# One cell's evidence, and the other forms of the result.
"$BUILD/sentinel" explain "$bundle" bubblewrap tcp-connect >"$tmp/explain.out" 2>/dev/null
is "explain exits with" "$?" 0
holds "explain shows the refused call" grep -q 'connect(.*203.0.113.*= -101' "$tmp/explain.out"

# A judge that is not ours says something else of the same capture.
if [ -n "${MUTANT_BUILD:-}" ]; then
	SENTINEL_MUTANT=IDENTITY_UNKNOWN "$MUTANT_BUILD/sentinel" replay "$bundle" >/dev/null 2>"$tmp/mutant.err"
	is "replay with a mutant judge exits with" "$?" 5
fi
finish
