#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages the build and the tests need, those that are missing only.
#
#   scripts/setup.sh [--list] [tests] [lint] [interop] [lustre] [debug] [mpi] [figures] [doc]      what only those need comes with their names
#
# KERNEL=6.1 (default) or 6.12 selects the guest kernel whose headers are needed.
# The kernel image is not installed: fetch-kernel.sh unpacks it below .build.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/kernel-release.sh"

# Space for everything below .build (QEMU's source and objects, kernels, images, sanitizer builds).
NEED_MIB=2000

# Packages, by purpose.
PKG_BUILD="gcc g++ libc6-dev make ninja-build meson pkg-config python3 patch"
PKG_QEMU="dpkg-dev xz-utils libglib2.0-dev libpixman-1-dev libfdt-dev zlib1g-dev libcap-ng-dev libattr1-dev
	seabios qemu-system-data"
PKG_KERNEL="kmod libelf-dev"
PKG_IMAGE="busybox-static cpio"
PKG_TOOLS="libpci-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev"
PKG_UNIT_TESTS="libcmocka-dev"
PKG_TESTS="rsync tshark clang python3-otf2 bash-completion"
PKG_INTEROP="autoconf automake libtool flex"
PKG_LUSTRE="autoconf automake libtool flex bison libyaml-dev libnl-3-dev libnl-genl-3-dev libkeyutils-dev libmount-dev libreadline-dev"
PKG_DEBUG="flex bison bc"
PKG_MPI="libopenmpi-dev openmpi-bin"
PKG_FIGURES="python3-matplotlib"
PKG_DOC="python3-sphinx python3-myst-parser"
PKG_LINT="clang-format clang-tidy sparse shellcheck"

missing() {
	local pkg
	for pkg in "$@"; do
		dpkg-query -W -f='${db:Status-Abbrev}' "$pkg" 2>/dev/null | grep -q '^.i' || echo "$pkg"
	done
}

check_system() {
	local id="" version=""
	[ -r /etc/os-release ] && id=$(. /etc/os-release && echo "${ID:-}") && version=$(. /etc/os-release && echo "${VERSION_ID:-}")
	if [ "$id" != debian ] || ! command -v apt-get >/dev/null; then
		die "this is not Debian: the build takes QEMU, kernels and headers from Debian 12's packages"
	fi
	if [ "$version" != 12 ] && [ -z "${OPENGNI_ANY_DEBIAN:-}" ]; then
		die "Debian ${version:-unknown} is not Debian 12 (set OPENGNI_ANY_DEBIAN=1 to try all the same)"
	fi
	[ "$(dpkg --print-architecture)" = amd64 ] || die "amd64 is the only architecture supported"
}

check_space() {
	local have used=0
	mkdir -p "$BUILD" 2>/dev/null || die "cannot create $BUILD: is the directory writable?"
	have=$(free_mib "$BUILD")
	used=$(du -sm "$BUILD" | cut -f1)
	if [ $((have + used)) -lt "$NEED_MIB" ]; then
		die "no space for build files: $BUILD needs $NEED_MIB MiB, $((have + used)) MiB are free (or set OPENGNI_BUILD to another place)"
	fi
}

install() {
	local log=$BUILD/logs/apt-install.log try
	need_logs
	for try in 1 2; do
		if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
			-o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1; then
			return
		fi
		[ $try = 1 ] && apt_update
	done
	die "$(apt_cause "$log")"
}

main() {
	local want list=no lint=no tests=no interop=no lustre=no debug=no mpi=no figures=no doc=no arg need
	for arg in "$@"; do
		case $arg in
		--list) list=yes ;;
		lint) lint=yes ;;
		tests) tests=yes ;;
		interop) interop=yes ;;
		lustre) lustre=yes ;;
		debug) debug=yes ;;
		mpi) mpi=yes ;;
		figures) figures=yes ;;
		doc) doc=yes ;;
		*) wrong "no argument '$arg'" ;;
		esac
	done
	check_system
	check_space
	want="$PKG_BUILD $PKG_QEMU $PKG_KERNEL $PKG_IMAGE $PKG_TOOLS $PKG_UNIT_TESTS"
	[ $tests = yes ] && want="$want $PKG_TESTS"
	[ $lint = yes ] && want="$want $PKG_LINT"
	[ $interop = yes ] && want="$want $PKG_INTEROP"
	[ $lustre = yes ] && want="$want $PKG_LUSTRE"
	[ $debug = yes ] && want="$want $PKG_DEBUG"
	[ $mpi = yes ] && want="$want $PKG_MPI"
	[ $figures = yes ] && want="$want $PKG_FIGURES"
	[ $doc = yes ] && want="$want $PKG_DOC"
	want="$want linux-headers-$(kernel_release "$KERNEL")" || exit 1
	if [ $list = yes ]; then
		printf '%s\n' $want
		return
	fi
	# shellcheck disable=SC2086  # lists of words
	need=$(missing $want)
	if [ -z "$need" ]; then
		echo "all packages are installed"
		return
	fi
	check_root "installing ${need//$'\n'/ }"
	# shellcheck disable=SC2086
	echo "installing: "$need
	# shellcheck disable=SC2086
	install $need
}

KERNEL=${KERNEL:-6.1}
main "$@"
