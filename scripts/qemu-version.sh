# SPDX-License-Identifier: GPL-2.0-or-later
# Which QEMU is meant by QEMU=; sourced after lib.sh.
# shellcheck shell=bash disable=SC2034

# qemu_choose VERSION: sets QEMU_VERSION (7.2 or 10), QEMU_SUITE (the release of Debian that has its source),
# QEMU_SERIES (the version that its patches are for) and QEMU_DIR (where it is built).
qemu_choose() {
	QEMU_VERSION=$1
	case $QEMU_VERSION in
	7.2) QEMU_SUITE=bookworm QEMU_SERIES=7.2 QEMU_DIR=$BUILD/qemu ;;
	10) QEMU_SUITE=trixie QEMU_SERIES=10.0 QEMU_DIR=$BUILD/qemu-10 ;;
	*) die "no QEMU '$QEMU_VERSION': QEMU=7.2 or QEMU=10" ;;
	esac
}
