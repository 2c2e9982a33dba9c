#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
#
# Runs the device's qtests against a QEMU that has the Aries NIC.
#
# usage: scripts/run-qtest.sh [PATTERN...]
#
# PATTERN selects tests by a part of their name. QEMU names the binary (default:
# the one of build-qemu.sh). Prints TAP and a summary. Exit status: 0 all passed, 1 not.

. "$(dirname "$0")/lib.sh"

QEMU=${QEMU:-$("$TOP/scripts/build-qemu.sh" --print)}
[ -x "$QEMU" ] || die "no QEMU at $QEMU: run scripts/build-qemu.sh, or set QEMU"
"$QEMU" -device help 2>/dev/null | grep -q '"aries-nic"' || die "$QEMU has no aries-nic: set QEMU to one of build-qemu.sh"
export QEMU
exec python3 "$TOP/qemu-device/tests-qtest/run.py" "$@"
