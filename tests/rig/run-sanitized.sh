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
"$BUILD/sentinel" explain "$tmp/sane" deny-all tcp-connect >/dev/null 2>"$tmp/explain.err"
is "explain exits with" "$?" 0
is "explain's words on stderr" "$(cat "$tmp/explain.err")" ""
"$BUILD/sentinel" doctor >/dev/null 2>"$tmp/doctor.err"
is "doctor exits with" "$?" 0
is "doctor's words on stderr" "$(cat "$tmp/doctor.err")" ""
finish
