# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine around the NIC, where QEMU as it comes does not hold."""

import unittest

from gnitest.testing import ClusterCase, slow_tests

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


@unittest.skipUnless(slow_tests(), "a machine of its own")
class OutOfReach(ClusterCase):
    """Another device has memory in a BAR that is not shared with peers."""

    NODES = 1
    CONFIG = {"qemu_args": ["-object", "memory-backend-ram,id=alone,size=1M", "-device", "ivshmem-plain,memdev=alone"]}
    NIC = "/sys/bus/pci/devices/0000:01:00.0"

    def shell(self, command):
        result = self.cluster.run(0, command)
        self.assertEqual(result.code, 0, result.stdout + result.stderr)
        return result.stdout

    def told(self):
        """How often the kernel's log has the driver's line, after what the NIC has reported."""
        return self.shell("sleep 2; dmesg").count("some of this machine's memory is out of the NIC's reach")

    def there(self, yes):
        """The memory is on the bus from now on, or not."""
        self.shell("printf '\\%o' | dd of=$(dirname $(grep -l 0x1110 /sys/bus/pci/devices/*/device))/config "
                   "bs=1 seek=4 conv=notrunc" % (2 if yes else 0))

    def test_driver_says_so_once(self):
        self.assertEqual(self.told(), 1, "when it starts")
        self.shell(f"echo 1 >{self.NIC}/reset")
        self.assertEqual(self.told(), 1)
        self.there(False)
        self.shell("echo 0000:01:00.0 >/sys/bus/pci/drivers/aries/unbind; echo 0000:01:00.0 >/sys/bus/pci/drivers/aries/bind")
        self.assertEqual(self.told(), 1, "all memory can be reached")
        for _ in range(3):
            self.there(True)
            self.assertEqual(self.told(), 2, "the NIC reports it")
            self.there(False)
