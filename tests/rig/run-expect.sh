#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# For CI: a run that is as its file of expectations says succeeds, whatever the verdicts are; any change
# fails. The result in JUnit XML, TAP and Markdown, of the run and of its replay alike.
set -u
. "$(dirname "$0")/lib.sh"
need jq prove xmllint
sentinel=$BUILD/sentinel

# An escape that is known: nobody stops UDP in a namespace with a way out.
cat >"$tmp/open.yaml" <<'YAML'
schema: 1
name: open
about: claims to stop what it does not stop
run: [setpriv, --no-new-privs, --, "{cmd}"]
off:
  - {probes: ["*"], run: [setpriv, --, "{cmd}"]}
expect: {uid: 65534}
claims:
  - {probes: ["@udp"], claimed: true, source: {document: "this test", section: "known", version: "1", quote: "nothing leaves by UDP"}}
YAML
chmod 755 "$tmp"
chmod 644 "$tmp/open.yaml"

cat >"$tmp/known" <<'EXPECT'
# what is known
open        udp-send     escaped grade payload
open        tcp-connect  not-claimed crossed
unshare-net *            contained by no-route
EXPECT

run_expecting() { # file, [option...]: leaves code, $tmp/out and $tmp/err
	rm -rf "$tmp/run"
	"$sentinel" run -q -o "$tmp/run" -p udp-send -p tcp-connect -t "$tmp/open.yaml" \
		-t unshare-net --expect "$1" "${@:2}" >"$tmp/out" 2>"$tmp/err"
	code=$?
}

replay_expecting() { # file, [option...]
	"$sentinel" replay --expect "$1" "${@:2}" "$tmp/run" >"$tmp/out" 2>"$tmp/err"
	code=$?
}

run_expecting "$tmp/known" --junit "$tmp/junit.xml" --tap "$tmp/run.tap" --summary "$tmp/run.md"
is "as expected: the run's exit code" "$code" 0
holds "it says so" grep -qx 'exit 0 *every cell is as expected' "$tmp/out"
"$sentinel" replay "$tmp/run" >/dev/null 2>&1
is "without the file: an escape" "$?" 1
replay_expecting "$tmp/known"
is "as expected: the replay's exit code" "$code" 0

# ---- any change fails ----

changed() { # what, sed expression, exit code, what is said
	sed -E "$2" "$tmp/known" >"$tmp/changed"
	replay_expecting "$tmp/changed"
	is "$1: exit code" "$code" "$3"
	holds "$1: it is said" grep -qE "not as expected: $4" "$tmp/err"
}
changed "an escape that was contained" 's/escaped.*/contained/' 1 \
	'open x udp-send: escaped, not contained \(.*changed:2\)'
changed "contained where an escape was known" 's/^unshare-net .*/unshare-net * escaped/' 3 \
	'unshare-net x udp-send: contained, not escaped'
changed "stopped by something else" 's/no-route/netfilter-output/' 3 \
	'unshare-net x tcp-connect: contained by no-route, not contained by netfilter-output'
changed "a cell that is new" '/tcp-connect/d' 3 'open x tcp-connect: not-claimed, and no line of'
changed "a target that is gone" "\$a gone * contained" 3 'gone x \*: not among the results'
sed 's/not-claimed/unclaimed/' "$tmp/known" >"$tmp/changed"
replay_expecting "$tmp/changed"
is "a mistake in the file: exit code" "$code" 2
holds "a mistake in the file: where" grep -qE "changed:3:26: 'unclaimed' is not a verdict" "$tmp/err"

# ---- what is never forgiven ----

printf '* * inconclusive\n' >"$tmp/all"
"$sentinel" run -q -o "$tmp/rejected" -p udp-send -t unshare-net --sabotage no-collector \
	--expect "$tmp/all" >"$tmp/out" 2>&1
is "a rejected run" "$?" 3
cp -r "$tmp/run" "$tmp/damaged"
printf 'x' | dd of="$tmp/damaged/capture-000001.pcapng" bs=1 seek=5000 conv=notrunc status=none
"$sentinel" replay --expect "$tmp/all" "$tmp/damaged" >"$tmp/out" 2>&1
is "damaged evidence" "$?" 5

# ---- two runs compared ----

