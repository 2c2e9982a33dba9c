# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""The machine around the NIC, where QEMU as it comes does not hold."""

import unittest

from opengni.testing import ClusterCase, slow_tests

# The virtio device of the machine that has most BARs in memory: its sections shift those of all devices behind it.
NEIGHBOUR = "basename $(dirname $(grep -l 0x1005 /sys/bus/pci/devices/*/device))"


class Machine(ClusterCase):
    SHARES = "pair"

    def test_memory_map_changes_under_the_other_processor(self):
        # Without qemu-device/patches/0002 a store to the interrupt controller reaches nothing, and QEMU ends.
        result = self.cluster.run(0, f"NEIGHBOUR=$({NEIGHBOUR}) /kselftest/aries/neighbour", timeout=300)
        self.assertIn("\nok 1 ", result.stdout, result.stdout + result.stderr)
        self.assertEqual(result.code, 0)


@unittest.skipUnless(slow_tests(), "a machine of its own")
class Bounce(ClusterCase):
    """DMA goes through buffers of the kernel, as in guests whose memory is encrypted."""

    NODES = 1
    CONFIG = {"append": "swiotlb=force"}

    def test_nic_is_refused(self):
        log = self.cluster.run(0, "dmesg").stdout
        self.assertRegex(log, r"aries 0000:\S+: DMA goes through bounce buffers here \(swiotlb=force, ")
        self.assertRegex(log, r"aries.*failed with error -95")
        self.assertNotEqual(self.cluster.run(0, "ls /dev/kgni0").code, 0)
