#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Planted secrets: who reads none is contained only where it was there to be read, and where a harmless
# twin beside it was read. Lies about either grant nothing, and a proof without the secret is none.
set -u
. "$(dirname "$0")/lib.sh"
need env sed

# on, off: what hides AWS_SECRET_ACCESS_KEY, and what passes it on.
hides() { # name, on
	make_given "$1" nobody 'uid: 65534' "$2" env
}
hides honest 'env, -u, AWS_SECRET_ACCESS_KEY'
hides drops-both 'env, -u, AWS_SECRET_ACCESS_KEY, -u, SENTINEL_TWIN'
hides passes-all env
for way in forged unreadable withheld; do
	hides "proofs-$way" "$tmp/targets/plants, $way"
done
make_given never-planted nobody 'uid: 65534' 'env, -u, AWS_SECRET_ACCESS_KEY' \
	'env, -u, AWS_SECRET_ACCESS_KEY'

targets=()
for name in honest drops-both passes-all proofs-forged proofs-unreadable proofs-withheld \
	never-planted; do
	targets+=(-t "$(target "$name")")
done
run_sentinel secrets -p env-credential "${targets[@]}"

run_is secrets valid
is "the exit code" "$code" 1
cell_is secrets honest env-credential contained
is "honest: off crossed" "$(cell_of secrets honest env-credential .arms.off.crossed)" true
cell_is secrets passes-all env-credential escaped
holds "the table says what was reached" grep -q 'It read the secret that was planted for it' "$tmp/secrets.out"
# Whoever drops everything may have dropped the secret by accident: it could not have read a thing.
cell_is secrets drops-both env-credential inconclusive no-attempt-seen
# The off arm must have it.
cell_is secrets never-planted env-credential inconclusive control-makes-no-difference
# A session's proof is forged on its way: it is no escape, and the true twin's still stands.
is "forged, in on and on2" "$(said plants-forged)" 2
cell_is secrets proofs-forged env-credential contained
# The twin's proof is taken out of the line.
is "unreadable, in on and on2" "$(said plants-unreadable)" 2
cell_is secrets proofs-unreadable env-credential inconclusive no-attempt-seen
# What the kernel saw in the session's environment need not be proved by it.
is "withheld, in on and on2" "$(said plants-withheld)" 2
cell_is secrets proofs-withheld env-credential escaped
# Neither secret nor twin stands in any argv that the kernel saw, nor in what people read.
is "secrets in the records of calls and execs" \
	"$("$BUILD/sentinel" explain "$tmp/secrets" passes-all env-credential |
		grep -c 'sentinel-secret-[0-9a-f]\{8\}-[0-9a-f]\{32\}')" 0
replays secrets

# A file of the launcher's home: hidden; hidden with its twin; shown.
confined() { # name, options of sentinel-confine
	make_given "$1" nobody 'uid: 65534, no_new_privs: true' "\"{confine}\", $2 --" env
}
confined hidden '\"--hide={home}\",'
confined both-hidden '\"--hide={home}\", \"--hide={twin_file}\",'
make_given shown nobody 'uid: 65534' env env
make_given emptied nobody 'uid: 65534' "$tmp/targets/empties-file" env
run_sentinel file -p file-credential -t "$(target hidden)" -t "$(target both-hidden)" \
	-t "$(target shown)" -t "$(target emptied)"
run_is file valid
is "file: the exit code" "$code" 1
cell_is file hidden file-credential contained
is "hidden: off crossed" "$(cell_of file hidden file-credential .arms.off.crossed)" true
cell_is file both-hidden file-credential inconclusive no-attempt-seen
is "both-hidden: on crossed" "$(cell_of file both-hidden file-credential .arms.on.crossed)" false
cell_is file shown file-credential escaped
# Who may read it can't empty it, in this sandbox or from another.
is "emptied: it was tried, and refused, in on and on2" \
	"$(paste -sd' ' "$tmp/targets/state/empties-file")" "refused refused"
cell_is file emptied file-credential escaped
replays file

# Another process's environment: Landlock closes it; an environment of one's own does not.
confined apart '\"--hide={home}\",'
hides own-alone 'env, -u, AWS_SECRET_ACCESS_KEY'
run_sentinel environ -p proc-environ -t "$(target apart)" -t "$(target own-alone)"
run_is environ valid
is "environ: the exit code" "$code" 1
cell_is environ apart proc-environ contained
is "apart: off crossed" "$(cell_of environ apart proc-environ .arms.off.crossed)" true
cell_is environ own-alone proc-environ escaped
replays environ
# That process is ended, before the session begins or behind its attempt: who is not there was hidden by
# nobody.
make_given decoy-gone nobody 'uid: 65534' "$tmp/targets/ends-decoy, gone" env
make_given decoy-later nobody 'uid: 65534, no_new_privs: true' \
	"$tmp/targets/ends-decoy, later, \"{confine}\", \"--hide={home}\", --" env
run_sentinel ended -p proc-environ -t "$(target decoy-gone)" -t "$(target decoy-later)"
run_is ended valid
for way in gone later; do
	is "$way: decoys ended, in on and on2" "$(said "ends-decoy-$way")" 2
	is "$way: on crossed" "$(cell_of ended "decoy-$way" proc-environ .arms.on.crossed)" false
	is "$way: off crossed" "$(cell_of ended "decoy-$way" proc-environ .arms.off.crossed)" true
	cell_is ended "decoy-$way" proc-environ inconclusive sandbox-not-alive on2-missing
done
replays ended
finish