differs() { # bundle, bundle, [option...]
	"$sentinel" diff "${@:3}" "$1" "$2" >"$tmp/out" 2>"$tmp/err"
	code=$?
}
again=("$sentinel" run -q -p udp-send -p tcp-connect -t "$tmp/open.yaml" -t unshare-net)
"${again[@]}" -o "$tmp/again" >/dev/null 2>&1
differs "$tmp/run" "$tmp/again"
is "the same twice: exit code" "$code" 0
is "the same twice: nothing is said" "$(wc -c <"$tmp/out")" 0
sed -i -E 's/^run: .*/run: [unshare, --user, --net, --, "{cmd}"]/; s/^expect: .*/expect: {namespaces: [user, net]}/' \
	"$tmp/open.yaml"
"${again[@]}" -o "$tmp/closed" >/dev/null 2>&1
differs "$tmp/run" "$tmp/closed"
is "a target that has changed: exit code" "$code" 1
for line in 'open x udp-send  verdict: escaped -> contained' \
	'open x udp-send  on: answered -> did not cross' \
	'open x udp-send  stopped_by: nothing -> no-route' 'open  target_file: [0-9a-f]{64} -> ' \
	'open  program .*/unshare: nothing -> '; do
	holds "it says: $line" grep -qE "^$line" "$tmp/out"
done
is "nothing of the other target" "$(grep -c '^unshare-net' "$tmp/out")" 0
differs "$tmp/run" "$tmp/closed" --json
is "as JSON" "$(jq -c 'select(.field == "verdict" and .probe == "udp-send") |
	[.target, .before, .after]' "$tmp/out")" '["open","escaped","contained"]'
differs "$tmp/run" "$tmp/damaged"
is "a damaged one: exit code" "$code" 5
differs "$tmp/run" "$tmp/nowhere"
is "one that is not there: exit code" "$code" 2

# ---- the statement in the bundle ----

statement=$tmp/run/attestation.json
is "in-toto: its types" "$(jq -r '._type + " " + .predicateType' "$statement")" \
	"https://in-toto.io/Statement/v1 https://in-toto.io/attestation/test-result/v0.1"
is "in-toto: the result" "$(jq -c '.predicate | [.result, .passedTests, .failedTests, .notClaimedTests]' "$statement")" \
	'["FAILED",["unshare-net/tcp-connect","unshare-net/udp-send"],["open/udp-send"],["open/tcp-connect"]]'
is "in-toto: the subject is the capture" "$(jq -r '.subject[].name' "$statement")" capture-000001.pcapng
holds "in-toto: what it names is there" sh -c "cd '$tmp/run' && jq -r \
	'(.subject + .predicate.configuration)[] | \"\(.digest.sha256)  \(.name)\"' attestation.json |
	sha256sum --quiet -c"
is "in-toto: all inputs" "$(jq '.predicate.configuration | length' "$statement")" \
	"$(cd "$tmp/run" && find targets probes* -type f | wc -l)"
holds "in-toto: it is sealed with the rest" grep -q '  attestation.json$' "$tmp/run/SHA256SUMS"

# ---- other forms ----

holds "JUnit is XML" xmllint --noout "$tmp/junit.xml"
is "JUnit: failures, errors, skipped" \
	"$(xmllint --xpath 'concat(/testsuites/@failures, " ", /testsuites/@errors, " ", /testsuites/@skipped)' "$tmp/junit.xml")" \
	"1 0 1"
prove -e cat "$tmp/run.tap" >"$tmp/prove" 2>&1
is "prove fails for the escape" "$?" 1
holds "prove: one test of five" grep -q 'Failed test: *[0-9]*$' "$tmp/prove"
is "TAP: skipped is what nobody claims" "$(grep -c '# SKIP not-claimed; crossed' "$tmp/run.tap")" 1
holds "Markdown: the matrix" grep -qF '| udp-send | **ESCAPED** | contained |' "$tmp/run.md"
printf 'before\n' >"$tmp/replay.md"
replay_expecting "$tmp/known" --junit "$tmp/replay.xml" --tap "$tmp/replay.tap" \
	--summary "$tmp/replay.md"
for form in xml tap; do
	is "of a replay the same: $form" \
		"$(cmp "$tmp/replay.$form" "$tmp/$([ $form = xml ] && echo junit || echo run).$form" && echo same)" same
done
is "of a replay the same, behind what was there: md" \
	"$(cmp "$tmp/replay.md" <(echo before && cat "$tmp/run.md") && echo same)" same
"$sentinel" replay --tap "$tmp/two.tap" "$tmp/run" "$tmp/run" >"$tmp/out" 2>&1
is "one file for two bundles" "$?" 2
"$sentinel" replay --summary /dev/full "$tmp/run" >"$tmp/out" 2>&1
is "no room for the summary" "$?" 6
finish
