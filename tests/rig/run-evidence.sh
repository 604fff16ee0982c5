#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A bundle is checked by tools that everybody has, and each file of it that is changed, goes or comes is
# noticed by them and by us: then nothing is contained, and the exit status says so.
# shellcheck disable=SC2317 # functions are called by name
set -u
. "$(dirname "$0")/lib.sh"
need ssh-keygen sha256sum tshark jq

signers=$SENTINEL_KEY.allowed_signers
run_sentinel whole -p udp-send -t unshare-net
is "the run: exit" "$code" 0

# ---- by tools of others ----

ssh_verifies() { # bundle, allowed signers
	ssh-keygen -Y verify -f "$2" -I sentinel -n sentinel-evidence -s "$1/SHA256SUMS.sig" \
		<"$1/SHA256SUMS" >"$tmp/ssh" 2>&1
}

sums_hold() { # bundle
	(cd "$1" && sha256sum -c --strict --quiet SHA256SUMS) >/dev/null 2>&1
}

ssh-keygen -q -t ed25519 -N '' -f "$tmp/other"
echo "sentinel $(cut -d' ' -f1,2 "$tmp/other.pub")" >"$tmp/other.signers"
holds "ssh-keygen verifies the signature" ssh_verifies "$tmp/whole" "$signers"
ssh_verifies "$tmp/whole" "$tmp/other.signers"
is "... and not as somebody else's" "$(grep -c '^Could not verify' "$tmp/ssh")" 1
holds "sha256sum finds every file as it was" sums_hold "$tmp/whole"
fingerprint=$(ssh-keygen -lf "$SENTINEL_KEY.pub" | cut -d' ' -f2)
is "the key's mode" "$(stat -c '%a %u' "$SENTINEL_KEY")" '600 0'
is "files of the bundle that the sums leave out" \
	"$(cd "$tmp/whole" && find . -type f ! -name 'SHA256SUMS*' | wc -l)" "$(wc -l <"$tmp/whole/SHA256SUMS")"

rig_tools=$rig_folder/../golden/capture-tools.sh
holds "the capture opens in tcpdump, tshark and capinfos, editcap and tshark -w copy it" \
	"$rig_tools" "$tmp/whole"/capture-*.pcapng

# ---- what is in it ----

tshark -n -r "$tmp/whole/capture-000001.pcapng" -Y systemd_journal -T fields \
	-e systemd_journal.field.value 2>/dev/null | grep -o '{"type":.*}' >"$tmp/records"

recorded() { # jq expression over the array of all records
	jq -sr "$1" "$tmp/records"
}

sha256_of() { # file
	sha256sum "$1" | cut -d' ' -f1
}

is "the host's kernel" "$(recorded '.[0]["host.os.kernel"]')" "$(uname -srvm)"
is "the BPF object" "$(recorded '.[0]["observer.bpf_sha256"]')" "$(sha256_of "$BUILD/sentinel.bpf.o")"
is "a clock anchor at both ends" \
	"$(recorded '[.[0], (.[] | select(.type == "run.end"))] | map(.realtime_ns, .boottime_ns) |
		map(select(test("^[0-9]{12,}$"))) | length')" 4
unshare=$(realpath "$(command -v unshare)")
is "the platform's program" \
	"$(recorded '.[] | select(.type == "program" and .target == "unshare-net") |
		[."file.path", ."file.size", ."file.hash.sha256"] | join(" ")')" \
	"$unshare $(stat -c %s "$unshare") $(sha256_of "$unshare")"
is "our own that run inside" \
	"$(recorded '[.[] | select(.type == "program" and (has("target") | not)) | ."file.hash.sha256"] |
		index("'"$(sha256_of "$BUILD/sentinel-probe")"'") != null')" true
is "the platform's version" \
	"$(recorded '.[] | select(.type == "target" and .target == "unshare-net") | .version')" \
	"$(unshare --version | head -1)"
is "the target's file, which is in the bundle" \
	"$(recorded '.[] | select(.type == "target" and .target == "unshare-net") | .sha256')" \
	"$(sha256_of "$tmp/whole/targets/unshare-net.yaml")"
quote=$(recorded '.[] | select(.type == "cell" and .target == "unshare-net") | ."claim.quote"')
holds "the claim's words, which are in that file: '$quote'" \
	grep -qF "${quote:-nothing}" <(tr -s '\n ' ' ' <"$tmp/whole/targets/unshare-net.yaml")
is "needed hooks that were not attached at both ends" \
	"$(recorded '[.[] | select(.type == "attach" and .needed and (.attached | not))] | length')" 0
is "... of how many" "$(recorded '[.[] | select(.type == "attach" and .needed and .final)] | length > 20')" true

# ---- by us ----

verified() { # name, exit, options...
	local name=$1 want=$2

	shift 2
	"$BUILD/sentinel" verify "$@" "$tmp/$name" >"$tmp/$name.verify" 2>&1
	is "$name: verify $*: exit" $? "$want"
}

