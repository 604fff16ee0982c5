#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sentinel-confine: each of its options refuses what it says, and nothing beside that. In a network
# namespace of its own, as nobody. BUILD says where the programs are (build/ by default).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
build=$(realpath "${BUILD:-build}")

for command in perl setpriv; do
	command -v "$command" >/dev/null && continue
	echo "skipped: $command is not installed"
	exit 77
done
if [ "${1:-}" != inside ]; then
	if ! unshare --net true 2>/dev/null; then
		echo "skipped: root is needed, to make a network namespace"
		exit 77
	fi
	BUILD=$build exec unshare --net --pid --fork --mount-proc -- "$0" inside
fi

failures=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
ip link set lo up

is() { # what, the value, what it must be
	[ "$2" = "$3" ] && { echo "ok: $1: $2"; return; }
	echo "FAILED: $1: $2, not $3"
	failures=$((failures + 1))
}

cp "$build/sentinel-confine" "$tmp/confine"
cat >"$tmp/try" <<'PERL'
use Socket;
# What it is told to try, one word each: prints ok, or the error's number.
sub say_it { print $_[0] ? "ok " : (0 + $!) . " " }
for my $what (@ARGV) {
	my ($number) = $what =~ /(\d+)/;
	if ($what =~ /^socket=(\d+),(\d+)$/) { say_it(socket(my $s, $1, $2, 0)) }
	elsif ($what eq "pair") { say_it(socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0)) }
	elsif ($what =~ /^nr=(\d+),(\d+)$/) { say_it(syscall($1 + 0, $2 + 0, 2, 0) >= 0) }
	elsif ($what =~ /^connect=(\d+)$/) {
		socket(my $s, AF_INET, SOCK_STREAM, 0) or die;
		say_it(connect($s, pack_sockaddr_in($number, INADDR_LOOPBACK)));
	} elsif ($what =~ /^udp=(\d+)$/) {
		socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
		say_it(defined send($s, "x", 0, pack_sockaddr_in($number, INADDR_LOOPBACK)));
	} elsif ($what =~ /^bind=(\d+)$/) {
		socket(my $s, AF_INET, SOCK_STREAM, 0) or die;
		say_it(bind($s, pack_sockaddr_in($number, INADDR_LOOPBACK)));
	} elsif ($what =~ /^read=(.*)$/) { say_it(open(my $f, "<", $1)) }
	elsif ($what =~ /^write=(.*)$/) { say_it(open(my $f, ">", $1)) }
	elsif ($what =~ /^list=(.*)$/) { say_it(opendir(my $d, $1)) }
	elsif ($what =~ /^env=(.*)$/) { print exists $ENV{$1} ? "ok " : "unset " }
	elsif ($what eq "nnp") { open(my $f, "<", "/proc/self/status"); print grep { s/^NoNewPrivs:\s+(\d)\n/$1 / } <$f> }
}
PERL

