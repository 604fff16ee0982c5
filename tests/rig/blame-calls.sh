#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who refuses a call before there is a packet. Landlock, and a program on one hook, leave the rest alone,
# and seccomp does not see what a ring does: nobody knows what became of that, and nobody is blamed.
set -u
. "$(dirname "$0")/lib.sh"
need ip
compile refuses
BUNDLES='' # no guard of the judge is met here

make_blockers seccomp seccomp-socket landlock cg-connect cg-sendmsg cg-sock
run_sentinel blame -p tcp-connect -p tcp6-connect -p udp-send -p io-uring-connect -p tcp-fastopen \
	-p udp-write "${targets[@]}"
run_is blame valid
while read -r way probe what; do
	stopped_is blame "$way" "$probe" "$what"
done <<'TABLE'
seccomp tcp-connect contained at A: seccomp:EPERM
seccomp tcp6-connect contained at A: seccomp:EPERM
seccomp udp-send contained at A: seccomp:EPERM
seccomp-socket tcp-connect contained at A: seccomp:EPERM
seccomp-socket tcp6-connect contained at A: seccomp:EPERM
seccomp-socket udp-send contained at A: seccomp:EPERM
landlock tcp-connect contained at A: lsm:EACCES
landlock tcp6-connect contained at A: lsm:EACCES
landlock udp-send inconclusive at A: null
cg-connect tcp-connect contained at A: cgroup-connect:EPERM
cg-connect tcp6-connect contained at A: cgroup-connect:EPERM
cg-connect udp-send inconclusive at A: null
cg-sendmsg tcp-connect inconclusive at A: null
cg-sendmsg tcp6-connect inconclusive at A: null
cg-sendmsg udp-send contained at A: cgroup-sendmsg:EPERM
cg-sock tcp-connect contained at A: cgroup-sock:EPERM
cg-sock tcp6-connect contained at A: cgroup-sock:EPERM
cg-sock udp-send contained at A: cgroup-sock:EPERM
seccomp io-uring-connect inconclusive at A: null
seccomp tcp-fastopen contained at A: seccomp:EPERM
seccomp udp-write contained at A: seccomp:EPERM
landlock io-uring-connect contained at A: lsm:EACCES
landlock tcp-fastopen inconclusive at A: null
landlock udp-write inconclusive at A: null
cg-connect io-uring-connect contained at A: cgroup-connect:EPERM
cg-connect tcp-fastopen contained at A: cgroup-connect:EPERM
cg-connect udp-write contained at A: cgroup-connect:EPERM
TABLE
for way in cg-connect cg-sock; do
	holds "explain shows who refused: $way" grep -q 'refused by another program on the cgroup' \
		<("$BUILD/sentinel" explain "$tmp/blame" "$way" tcp-connect)
done
holds "explain does not say so of others" test -z \
	"$("$BUILD/sentinel" explain "$tmp/blame" landlock tcp-connect | grep 'refused by another')"
replays blame
finish