verified whole 0
holds "... tells the signer" grep -qF "by $fingerprint, not compared" "$tmp/whole.verify"
for trusted in "$signers" "$SENTINEL_KEY.pub"; do
	verified whole 0 --key "$trusted"
	holds "... is content with it" grep -qF "by $fingerprint, which is a key of" "$tmp/whole.verify"
done
verified whole 5 --key "$tmp/other.pub"
holds "... says why" grep -q 'NO key of --key' "$tmp/whole.verify"
verified whole 2 --key "$tmp/nowhere"
verified whole 2 --key /etc/passwd
verified nowhere 2
"$BUILD/sentinel" verify >/dev/null 2>&1
is "verify without a bundle: exit" $? 2
"$BUILD/sentinel" verify "$tmp/whole" >/dev/full 2>/dev/null
is "verify into a full disk: exit" $? 6
"$BUILD/sentinel" verify "$tmp/whole/capture-000001.pcapng" >/dev/null
is "verify of a capture alone: exit" $? 0
is "as JSON" "$("$BUILD/sentinel" verify --json --key "$signers" "$tmp/whole" |
	jq -c '[.whole, .damaged, .sums, .signature.state, .signature.trusted, .bytes == .sealed.bytes]')" \
	'[true,[],true,"good",true,true]'

# ---- changed ----

copy() { # name
	rm -rf "${tmp:?}/$1"
	cp -r "$tmp/whole" "$tmp/$1"
}

# Another byte in the place of the one there.
flip() { # file, offset
	local byte

	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf '%b' "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

never_contained() { # name
	local status

	"$BUILD/sentinel" replay --json "$tmp/$1" >"$tmp/$1.json" 2>"$tmp/$1.err"
	status=$?
	is "$1: replay: exit" $status 5
	is "$1: cells contained or provisional" \
		"$(jq '[.cells[] | select(.verdict == "contained" or .verdict == "provisional")] | length' \
			"$tmp/$1.json")" 0
	"$BUILD/sentinel" explain --color never "$tmp/$1" unshare-net udp-send >"$tmp/$1.why" 2>&1
	is "$1: explain: exit" $? 5
	is "$1: the cell in explain" "$(grep -c 'contained' "$tmp/$1.why")" 0
}

damaged() { # name, file, first, last
	verified "$1" 5
	holds "$1: the bytes are named" grep -qE "^  damaged +(.*/)?$2, bytes $3 to $4: " "$tmp/$1.verify"
}

size_of() { # file
	stat -c %s "$1"
}

for file in SHA256SUMS SHA256SUMS.sig verdict.json probes.json targets/unshare-net.yaml; do
	name=changed-${file//\//-}
	copy "$name"
	flip "$tmp/$name/$file" 7
	if [ "$file" = SHA256SUMS ]; then
		verified "$name" 5
	else
		damaged "$name" "$file" 0 $(($(size_of "$tmp/whole/$file") - 1))
	fi
	never_contained "$name"
done

copy gone
rm "$tmp/gone/probes.json"
verified gone 5
never_contained gone
copy come
touch "$tmp/come/notes"
verified come 5
never_contained come

# Whoever changes a file can seal it anew; not sign it.
copy resealed
sed -i 's/unshare/UNSHARE/' "$tmp/resealed/targets/unshare-net.yaml"
(cd "$tmp/resealed" && find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort |
	xargs sha256sum >SHA256SUMS)
verified resealed 5
rm "$tmp/resealed/SHA256SUMS.sig"
verified resealed 0
verified resealed 5 --key "$signers"

# ---- the capture: the sums are made anew, so that the seals alone can tell ----

reseal() { # name
	rm -f "$tmp/$1/SHA256SUMS.sig"
	(cd "$tmp/$1" && sha256sum capture-* >sums && grep -v ' capture-' SHA256SUMS >>sums; mv sums SHA256SUMS)
}

capture='capture-000001.pcapng'
bytes=$(size_of "$tmp/whole/$capture")
for offset in 9 $((bytes / 3)) $((bytes / 2)) $((bytes - 60)); do
	name=flipped-$offset
	copy "$name"
	flip "$tmp/$name/$capture" "$offset"
	reseal "$name"
	verified "$name" 5
	range=$(sed -nE "s/^  damaged .*$capture, bytes ([0-9]+) to ([0-9]+): .*/\1 \2/p" "$tmp/$name.verify")
	# shellcheck disable=SC2016 # awk's own
	holds "$name: within the bytes that are named: $range" \
		awk -v at="$offset" '{ exit !($1 <= at && at <= $2) }' <<<"$range"
	never_contained "$name"
done

# ---- without a key ----

SENTINEL_KEY=none run_sentinel unsigned -p udp-send -t unshare-net
is "unsigned: exit" "$code" 0
holds "unsigned: no signature" test ! -e "$tmp/unsigned/SHA256SUMS.sig"
verified unsigned 0
mkdir -m 777 "$tmp/open"
run_sentinel refused -p udp-send -t unshare-net --key "$tmp/open/key"
is "a key where others may write: exit" "$code" 2
holds "... is not made" test ! -e "$tmp/open/key"
holds "... and no folder of a run" test ! -e "$tmp/refused"

finish
