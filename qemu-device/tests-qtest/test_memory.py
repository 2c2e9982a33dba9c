# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest memory that comes, moves and goes while QEMU runs."""

import pathlib
import tempfile

from aries import HW, TOP, Endpoint, FabricCase, fields, header_constants
from qtest import wait_until

SHARED = 0x0028  # bus 0, device 5: memory that another device has in a BAR
SIZE = 0x100000
FILL = 1
PARTIAL = fields("CTL_STATUS", PARTIAL=1)


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
        self.assertEqual(self.dev.get("CTL_STATUS") & PARTIAL, PARTIAL)
        self.assertEqual(self.dev.get("ERR_INFO", 1), 0xC0000000)
        self.place(None)
        self.assertEqual(self.dev.get("CTL_STATUS") & PARTIAL, 0)
        for _ in range(20):
            self.place(None)
            self.place(0xC0400000)
        self.assertEqual(self.dev.qemu.stderr().count("not shared"), 1, "a guest cannot fill the log")


class ManyPieces(FabricCase):
    """Memory devices one after the other: those beyond the last that the NIC knows are out of reach, and it says so."""

    KNOWN = header_constants(TOP / "qemu-device/model/include/aries_model.h")["ARIES_RAM_MAX"]
    BASE_PIECES, DEVICES = 2, KNOWN + 2

    def test_describe_tells_of_those_beyond_the_last(self):
        nic = self.nic(args=("-m", f"64M,slots={self.DEVICES},maxmem=2G"))
        for n in range(self.DEVICES):
            if n == self.KNOWN - self.BASE_PIECES:
                self.assertNotIn("problem", self.describe(nic))
                self.assertEqual(nic.get("CTL_STATUS") & PARTIAL, 0)
                self.assertEqual(nic.get("ERR_COUNT"), 0)
            nic.qemu.qmp("object-add", **{"qom-type": "memory-backend-memfd", "id": f"m{n}", "size": 2 << 20, "share": True})
            nic.qemu.qmp("device_add", driver="pc-dimm", id=f"d{n}", memdev=f"m{n}")
        places = sorted(device["data"]["addr"] for device in nic.qemu.qmp("query-memory-devices"))
        reached = [self.fill(nic, place) for place in places]
        self.assertEqual(reached.count(True), self.KNOWN - self.BASE_PIECES)
        self.assertIn(f"problem: guest memory has more than {self.KNOWN} pieces", self.describe(nic))
        self.assertTrue(wait_until(lambda: f"more than {self.KNOWN} pieces" in nic.qemu.stderr(), 5))
        first = places[reached.index(False)]
        self.assertEqual(nic.get("CTL_STATUS") & PARTIAL, PARTIAL)
        self.assertEqual(nic.get("ERR_EVENT") & 0xFFFF, HW["ARIES_RAS_REACH"])
        self.assertEqual(nic.get("ERR_INFO", 1), first)
        self.peers_reach(nic, places[:reached.index(False) + 1])

    def peers_reach(self, nic, places):
        """Those that the NIC knows: first and last of them, and not the one behind."""
        end, peer = Endpoint(nic), Endpoint(self.nic(node=1))
        for place in (places[0], places[-2], places[-1]):
            nic.qemu.store(end.TABLE_AT, 8, place | 3)
            nic.set("INV_PTES", end.MDH)
            self.assertTrue(wait_until(lambda: not nic.get("INV_STATUS"), 5))
            status = peer.put(0, 0, b"%012x" % place)
            self.assertEqual(status, HW["ARIES_ST_TRANSLATION"] if place == places[-1] else 0)
            if not status:
                self.assertEqual(nic.qemu.read(place, 12), b"%012x" % place)

    @staticmethod
    def describe(nic):
        return nic.qemu.qmp("qom-get", path="/machine/peripheral/nic0", property="describe")

    @staticmethod
    def fill(nic, address):
        nic.set("TEST_DMA_ADDR", address)
        nic.set("TEST_DMA_SIZE", 64)
        nic.set("TEST_DMA_CTRL", FILL)
        return not nic.get("TEST_DMA_STATUS")


class LostPages(FabricCase):
    """The file that holds a node's memory is truncated: peers get errors, and all live on."""

    def test_peers_live_on(self):
        with tempfile.NamedTemporaryFile() as file:
            memory = ("-object", f"memory-backend-file,id=file,size=64M,share=on,mem-path={file.name}",
                      "-machine", "memory-backend=file")
            end, peer = Endpoint(self.nic(node=0)), Endpoint(self.nic(node=1, args=memory))
            self.assertEqual(end.put(1, 0, b"while it is there"), 0)
            # Tables and queue of the peer are below, all but the first MiB of its region above.
            file.truncate(Endpoint.MEMORY + (1 << 20))
            self.assertEqual(end.put(1, 1 << 20, b"beyond the end"), HW["ARIES_ST_TRANSLATION"])
            self.assertTrue(end.nic.qemu.alive() and peer.nic.qemu.alive())
            self.assertEqual(peer.nic.get("ERR_EVENT") & 0xFFFF, HW["ARIES_ST_TRANSLATION"])
            file.truncate(64 << 20)
            self.assertTrue(wait_until(lambda: end.put(1, 1 << 20, b"there again") == 0, 10))
            self.assertEqual(peer.memory(1 << 20, 11), b"there again")


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
