#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calibrators that are not what they should be, one at a time: the instrument is not in order then,
# says of which of its own tests it failed, and grants nothing.
set -u
. "$(dirname "$0")/lib.sh"

# The same programs with policies of their own beside them.
mkdir -p "$tmp/other/bin"
cp "$BUILD"/sentinel "$BUILD"/sentineld "$BUILD"/sentinel-probe "$BUILD"/sentinel-collector \
	"$BUILD"/sentinel-confine "$tmp/other/bin"
calibrators=$tmp/other/policies/targets
# What stops nothing, and what stops all: neither may be granted by a broken instrument.
make_target closed
make_given open nobody 'uid: 65534' env env

broken() { # name of the run: with what is in the folder of calibrators now
	sentinel=$tmp/other/bin/sentinel run_sentinel "$1" -p udp-send -t "$(target closed)" \
		-t "$(target open)"
}

sound() { # as they are, before one is broken
	mkdir -p "$calibrators"
	cp "$rig_folder"/../../policies/targets/*.yaml "$calibrators"
}

is_rejected() { # run, why
	run_is "$1" rejected "$2"
	is "$1: the exit code" "$code" 3
	cell_is "$1" closed udp-send inconclusive self-test-failed
	cell_is "$1" open udp-send inconclusive self-test-failed control-left-open
	is "$1: what is not scored is still listed: on crossed" \
		"$(cell_of "$1" open udp-send .arms.on.crossed)" true
	replays "$1"
}

sound
broken sound
run_is sound valid
is "sound: the exit code" "$code" 1
cell_is sound closed udp-send contained
cell_is sound open udp-send escaped
replays sound

# The fake target blocks.
sed -i 's/^run: .*/run: [unshare, --user, --net, --, "{cmd}"]/' \
	"$calibrators/claims-all-blocks-nothing.yaml"
broken fake
cell_is fake claims-all-blocks-nothing udp-send provisional
is_rejected fake fake-not-escaped

# The closed lane is open.
sound
sed -i 's/^lane: closed/lane: open/' "$calibrators/deny-all.yaml"
broken deny
cell_is deny deny-all udp-send escaped
is_rejected deny deny-not-contained

# What never starts does, and holds.
sound
sed -i 's/^run: .*/run: [unshare, --user, --net, --, "{cmd}"]/' "$calibrators/never-started.yaml"
broken never
cell_is never never-started udp-send contained
is_rejected never never-not-inconclusive

# What is aimed at a far side that never answers is aimed at the other one.
sound
sed -i '/^far: /d' "$calibrators/deaf-collector.yaml"
broken deaf
cell_is deaf deaf-collector udp-send contained
is_rejected deaf deaf-not-inconclusive

# One is missing.
sound
rm "$calibrators/never-started.yaml"
broken missing
is_rejected missing calibrator-missing
finish
