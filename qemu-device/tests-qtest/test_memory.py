# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Guest memory that comes, moves and goes while QEMU runs."""

import pathlib

from aries import HW, Endpoint, FabricCase
from qtest import wait_until

SHARED = 0x0028  # bus 0, device 5: memory that another device has in a BAR
SIZE = 0x100000
FILL = 1


class Memory(FabricCase):
    def start(self, share):
        self.dev = self.nic(args=("-object", f"memory-backend-memfd,id=more,size=1M,share={share}",
                                  "-device", "ivshmem-plain,id=more0,memdev=more,addr=5"))
        self.assertEqual(self.dev.config(0x18, 4, SHARED) & 15, 12, "64-bit memory")

    def place(self, address):
        """The other device's memory is there from now on, nowhere for None."""
        self.dev.config_store(0x04, 2, 0, SHARED)
        if address is not None:
            self.dev.config_store(0x18, 4, address & 0xFFFFFFFF, SHARED)
            self.dev.config_store(0x1C, 4, address >> 32, SHARED)
            self.dev.config_store(0x04, 2, 2, SHARED)

    def fill(self, address):
        """Whether the NIC can write there."""
        self.dev.set("TEST_DMA_ADDR", address)
        self.dev.set("TEST_DMA_SIZE", 4096)
        self.dev.set("TEST_DMA_CTRL", FILL)
        return not self.dev.get("TEST_DMA_STATUS")

    def test_memory_moves(self):
        self.start("on")
        q, places = self.dev.qemu, (0xC0000000, 0xC0400000, 0x2000000000)
        for here in places * 2:
            self.place(here)
            q.write(here, bytes(SIZE))
            for there in places:
                self.assertEqual(self.fill(there + 0x3000), here == there, f"{there:#x} while it is at {here:#x}")
            self.assertEqual(q.read(here, 0x5000), bytes(0x3000) + b"\x96" * 0x1000 + bytes(0x1000))
        self.place(None)
        self.assertFalse(any(self.fill(there) for there in places))
        self.assertTrue(self.fill(0x500000), "the rest is as before")

    def test_peers_follow(self):
        self.start("on")
        end, peer = Endpoint(self.dev), Endpoint(self.nic(node=1))
        for place in (0xC0000000, 0x2000000000, None, 0xC0000000):
            self.place(place)
            # First page of the region; what peers have mapped of an earlier place must not count.
            self.dev.qemu.store(end.TABLE_AT, 8, (place or 0x2000000000) + 0x1000 | 3)
            self.dev.set("INV_PTES", end.MDH)
            self.assertTrue(wait_until(lambda: not self.dev.get("INV_STATUS"), 5))
            data = b"%012x" % (place or 0)
            self.assertEqual(peer.put(0, 0, data), 0 if place else HW["ARIES_ST_TRANSLATION"])
            self.assertEqual(peer.put(0, 0x1000, data), 0, "the rest is as before")
            self.assertEqual(end.memory(0x1000, len(data)), data)
            if place:
                self.assertEqual(self.dev.qemu.read(place + 0x1000, len(data)), data)

    def test_memory_that_is_not_shared(self):
        self.start("off")
        self.place(0xC0000000)
        self.assertFalse(self.fill(0xC0000000))
        self.assertTrue(self.fill(0x500000), "the rest is as before")
        self.assertTrue(wait_until(lambda: "not shared" in self.dev.qemu.stderr(), 5))
        for _ in range(20):
            self.place(None)
            self.place(0xC0400000)
        self.assertEqual(self.dev.qemu.stderr().count("not shared"), 1, "a guest cannot fill the log")


class HugePages(FabricCase):
    POOL = pathlib.Path("/proc/sys/vm/nr_hugepages")
    NEEDED = 2 * 64 // 2

    def setUp(self):
        super().setUp()
        before = int(self.POOL.read_text())
        try:
            self.POOL.write_text(f"{before + self.NEEDED}\n")
        except OSError as error:
            self.skipTest(f"huge pages cannot be reserved: {error}")
        self.addCleanup(self.POOL.write_text, f"{before}\n")
        if int(self.POOL.read_text()) < before + self.NEEDED:
            self.skipTest(f"huge pages cannot be reserved: {self.NEEDED} are needed")

    def test_peers_reach_them(self):
        memory = ("-object", "memory-backend-memfd,id=huge,size=64M,share=on,hugetlb=on", "-machine", "memory-backend=huge")
        ends = [Endpoint(self.nic(node=node, args=memory)) for node in (0, 1)]
        for here, there in ((0, 1), (1, 0)):
            self.assertEqual(ends[here].put(there, 0x1000, b"on huge pages"), 0)
            self.assertEqual(ends[there].memory(0x1000, 13), b"on huge pages")
            self.assertIn("memory in 1 files", ends[here].nic.qemu.qmp(
                "qom-get", path="/machine/peripheral/nic0", property="describe"))