# As nobody, who can read what is there for everybody.
tries() { # arguments of sentinel-confine, --, what to try
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/confine" \
		"${@:1:$(($# - words))}" perl "$tmp/try" "${@:$(($# - words + 1))}" 2>"$tmp/error" | sed 's/ $//'
}

exits() { # what, the code, a part of what it says, arguments
	local code=0

	"$tmp/confine" "${@:4}" 2>"$tmp/error" || code=$?
	is "$1: exit code" "$code" "$2"
	if ! grep -qF -- "$3" "$tmp/error"; then
		echo "FAILED: $1 said $(cat "$tmp/error"), not $3"
		failures=$((failures + 1))
	fi
}

unix=1 inet=2 stream=1 datagram=2 EPERM=1 EACCES=13 ECONNREFUSED=111

echo "# nothing asked for: no_new_privs alone"
words=6
is "bare" "$(tries -- socket=$unix,$stream connect=9 udp=9 read=/etc/passwd env=PATH nnp)" \
	"ok $ECONNREFUSED ok ok ok 1"

echo "# --no-unix"
words=6
is "unix" "$(tries --no-unix socket=$unix,$stream socket=$unix,$datagram pair socket=$inet,$stream \
	udp=9 read=/etc/passwd)" "$EPERM $EPERM ok ok ok ok"
case $(uname -m) in
x86_64)
	words=3 # the upper half of the argument is not the kernel's; x32 is another table
	is "unix, by number" "$(tries --no-unix nr=41,$unix nr=41,$((unix + (1 << 32))) \
		nr=$((0x40000000 + 41)),$unix)" "$EPERM $EPERM $EPERM"
	;;
esac

echo "# --tcp-connect"
words=5
is "no port" "$(tries --tcp-connect= connect=7 connect=9 udp=9 bind=7777 socket=$unix,$stream)" \
	"$EACCES $EACCES ok ok ok"
is "two ports" "$(tries --tcp-connect=7,9 connect=7 connect=8 connect=9 udp=8 read=/etc/passwd)" \
	"$ECONNREFUSED $EACCES $ECONNREFUSED ok ok"

echo "# --unset"
words=3
is "variables" "$(A=1 B=2 C=3 tries --unset=A --unset=B env=A env=B env=C)" "unset unset ok"

echo "# --hide"
mkdir -p "$tmp/home/.aws" "$tmp/home2" "$tmp/list"
for file in home/.aws/credentials home/notes home2/notes notes; do
	echo x >"$tmp/$file"
	chmod 666 "$tmp/$file"
done
ln -s home "$tmp/link"
words=8
is "a folder" "$(tries "--hide=$tmp/home" "read=$tmp/home/.aws/credentials" "read=$tmp/home/notes" \
	"read=$tmp/link/notes" "read=$tmp/home2/notes" "read=$tmp/notes" "list=$tmp/home" \
	"write=$tmp/home/notes" read=/proc/self/environ)" "$EACCES $EACCES $EACCES ok ok ok ok ok"
words=5
is "by a link, and a file" "$(tries "--hide=$tmp/link" "--hide=$tmp/home2/notes" \
	"read=$tmp/home/notes" "read=$tmp/home2/notes" "read=$tmp/notes" read=/etc/passwd \
	read=/dev/null)" "$EACCES $EACCES ok ok ok"
mkdir -m 711 "$tmp/blind"
mkdir -m 755 "$tmp/blind/hidden" "$tmp/blind/other"
echo x >"$tmp/blind/hidden/a"
echo x >"$tmp/blind/other/a"
echo x >"$tmp/blind/hidden/beside"
words=3 # what can't be listed goes with it, but for the way to what is hidden
is "below what can't be listed" "$(tries "--hide=$tmp/blind/hidden" "read=$tmp/blind/hidden/a" \
	"read=$tmp/blind/other/a" "read=$tmp/notes")" "$EACCES $EACCES ok"
is "below, deeper" "$(tries "--hide=$tmp/blind/hidden/a" "read=$tmp/blind/hidden/a" \
	"read=$tmp/blind/other/a" "read=$tmp/blind/hidden/beside")" "$EACCES $EACCES ok"

echo "# other processes' environment is closed with any of the Landlock rules"
SECRET=1 setpriv --reuid=65534 --regid=65534 --clear-groups perl -e 'sleep 60' &
other=$!
until grep -q SECRET "/proc/$other/environ" && [ "$(cat "/proc/$other/comm")" = perl ]; do
	read -r -t 0.02 _ <> <(:) || true
done
words=1
is "bare" "$(tries -- "read=/proc/$other/environ")" ok
is "hiding" "$(tries "--hide=$tmp/home" "read=/proc/$other/environ")" "$EACCES"
kill "$other"

echo "# all at once, and heirs"
words=5
is "all" "$(A=1 tries --no-unix --tcp-connect= --unset=A "--hide=$tmp/home" -- "$tmp/confine" -- \
	socket=$unix,$stream connect=9 env=A "read=$tmp/home/notes" "read=$tmp/notes")" \
	"$EPERM $EACCES unset $EACCES ok"

echo "# what it can't do it does not start"
exits "no command" 125 usage --no-unix
exits "an unknown option" 125 usage --no-such -- true
exits "no port" 125 "'65536'" --tcp-connect=65536 -- true
exits "no name" 125 "'A=B'" --unset=A=B -- true
exits "a relative path" 125 "'home'" --hide=home -- true
exits "all of it" 125 "'/'" --hide=/ -- true
exits "what is not there" 125 "No such file" "--hide=$tmp/nothing" -- true
exits "no such command" 127 "No such file" -- "$tmp/nothing"
exits "no program" 126 "Permission denied" -- "$tmp/notes"
# A kernel without Landlock: its calls are answered ENOSYS by a filter of the test's own.
cat >"$tmp/without" <<'PERL'
# prctl(PR_SET_NO_NEW_PRIVS), then a filter: landlock_create_ruleset (444 everywhere) -> ENOSYS
my $code = pack("SCCL" x 4, 0x20, 0, 0, 0, 0x15, 0, 1, 444, 0x06, 0, 0, 0x00050026, 0x06, 0, 0, 0x7fff0000);
my $program = pack("Sx6P", 4, $code);
my $prctl = {x86_64 => 157, aarch64 => 167}->{shift @ARGV} or exit 77;
syscall($prctl, 38, 1, 0, 0, 0) == 0 && syscall($prctl, 22, 2, $program) == 0 or die "$!";
exec @ARGV;
PERL
for option in --tcp-connect= "--hide=$tmp/home"; do
	code=0
	perl "$tmp/without" "$(uname -m)" "$tmp/confine" "$option" -- true 2>"$tmp/error" || code=$?
	is "no Landlock, $option: exit code" "$code" 125
	is "it says why" "$(grep -c 'no Landlock' "$tmp/error")" 1
done
code=0
perl "$tmp/without" "$(uname -m)" "$tmp/confine" --no-unix -- true || code=$?
is "no Landlock, --no-unix: exit code" "$code" 0

exit $((failures > 0))
