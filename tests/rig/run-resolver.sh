#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sandboxes are told to ask their lane's resolver, and nobody else on the machine hears of it.
# shellcheck disable=SC2317 # functions are called by name
set -u
. "$(dirname "$0")/lib.sh"

# Leaves what it reads there in a file of the uid's that it runs as.
cat >"$tmp/targets/reads" <<-'SH'
	#!/bin/sh
	cat /etc/resolv.conf >"@DIR@/state/$NAME.$(id -u)" 2>&1
	exec unshare --user --net -- "$@"
SH
sed -i "s|@DIR@|$tmp/targets|" "$tmp/targets/reads"
chmod 755 "$tmp/targets/reads"
make_given reads nobody "namespaces: [user, net], uid: $(id -u nobody)" \
	"env, NAME=as-nobody, $tmp/targets/reads" "$tmp/targets/opened"
make_given writes root 'namespaces: [user, net], uid: 65534' \
	"sh, -c, 'echo nameserver 127.0.0.9 >>/etc/resolv.conf; NAME=as-root exec \"\$0\" \"\$@\"', $tmp/targets/reads" \
	"$tmp/targets/opened"

is_the_lanes() { # file
	[ "$(grep -v '^#' "$tmp/targets/state/$1" | paste -sd' ')" = 'nameserver 10.117.0.53' ]
}

machine() {
	cat /proc/self/mountinfo
	stat -Lc '%i %Y %s' /etc/resolv.conf
	cat /etc/resolv.conf
	find /run/sentinel -maxdepth 1
} 2>&1

mkdir -p /run/sentinel/dir /run/sentinel/lock
machine >"$tmp/was"
run_sentinel told -p udp-send -t "$(target reads)" -t "$(target writes)"
holds "a sandbox reads its lane's resolver" is_the_lanes as-nobody.65534
holds "so does root's, after it tried to change it" is_the_lanes as-root.0
machine >"$tmp/now"
holds "nobody else does" cmp "$tmp/was" "$tmp/now"

# In a mount namespace with another /etc: the file is a link, or is not there.
elsewhere() { # name, what is done to the other /etc
	cp -a /etc "$tmp/another-etc"
	rm -f "$tmp/another-etc/resolv.conf" "$tmp/targets/state/as-nobody.65534"
	(cd "$tmp/another-etc" && eval "$2")
	# shellcheck disable=SC2016 # $0 and $@ are the inner shell's
	unshare --mount bash -c 'mount --bind "$0" /etc && exec "$@"' "$tmp/another-etc" \
		"$BUILD/sentinel" run -q -o "$tmp/$1" -p udp-send -t "$(target reads)" \
		>"$tmp/$1.out" 2>"$tmp/$1.err" </dev/null
	rm -rf "$tmp/another-etc"
	run_is "$1" valid
}

echo 'nameserver 127.0.0.8' >"$tmp/another"
elsewhere linked "ln -s $tmp/another resolv.conf"
holds "linked: it reads its lane's resolver" is_the_lanes as-nobody.65534
is "linked: the file that the link leads to" "$(cat "$tmp/another")" 'nameserver 127.0.0.8'
elsewhere missing true
holds "missing: which is said" grep -q "warn: .*/etc/resolv.conf.*ignoring" "$tmp/missing.err"
holds "missing: it stays so" grep -q 'No such file' "$tmp/targets/state/as-nobody.65534"
finish
