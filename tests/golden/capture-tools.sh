#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A capture opens as it is in the tools that people have, each segment of it alone, and survives a pass
# through editcap or tshark.
#
# usage: capture-tools.sh [CAPTURE.pcapng]...
# Without arguments: over a capture that the unit test in ${O:-build} writes. 77: a tool is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for tool in tcpdump tshark capinfos editcap jq sha256sum; do
	command -v "$tool" >/dev/null || {
		echo "$tool is not installed: scripts/deps.sh"
		exit 77
	}
done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
	echo "capture-tools: $*" >&2
	exit 1
}

# Enhanced packets, as tshark counts what is no journal row.
packets() {
	tshark -n -r "$1" -Y '!systemd_journal' 2>/dev/null | wc -l
}

opens_in_tcpdump() {
	tcpdump -nr "$1" >"$dir/tcpdump" 2>"$dir/tcpdump.err" || fail "tcpdump refuses $1: $(cat "$dir/tcpdump.err")"
	[ "$(wc -l <"$dir/tcpdump")" -eq "$(packets "$1")" ] || fail "tcpdump shows other packets than tshark"
	grep -q ' Out ' "$dir/tcpdump" || fail "tcpdump shows no direction"
}

opens_in_capinfos() {
	capinfos "$1" >"$dir/capinfos" 2>&1 || fail "capinfos refuses $1: $(cat "$dir/capinfos")"
	grep -q 'Name = world@1' "$dir/capinfos" || fail "capinfos shows no interface world@1"
	grep -q 'Encapsulation = Linux cooked-mode capture v2' "$dir/capinfos" || fail "not SLL2"
}

# One line per packet: interface, direction, id, comment.
shows_packets_in_tshark() {
	local interface direction id comment

	tshark -n -r "$1" -Y '!systemd_journal' -T fields -e frame.interface_name \
		-e frame.packet_flags_direction -e frame.packet_id -e frame.comment \
		>"$dir/fields" 2>"$dir/tshark.err" || fail "tshark refuses $1: $(cat "$dir/tshark.err")"
	[ -s "$dir/fields" ] || fail "tshark shows no packets"
	while IFS=$'\t' read -r interface direction id comment; do
		jq -e --arg id "$((id))" --arg hook "${interface%@*}" --argjson out "$((direction == 2))" \
			'.type == "packet" and .id == $id and .hook == $hook and
			 (.outbound // false) == ($out == 1)' <<<"$comment" >/dev/null ||
			fail "packet $id on $interface, direction $direction: comment $comment"
	done <"$dir/fields"
}

shows_journal_in_tshark() {
	tshark -n -r "$1" -Y systemd_journal -T fields -e systemd_journal.message >"$dir/messages" \
		2>/dev/null || fail "tshark can't read the journal blocks"
	grep -q '^segment [0-9]* of run ' "$dir/messages" || fail "no segment record"
	grep -q '^seal: record [0-9]* at ' "$dir/messages" || fail "no seal"
	# not into grep -q, which ends at the first match and would leave tshark with a closed pipe
	tshark -n -r "$1" -Y systemd_journal -T fields -e systemd_journal.field.value \
		>"$dir/values" 2>/dev/null || fail "tshark can't read the journal's fields"
	grep -q '"type":"seal"' "$dir/values" || fail "no JSON in the journal blocks"
}

survives_editcap() {
	editcap "$1" "$dir/copy.pcapng" 2>"$dir/editcap.err" || fail "editcap: $(cat "$dir/editcap.err")"
	cmp "$1" "$dir/copy.pcapng" || fail "editcap's copy of $1 is another file"
}

survives_tshark() {
	tshark -n -r "$1" -w "$dir/copy.pcapng" 2>"$dir/tshark.err" || fail "tshark -w: $(cat "$dir/tshark.err")"
	cmp "$1" "$dir/copy.pcapng" || fail "tshark's copy of $1 is another file"
}

# Every journal record is a line of the event log, and has its time.
is_an_event_log() {
	local records rows

	records=$(grep -ac '^SENTINEL\(_RUN\)\?=' "$1")
	rows=$(tshark -n -r "$1" -Y systemd_journal -T fields -e frame.time_epoch -e systemd_journal.message \
		2>/dev/null | grep -cE '^[0-9]{10}\.[0-9]+	.')
	[ "$records" -eq "$rows" ] || fail "tshark prints $rows of $records journal records of $1"
}

# What anybody can do who has no sentinel: all segments of a folder, in order.
seals_match() {
	local offset sha256

	cat "$@" >"$dir/all"
	grep -ao 'SENTINEL={"type":"seal".*}$' "$dir/all" | sed 's/^SENTINEL=//' |
		jq -r '[.offset, .sha256] | @tsv' >"$dir/seals"
	[ -s "$dir/seals" ] || fail "no seals"
	while IFS=$'\t' read -r offset sha256; do
		[ "$(head -c "$offset" "$dir/all" | sha256sum | cut -d' ' -f1)" = "$sha256" ] ||
			fail "the seal at $offset does not match"
	done <"$dir/seals"
}

if [ $# -eq 0 ]; then
	mkdir "$dir/capture"
	"${O:-build}/test/test_capture" --write "$dir/capture"
	set -- "$dir"/capture/*.pcapng
	[ $# -gt 2 ] || fail "$# segments where there should be more"
fi
for file; do
	opens_in_capinfos "$file"
	survives_editcap "$file"
	survives_tshark "$file"
	is_an_event_log "$file"
	shows_journal_in_tshark "$file"
	if [ "$(packets "$file")" -gt 0 ]; then
		opens_in_tcpdump "$file"
		shows_packets_in_tshark "$file"
	fi
done
seals_match "$@"
echo "$# segments open in tcpdump, tshark and capinfos, editcap and tshark copy them byte by byte, seals match"
