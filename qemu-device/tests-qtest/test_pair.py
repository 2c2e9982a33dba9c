# SPDX-License-Identifier: GPL-2.0-or-later
"""Two QEMUs on one fabric: data, events, death and return of a node."""

import struct
import time

from aries import HW, Endpoint, FabricCase, event_part
from qtest import start_error, wait_until

FADD, ADD, CSWAP = 0x008, 0x108, 0x00D
LOCAL, GLOBAL, REMOTE = 1, 2, 4
LEASE = 200  # milliseconds


class Pair(FabricCase):
    def setUp(self):
        super().setUp()
        options = f",lease-ms={LEASE}"
        self.a = self.nic(node=0, options=options)
        self.b = self.nic(node=1, options=options)
        self.ea, self.eb = Endpoint(self.a), Endpoint(self.b)

    def check_event(self, end, info, source, tid=None, status=0, data=None):
        entry = end.event()
        self.assertNotEqual(entry, 0, "there is an event")
        self.assertEqual(event_part(entry, "INFO"), HW[f"ARIES_INFO_{info}"])
        self.assertEqual(event_part(entry, "SOURCE"), HW[f"ARIES_SRC_{source}"])
        self.assertEqual(event_part(entry, "STATUS"), status)
        if tid is not None:
            self.assertEqual(event_part(entry, "TID"), tid)
        if data is not None:
            self.assertEqual(entry & HW["ARIES_CQE_DATA_MASK"], data)

    def test_put_with_events(self):
        data = bytes(range(1, 65))
        self.assertEqual(self.ea.put(1, 0x1235, data, events=LOCAL | GLOBAL | REMOTE, tid=0xBEEF), 0)
        self.assertEqual(self.eb.memory(0x1234, 66), b"\0" + data + b"\0")
        self.check_event(self.ea, "LOCAL", "FMA", 0xBEEF, data=0x10CA1)
        self.check_event(self.ea, "GLOBAL", "FMA", 0xBEEF, data=0x10CA1)
        self.check_event(self.eb, "REMOTE", "REMOTE", data=0x4E407E)
        self.assertEqual((self.ea.event(), self.eb.event()), (0, 0))

    def test_put_up_to_64_bytes_is_one_trap(self):
        for size in (1, 8, 63, 64):
            traps = self.a.counter("FMA_TRAPS")
            self.assertEqual(self.ea.put(1, 0, bytes(size)), 0)
            self.assertEqual(self.a.counter("FMA_TRAPS"), traps + 1)

    def test_put_sizes_and_pages(self):
        for size in (1, 2, 3, 8, 65, 1000, 2048):
            for offset in (0, 4096 - size // 2, 8191):
                with self.subTest(size=size, offset=offset):
                    data = bytes((size + i) % 251 + 1 for i in range(size))
                    self.eb.fill(offset, b"\xee" * (size + 1))
                    self.assertEqual(self.ea.put(1, offset, data), 0)
                    self.assertEqual(self.eb.memory(offset, size + 1), data + b"\xee")
                    self.check_event(self.ea, "GLOBAL", "FMA")

    def test_get(self):
        data = bytes(i % 253 for i in range(8192))
        self.eb.fill(0x3004, data)
        self.assertEqual(self.ea.fma("ARIES_FMA_GET_OP", 1, 0x3004, length=8192, local=0x5001), 0)
        self.check_event(self.ea, "GLOBAL", "FMA")
        self.assertEqual(self.ea.memory(0x5001, 8192), data)

    def test_atomics_of_both(self):
        self.eb.fill(0x800, struct.pack("<Q", 100))
        self.assertEqual(self.ea.fma("ARIES_FMA_AMO_OP", 1, 0x800, length=8, amo=ADD, operand=(7, 0)), 0)
        self.assertEqual(self.eb.fma("ARIES_FMA_AMO_OP", 1, 0x800, length=8, amo=FADD, operand=(5, 0), local=0x900), 0)
        self.assertEqual(struct.unpack("<Q", self.eb.memory(0x800, 8))[0], 112)
        self.assertEqual(struct.unpack("<Q", self.eb.memory(0x900, 8))[0], 107)
        self.assertEqual(self.ea.fma("ARIES_FMA_AMO_OP", 1, 0x800, length=8, amo=CSWAP, operand=(112, 3),
                                     local=0x900), 0)
        self.assertEqual(struct.unpack("<Q", self.eb.memory(0x800, 8))[0], 3)
        self.assertEqual(struct.unpack("<Q", self.ea.memory(0x900, 8))[0], 112)

    def block(self, op, length, offset, local):
        self.a.qemu.write(self.a.area(Endpoint.FMA) + HW["ARIES_DESC_BTE"], struct.pack(
            "<IHHQQIHHIIBBHH18s", 1, Endpoint.MDH, Endpoint.MDH, Endpoint.BASE + offset, Endpoint.BASE + local, length,
            Endpoint.CQ, 0x77, 1, 2, op, GLOBAL, 0, 0, bytes(18)))
        self.a.doorbell(Endpoint.FMA, "ARIES_DB_BTE", 0)

    def wait_event(self, end):
        entry = wait_until(end.event, 10)
        self.assertTrue(entry, "an event arrives")
        return entry

    def test_block_put_and_get(self):
        for length in (4096, 65536, 1 << 20):
            data = bytes(i * 7 % 255 for i in range(1000)) * (length // 1000 + 1)
            with self.subTest(length=length):
                self.ea.fill(0, data[:length])
                self.block(1, length, 4096, 0)
                self.assertEqual(event_part(self.wait_event(self.ea), "STATUS"), 0)
                self.assertTrue(self.eb.memory(4096, length) == data[:length], "data at the target")
                self.ea.fill(0, bytes(length))
                self.block(2, length, 4096, 0)
                self.assertEqual(event_part(self.wait_event(self.ea), "STATUS"), 0)
                self.assertTrue(self.ea.memory(0, length) == data[:length], "data fetched back")

    def test_interrupt_at_the_target(self):
        self.b.enable_msix()
        self.b.set("CQI_ARM", Endpoint.CQ)
        self.assertEqual(self.b.vectors(), [])
        self.assertEqual(self.ea.put(1, 0, b"wake up", events=REMOTE), 0)
        self.assertEqual(wait_until(self.b.vectors, 5), [Endpoint.VECTOR])
        self.assertEqual(self.b.get("CQI_PENDING", Endpoint.CQ // 64), 1 << Endpoint.CQ % 64)
        self.assertEqual(self.ea.put(1, 0, b"not armed", events=REMOTE), 0)
        self.assertEqual(wait_until(self.b.vectors, 0.3), [], "one interrupt for one arming")

    def test_wrong_key(self):
        self.b.set("PTAG_KEY", 0, Endpoint.PTAG)
        Endpoint(self.b, key=0xBAD)
        before = self.eb.memory(0, 64)
        self.assertEqual(self.ea.put(1, 0, b"x" * 64), HW["ARIES_ST_PTAG"])
        self.assertEqual(self.eb.memory(0, 64), before)

    def test_killed_peer_becomes_errors(self):
        self.assertEqual(self.ea.put(1, 0, b"hello"), 0)
        self.b.qemu.kill()
        gone = (HW["ARIES_ST_TIMEOUT"], HW["ARIES_ST_NO_NODE"])
        begin = time.monotonic()
        self.assertTrue(wait_until(lambda: self.ea.put(1, 0, b"anyone?") in gone, 5), "operations fail")
        self.assertLess(time.monotonic() - begin, 3 * LEASE / 1000, "within a bounded time")
        while self.ea.event():
            pass
        self.assertIn(self.ea.put(1, 0, b"anyone?"), gone)
        self.assertIn(event_part(self.ea.event(), "STATUS"), gone)
        self.assertEqual(self.ea.put(0, 0, b"myself"), 0)
        self.assertTrue(self.a.qemu.alive())
        again = self.nic(node=1, options=f",lease-ms={LEASE}")
        end = Endpoint(again)
        self.assertTrue(wait_until(lambda: self.ea.put(1, 16, b"welcome back") == 0, 5))
        self.assertEqual(end.memory(16, 12), b"welcome back")

    def test_dead_peer_is_noticed_without_traffic(self):
        def members():
            return self.a.qemu.qmp("qom-get", path="/machine/peripheral/nic0", property="describe")

        self.assertIn("member 1 alive", members())
        time.sleep(2 * LEASE / 1000)
        self.b.qemu.kill()
        self.assertTrue(wait_until(lambda: "member 1 dead" in members(), 10), members())

    def test_kill_in_the_middle_of_block_transfers(self):
        for _ in range(8):
            self.block(1, 1 << 20, 0, 0)
        self.b.qemu.kill()
        for _ in range(8):
            self.wait_event(self.ea)
        self.assertTrue(self.a.qemu.alive())

    def test_duplicate_node(self):
        text = start_error("-device", f"aries-nic,bus=rp0,fabric={self.fabric},node=1,nodes=2")
        self.assertIn("node", text)
        self.assertIn("1", text)
        self.assertRegex(text, "in use")
        self.assertEqual(self.ea.put(1, 0, b"still there"), 0)

    def test_other_size_of_fabric(self):
        text = start_error("-device", f"aries-nic,bus=rp0,fabric={self.fabric},node=0,nodes=4")
        self.assertIn("nodes", text)

    def test_link_fault(self):
        self.a.qemu.qmp("qom-set", path="/machine/peripheral/nic0", property="link", value=0)
        self.assertNotEqual(self.ea.put(1, 0, b"cut off"), 0)
        self.a.qemu.qmp("qom-set", path="/machine/peripheral/nic0", property="link", value=1)
        self.assertEqual(self.ea.put(1, 0, b"back"), 0)
