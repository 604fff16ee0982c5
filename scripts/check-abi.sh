#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The layout that the kernel side and user space share must not change under one schema number.
# Comments and blanks don't count.
#
# usage: scripts/check-abi.sh [--update]    --update: after raising SNT_SCHEMA
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

header=bpf/events.h
known=scripts/events.abi

schema=$(sed -nE 's/^#define SNT_SCHEMA ([0-9]+).*/\1/p' "$header")
# -fpreprocessed removes comments and expands nothing; -dD keeps the #defines, which are numbers of
# the layout too.
sum=$(sed '/^#include/d; /^#define SNT_SCHEMA /d' "$header" |
	gcc -E -P -fpreprocessed -dD -x c - | tr -s '[:space:]' ' ' | sha256sum | cut -d' ' -f1)

if [ "${1:-}" = --update ]; then
	echo "$schema $sum" >"$known"
	exit 0
fi
read -r known_schema known_sum <"$known"
if [ "$sum" = "$known_sum" ] && [ "$schema" = "$known_schema" ]; then
	exit 0
fi
if [ "$schema" = "$known_schema" ]; then
	echo "$header changed, and SNT_SCHEMA is still $schema: raise it, then check-abi.sh --update"
else
	echo "SNT_SCHEMA is $schema, $known has $known_schema: run check-abi.sh --update"
fi
exit 1
