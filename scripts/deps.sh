#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building, running and testing need: Debian 12 and 13, Ubuntu 24.04.
# Does nothing, fast, where all of it is there.
#
# usage: scripts/deps.sh [--check | --list]
#   --check  install nothing: name what is missing, exit 1 if anything is
#   --list   the packages of this system, with what each is for
set -euo pipefail

die() {
	echo "deps: $*" >&2
	exit 1
}

os_id=unknown os_version='' os_like=''
if [ -r /etc/os-release ]; then
	# shellcheck disable=SC1091 # the system's own file
	os_id=$(. /etc/os-release && echo "${ID:-unknown}")
	# shellcheck disable=SC1091
	os_version=$(. /etc/os-release && echo "${VERSION_ID:-}")
	# shellcheck disable=SC1091
	os_like=$(. /etc/os-release && echo "${ID_LIKE:-}")
fi

# The sanitizers' and the fuzzer's run-time library, of the system's default clang.
clang_rt() {
	case "$os_id $os_version" in
	"debian 12") echo libclang-rt-14-dev ;;
	*) echo libclang-rt-dev ;;
	esac
}

# Ubuntu 24.04 ships bpftool in the tools of each kernel, behind a wrapper that wants those of the
# running one.
bpftool_packages() {
	local running

	running=linux-tools-$(uname -r)
	if [ "$os_id" != ubuntu ]; then
		echo bpftool
	elif apt-cache show "$running" >/dev/null 2>&1; then
		echo "linux-tools-common $running"
	else
		echo "linux-tools-common linux-tools-generic"
	fi
}

# Ubuntu has it as a snap only: there the test of the report says that it is missing.
browser_line() {
	[ "$os_id" = ubuntu ] ||
		echo "chromium | tests that open the HTML report in a browser (120 MB to fetch, 410 MB there)"
}

# One line per purpose: packages | what they are for.
wanted() {
	cat <<-LIST
		make gcc git pkg-config | building
		clang $(bpftool_packages) | building the kernel side
		$(clang_rt) | sanitizers and fuzzing with clang
		libbpf-dev libelf-dev zlib1g-dev | loading the kernel side
		libnl-3-dev libnl-route-3-dev | making the rig's namespaces and links
		libjson-c-dev libyaml-dev | reading records and target files
		libssl-dev | digests, proofs and TLS
		libpcap-dev | reading captures of other tools
		scdoc | manual pages
		unbound | the resolver that sandboxes are given
		util-linux bubblewrap systemd-container | the sandboxes that are tested by default
		libcmocka-dev libldns-dev | unit tests, and the oracle of the DNS parser
		iproute2 nftables mount procps perl openssl strace jq libxml2-utils | tests on the rig
		tcpdump tshark | tests that captures open elsewhere
		$(browser_line)
		openssh-client | tests that ssh-keygen checks our signatures
		qemu-system-x86 busybox-static cpio xz-utils | tests on older kernels
		clang-format cppcheck shellcheck codespell | lint
	LIST
}

packages() {
	wanted | cut -d'|' -f1 | tr -s ' ' '\n' | sed '/^$/d'
}

missing() {
	local all have

	mapfile -t all < <(packages)
	# dpkg-query fails for a package that it does not know: that is an answer, too.
	have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${all[@]}" 2>/dev/null |
		sed -n 's/^installed //p' || true)
	printf '%s\n' "${all[@]}" | grep -vxF -f <(printf '%s\n' "$have") || true
}

# A package's line of the list, for people.
reason_of() {
	wanted | while IFS='|' read -r names why; do
		case " $names " in
		*" $1 "*) echo "$1:$why" ;;
		esac
	done
}

install_packages() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends "$@" && return
	echo "deps: trying again with fresh package lists" >&2
	apt-get update
	apt-get install -y --no-install-recommends "$@"
}

case " $os_id $os_like " in
*" debian "*) ;;
*) die "this system is '$os_id', and only Debian and Ubuntu are known here;" \
	"install the like of these by hand: $(packages | tr '\n' ' ')" ;;
esac

case "${1:-}" in
--list)
	wanted
	exit 0
	;;
--check | "") ;;
*) die "unknown option '$1': expected --check or --list" ;;
esac

mapfile -t need < <(missing)
[ ${#need[@]} -gt 0 ] || exit 0

echo "deps: missing ${#need[@]} packages:" >&2
for package in "${need[@]}"; do
	echo "  $(reason_of "$package")" >&2
done
[ "${1:-}" != --check ] || exit 1

if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null ||
		die "not root, and there is no sudo: run scripts/deps.sh as root once"
	echo "deps: installing through sudo" >&2
	exec sudo -- "$0"
fi
install_packages "${need[@]}" >&2 || die "apt-get could not install them, see above"
mapfile -t need < <(missing)
[ ${#need[@]} -eq 0 ] || die "still missing after the installation: ${need[*]}"
