#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The HTML report in a real browser: it asks for nothing, complains of nothing, what a sandbox said is
# text in it, and it can be read on a desk and on a phone, by day and by night.
#
# usage: report-page.sh [PAGE.html]...
# Without arguments: over the pages that the unit test in ${O:-build} writes. 77: a tool is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for tool in chromium perl jq unshare; do
	command -v "$tool" >/dev/null || {
		echo "$tool is not installed: scripts/deps.sh"
		exit 77
	}
done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
	echo "report-page: $*" >&2
	exit 1
}

both=(1440 900 light 375 800 dark)
all=(1440 900 light 1440 900 dark 375 800 light 375 800 dark)

# The answers of all sizes and schemes, a line each; what must hold of every page is asserted.
opens() { # page, sizes and schemes
	local page=$1

	shift
	tests/golden/browser.pl "$page" tests/golden/report-page.js "$@" >"$dir/answers" ||
		fail "$page can't be opened"
	[ "$(wc -l <"$dir/answers")" -eq $(($# / 3)) ] || fail "$page: an answer is missing"
	jq -c 'select((.requests == [] and .console == [] and .result.overflow <= 0 and
		.result.foreign == [] and .result.handlers == 0 and .result.links == 0 and
		.result.dangling == 0 and .result.faint == [] and .result.scopes and
		.result.opened != false) | not)' "$dir/answers" >"$dir/bad" || fail "$page: no answers"
	[ ! -s "$dir/bad" ] || fail "$page: $(head -1 "$dir/bad")"
	jq -se '[.[] | [.scheme, .result.scheme]] | unique | length == 2 and (.[0][1] != .[1][1])' \
		"$dir/answers" >/dev/null || fail "$page: light and dark are not two"
}

# What the browser says of the page that was opened last.
says() { # jq expression
	jq -se "all(.[].result; $1)" "$dir/answers" >/dev/null || fail "not so: $1: $(cat "$dir/answers")"
}

if [ $# -gt 0 ]; then
	for page; do
		opens "$page" "${all[@]}"
	done
	echo "$# pages hold"
	exit
fi
"${O:-build}/test/test_html" --write "$dir"
opens "$dir/hostile.html" "${all[@]}"
says '.text > 100 and .entity'
says '.title == "Sentinel report <script>alert(1)</script>"'
opens "$dir/mixed.html" "${all[@]}"
says '.h1 == "1 attempt escaped" and .opened'
opens "$dir/rejected.html" "${both[@]}"
says '.h1 == "The run is rejected: nothing is scored"'
opens "$dir/empty.html" "${both[@]}"
says '.h1 == "The evidence is damaged"'
opens "$dir/many.html" "${both[@]}"
says '.opened'
echo "5 pages hold, on a desk and on a phone, light and dark"
