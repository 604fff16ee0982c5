#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where a packet dies, and by what: in the namespace of the sandbox, and on its way through box. A rule
# for TCP leaves UDP alone: nobody knows what became of that, and nobody is blamed.
set -u
. "$(dirname "$0")/lib.sh"
need ip nft
compile refuses
BUNDLES='' # no guard of the judge is met here

make_blockers output-drop output-reject output-reset postrouting-drop egress-drop tc-egress \
	cg-skb cg-skb-silent tc-ingress-box forward-box prerouting-box
run_sentinel blame -p tcp-connect -p tcp6-connect -p udp-send "${targets[@]}"
run_is blame valid
while read -r way probe what; do
	stopped_is blame "$way" "$probe" "$what"
done <<'TABLE'
output-drop tcp-connect contained at A: netfilter-output
output-drop tcp6-connect contained at A: netfilter-output
output-drop udp-send contained at A: netfilter-output
output-reject tcp-connect contained at A: netfilter-output
output-reject tcp6-connect contained at A: netfilter
output-reject udp-send contained at A: netfilter-output
output-reset tcp-connect contained at A: netfilter-output
output-reset tcp6-connect contained at A: netfilter-output
output-reset udp-send inconclusive at A: null
postrouting-drop tcp-connect contained at A: netfilter-postrouting
postrouting-drop tcp6-connect contained at A: netfilter-postrouting
postrouting-drop udp-send contained at A: netfilter-postrouting
egress-drop tcp-connect contained at A: netfilter-egress
egress-drop tcp6-connect contained at A: netfilter-egress
egress-drop udp-send contained at A: netfilter-egress
tc-egress tcp-connect contained at A: tc-egress
tc-egress tcp6-connect contained at A: tc-egress
tc-egress udp-send contained at A: tc-egress
cg-skb tcp-connect contained at A: cgroup-skb
cg-skb tcp6-connect contained at A: cgroup-skb
cg-skb udp-send contained at A: cgroup-skb
cg-skb-silent tcp-connect contained at A: cgroup-skb
cg-skb-silent tcp6-connect contained at A: cgroup-skb
cg-skb-silent udp-send contained at A: cgroup-skb
tc-ingress-box tcp-connect contained at A: tc-ingress@box
tc-ingress-box tcp6-connect contained at A: tc-ingress@box
tc-ingress-box udp-send contained at A: tc-ingress@box
forward-box tcp-connect contained at A: netfilter@box
forward-box tcp6-connect contained at A: netfilter@box
forward-box udp-send contained at A: netfilter@box
prerouting-box tcp-connect contained at A: netfilter@box
prerouting-box tcp6-connect contained at A: netfilter@box
prerouting-box udp-send contained at A: netfilter@box
TABLE
replays blame
finish
