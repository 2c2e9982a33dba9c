#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the device's qtests against a QEMU that has the Aries NIC.
#
# usage: scripts/run-qtest.sh [PATTERN...]
#
# PATTERN selects tests by a part of their name. QEMU is a version of build-qemu.sh
# (7.2, the default, or 10) or the path of another binary. Prints TAP and a summary. Exit status: 0 all passed, 1 not.

. "$(dirname "$0")/lib.sh"

if [[ ${QEMU:-} != */* ]]; then
	version=${QEMU:-7.2}
	QEMU=$("$TOP/scripts/build-qemu.sh" --print) || exit 1
	[ -x "$QEMU" ] || die "no QEMU at $QEMU: run 'make qemu QEMU=$version', or set QEMU to the path of another"
fi
[ -x "$QEMU" ] || die "no QEMU at $QEMU: set QEMU to 7.2, 10 or the path of a binary"
"$QEMU" -device help 2>/dev/null | grep -q '"aries-nic"' || die "$QEMU has no aries-nic: set QEMU to one of build-qemu.sh"
export QEMU
exec python3 "$TOP/qemu-device/tests-qtest/run.py" "$@"
