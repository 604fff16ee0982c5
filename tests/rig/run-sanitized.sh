#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The main job by programs built with AddressSanitizer and UBSan: the same verdicts, and not a word
# from the sanitizers. SAN_BUILD: where they are.
set -u
BUILD=${SAN_BUILD:-$(dirname "$0")/../../build/san}
. "$(dirname "$0")/lib.sh"

run_sentinel sane
run_is sane valid
is "the exit code: landlock lets TCP Fast Open pass" "$code" 1
is "lines on stderr that are no log" "$(grep -cv '^sentinel' "$tmp/sane.err")" 0
replays sane
quietly() { # command of the sentinel...
	"$BUILD/sentinel" "$@" >/dev/null 2>"$tmp/quietly.err"
	is "$1 exits with" "$?" 0
	is "$1's words on stderr" "$(cat "$tmp/quietly.err")" ""
}
quietly explain "$tmp/sane" deny-all tcp-connect
quietly report "$tmp/sane"
quietly timeline --json "$tmp/sane"
quietly doctor
finish
