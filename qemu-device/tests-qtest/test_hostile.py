# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever the guest does, QEMU stays: odd accesses, interrupts aimed at the NIC, forged tables."""

import random
import struct

from aries import BAR, HW, REGS, Endpoint, FabricCase, event_part, fields

SEED = 20131


class Hostile(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic(args=("-d", "guest_errors", "-D", "/dev/null"))

    def check_alive(self):
        """QEMU answers, and after a reset the NIC works."""
        self.assertTrue(self.dev.qemu.alive())
        self.dev.set_up_function()
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        end = Endpoint(self.dev)
        self.assertEqual(end.put(0, 128, b"alive"), 0)
        self.assertEqual(end.memory(128, 5), b"alive")

    def test_unaligned_register_accesses(self):
        for offset in range(0, 0x110):
            for size in (1, 2, 4, 8):
                self.dev.qemu.load(BAR[0] + offset, size)
                self.dev.qemu.store(BAR[0] + offset, size, 0)
        self.check_alive()

    def test_last_bytes_of_each_bar(self):
        for bar, size in ((0, 0x100000), (2, 0x2000000)):
            for width in (1, 2, 4, 8):
                for back in range(1, 9):
                    self.dev.qemu.load(BAR[bar] + size - back, width)
                    self.dev.qemu.store(BAR[bar] + size - back, width, ~0)
        self.check_alive()

    def test_windows_without_a_descriptor(self):
        for descriptor in (0, 1, 63, 127):
            base = BAR[2] + descriptor * HW["ARIES_FMA_STRIDE"]
            for offset in (0, 3, 0xFFFF, 0x10000, 0x1FFF8, 0x20000, 0x20008, 0x20040, 0x20041, 0x3FFF8):
                for size in (1, 2, 4, 8):
                    self.dev.qemu.load(base + offset, size)
                    self.dev.qemu.store(base + offset, size, 0x0123456789ABCDEF)
        self.check_alive()

    def test_random_registers(self):
        dice = random.Random(SEED)
        regs = list(REGS.values())
        for _ in range(8000):
            reg = dice.choice(regs)
            at = BAR[0] + reg["offset"] + dice.randrange(reg["count"]) * reg["stride"]
            if dice.random() < 0.2:
                at += dice.randrange(-8, 9)
            size = reg["bytes"] if dice.random() < 0.8 else dice.choice((1, 2, 4, 8))
            value = dice.choice((0, 1, dice.getrandbits(64), dice.getrandbits(64) & reg["mask"], reg["mask"]))
            if dice.random() < 0.6:
                self.dev.qemu.store(max(at, BAR[0]), size, value)
            else:
                self.dev.qemu.load(max(at, BAR[0]), size)
        self.check_alive()

    def test_random_work(self):
        dice = random.Random(SEED + 1)
        Endpoint(self.dev)
        area = self.dev.area(Endpoint.FMA)
        base = BAR[2] + Endpoint.FMA * HW["ARIES_FMA_STRIDE"]
        for _ in range(3000):
            choice = dice.random()
            if choice < 0.4:
                self.dev.qemu.write(area + dice.randrange(0x2000 - 80), dice.randbytes(72))
            elif choice < 0.6:
                value = dice.getrandbits(64) if dice.random() < 0.3 else \
                    dice.getrandbits(32) | dice.randrange(8) << 32 | dice.randrange(8) << 40
                self.dev.qemu.store(base + HW["ARIES_FMA_DOORBELL"], 8, value)
            elif choice < 0.8:
                self.dev.qemu.store(base + HW["ARIES_FMA_DOORBELL"] + 8, 8, dice.randrange(66))
            else:
                self.dev.qemu.store(base + dice.randrange(0x20000), dice.choice((1, 2, 4, 8)), dice.getrandbits(64))
        self.check_alive()

    def test_interrupt_message_into_the_nic(self):
        for where in (self.dev.address("TEST_IRQ"), self.dev.address("CTL_CONTROL"), BAR[2] + 0x20000,
                      BAR[0] + 0x80000, BAR[4]):
            with self.subTest(where=hex(where)):
                self.dev.enable_msix(address=where)
                for vector in range(16):
                    self.dev.set("TEST_IRQ", vector)
                self.assertTrue(self.dev.qemu.alive())
        self.check_alive()

    def test_interrupt_message_into_the_nic_is_refused(self):
        self.dev.set("TEST_REG32", 5)
        before, slot = self.dev.get("TEST_REG32"), self.dev.area(0)
        self.dev.enable_msix(address=self.dev.address("TEST_REG32"))
        self.dev.set("TEST_IRQ", 1)
        self.assertEqual(self.dev.get("TEST_REG32"), before)
        # Its plain memory is not: nothing happens there.
        self.dev.enable_msix(address=slot)
        self.dev.set("TEST_IRQ", 1)
        self.assertEqual(self.dev.qemu.load(slot, 4), 0x5A01)

    def test_interrupt_message_to_nowhere(self):
        for where in (0xFFFFFFFFFFFFFFFC, 0xC0000000, 3):
            self.dev.enable_msix(address=where)
            self.dev.set("TEST_IRQ", 1)
        self.check_alive()


class Forged(FabricCase):
    """A domain whose tables lie: the operation ends with a status and nothing else happens."""

    def setUp(self):
        super().setUp()
        self.dev = self.nic()
        self.end = Endpoint(self.dev)

    def expect(self, status, put, *args, **kwargs):
        self.assertEqual(put(*args, **kwargs), HW[f"ARIES_ST_{status}"])
        entry = self.end.event()
        self.assertEqual(event_part(entry, "STATUS"), HW[f"ARIES_ST_{status}"])
        self.assertEqual(self.end.event(), 0, "one event")
        self.assertTrue(self.dev.qemu.alive())

    def test_page_entries(self):
        for entry in (0, 2, Endpoint.MEMORY, Endpoint.MEMORY | 7, 0xFFF0000000000003 | Endpoint.MEMORY,
                      0x000FFFFFFFFFF003, BAR[0] | 3, BAR[4] | 3, 0x8000000 | 3):
            with self.subTest(entry=hex(entry)):
                self.dev.qemu.store(Endpoint.TABLE_AT, 8, entry)
                # A put to the region's first page, remote to its initiator's own node.
                self.dev.set("MDD_CTL", self.dev.get("MDD_CTL", Endpoint.MDH), Endpoint.MDH)
                self.expect("TRANSLATION", self.end.put, 0, 0, b"forged")

    def test_page_that_may_not_be_written(self):
        self.dev.qemu.store(Endpoint.TABLE_AT, 8, Endpoint.MEMORY | 1)
        status = self.end.put(0, 0, b"forged")
        self.assertIn(status, (HW["ARIES_ST_ACCESS"], HW["ARIES_ST_TRANSLATION"]))
        self.assertEqual(self.end.memory(0, 6), bytes(6))

    def test_table_outside_of_memory(self):
        for table in (0x8000000, 0xFFFFFFFFFFFFFFF8, BAR[0], BAR[4]):
            with self.subTest(table=hex(table)):
                self.dev.set("INV_MDD", Endpoint.MDH)
                self.dev.set("MDD_TABLE", table, Endpoint.MDH)
                self.dev.set("MDD_CTL", fields("MDD_CTL", VALID=1, PTAG=Endpoint.PTAG, PAGE_SHIFT=12,
                                               OWNER=Endpoint.OWNER), Endpoint.MDH)
                self.expect("TRANSLATION", self.end.put, 0, 0, b"forged")

    def test_bounds(self):
        for offset in (Endpoint.SIZE, Endpoint.SIZE - 5, -1, -6, 1 << 39):
            with self.subTest(offset=offset):
                self.expect("BOUNDS", self.end.put, 0, offset, b"forged")

    def test_handles(self):
        self.expect("MDD", self.end.put, 0, 0, b"forged", mdh=Endpoint.MDH + 1)
        self.assertNotEqual(self.end.put(0, 0, b"forged", mdh=0xFFFF), 0)
        self.assertTrue(self.dev.qemu.alive())

    def test_queue_of_somebody_else(self):
        self.dev.set("CQ_BASE", 0x280000, 10)
        self.dev.set("CQ_CTL", fields("CQ_CTL", VALID=1, LOG2=6, OWNER=Endpoint.OWNER + 1), 10)
        for queue in (10, 11, 1023, 1024, 0xFFFF):
            with self.subTest(queue=queue):
                self.assertNotEqual(self.end.put(0, 0, b"forged", cq=queue), 0)
                self.assertEqual(self.dev.qemu.read(0x280000, 8192), bytes(8192))

    def test_queue_where_no_memory_is(self):
        for base in (0x8000000, 0xFFFFFFFFFFFFF000, BAR[2] & ~0xFFF):
            with self.subTest(base=hex(base)):
                self.dev.set("CQ_BASE", base, 20)
                self.dev.set("CQ_CTL", fields("CQ_CTL", VALID=1, LOG2=6, OWNER=Endpoint.OWNER), 20)
                self.end.put(0, 0, b"forged", cq=20)
                self.assertTrue(self.dev.qemu.alive())

    def test_block_transfer_slots(self):
        area = self.dev.area(Endpoint.FMA) + HW["ARIES_DESC_BTE"]
        good = dict(pe=0, mdh=Endpoint.MDH, lmdh=Endpoint.MDH, off=Endpoint.BASE, loff=Endpoint.BASE + 65536, length=64,
                    op=1, mode=2, flags=0, mbz=0)
        for name, value in (("op", 0), ("op", 3), ("op", 255), ("mode", 0xFF), ("flags", 0xFFFC), ("flags", 2),
                            ("length", 0), ("length", 0xFFFFFFFF), ("mbz", 1), ("pe", 99), ("lmdh", 0xFFFF)):
            with self.subTest(field=name, value=value):
                d = {**good, name: value}
                self.dev.qemu.write(area, struct.pack(
                    "<IHHQQIHHIIBBHH18s", d["pe"], d["mdh"], d["lmdh"], d["off"], d["loff"], d["length"],
                    Endpoint.CQ, 1, 1, 2, d["op"], d["mode"], d["flags"], 0, bytes([d["mbz"]]) + bytes(17)))
                self.dev.doorbell(Endpoint.FMA, "ARIES_DB_BTE", 0)
                self.assertTrue(self.dev.qemu.alive())
                status = self.dev.get("FMAD_STATUS", Endpoint.FMA)
                word = self.dev.qemu.load(self.dev.area(Endpoint.FMA) + HW["ARIES_DESC_STATUS"] + 4, 4)
                self.assertTrue(word or status >> 16 & 0xFF, "refused with a status")
                self.dev.qemu.store(self.dev.area(Endpoint.FMA) + HW["ARIES_DESC_STATUS"] + 4, 4, 0)
                while self.end.event():
                    pass
