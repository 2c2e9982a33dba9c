# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""The machine around the NIC, where QEMU as it comes does not hold."""

from opengni.testing import ClusterCase

# The virtio device of the machine that has most BARs in memory: its sections shift those of all devices behind it.
NEIGHBOUR = "basename $(dirname $(grep -l 0x1005 /sys/bus/pci/devices/*/device))"


class Machine(ClusterCase):
    NODES = 1

    def test_memory_map_changes_under_the_other_processor(self):
        # Without qemu-device/patches/0002 a store to the interrupt controller reaches nothing, and QEMU ends.
        result = self.cluster.run(0, f"NEIGHBOUR=$({NEIGHBOUR}) /kselftest/aries/neighbour", timeout=300)
        self.assertIn("\nok 1 ", result.stdout, result.stdout + result.stderr)
        self.assertEqual(result.code, 0)
