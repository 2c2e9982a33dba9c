# SPDX-License-Identifier: GPL-2.0-or-later
"""Every register of the table: reset value, access type, reserved bits, access size."""

from aries import BAR, HW, REGS, TABLE, FabricCase

# Bits that a plain access test must leave zero: those whose writing does something, and vectors, node addresses and
# kinds, of which the NIC takes only those that exist.
ACTIVE = {
    "CTL_CONTROL": 0x3, "FMAD_CTL": 0x41, "CQ_CTL": 0x1, "MDD_CTL": 0x1, "CE_CTL": 0x1,
    "TMR_CTL": 0xF001, "NODE_CTL": 0xF001, "QSC_CTL": 0xF001, "RMT_CTL": 0x1, "VMDH_CTL": 0x1, "CE_PARENT": 0x3FFFF, "CE_CHILD": 0x203FFFF,
}
# Registers that read something else than what was written.
SHIFTED = {"TEST_REG32", "TEST_REG64"}
# Registers whose value is not the table's reset value, and what it is.
LIMITS = {name: value for name, (value, _) in TABLE["limits"].items()}
IDENTITY = {
    "ID_MAGIC": TABLE["device"]["magic"],
    "ID_VERSION": TABLE["device"]["version"],
    "ID_PE": 0,
    "ID_NODES": 2,
    "ID_FMA": LIMITS["FMA_DESCRIPTORS"],
    "ID_MDD": LIMITS["MDD_ENTRIES"],
    "ID_CQ": LIMITS["CQ_ENTRIES"],
    "ID_NTT": LIMITS["NTT_ENTRIES"],
    "ID_BTE": LIMITS["BTE_CHANNELS"] | LIMITS["BTE_QUEUE"] << 16,
    "ID_MSIX": LIMITS["MSIX_VECTORS"],
}
# Registers that change by themselves.
ALIVE = {"ID_CAPS", "CTL_STATUS", "CTL_GENERATION", "INV_SEQ", "INV_DONE", "CNT_VALUE", "CLK_NOW", "NODE_STATE", "NODE_CHANGED"}
PATTERNS = (0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0xFFFFFFFFFFFFFFFF, 0)


# Elements that cannot be set: protection tags that are never valid.
NEVER = {"PTAG_KEY": (0, 255)}


def elements(reg):
    """A few elements of an array: its ends and some in between."""
    count = reg["count"]
    return sorted({0, 1, count // 3, count - 2, count - 1} & set(range(count)) - set(NEVER.get(reg["name"], ())))


class Registers(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()

    def each(self, *access):
        for reg in REGS.values():
            if reg["access"] in access:
                for index in elements(reg):
                    yield reg, index

    def errors(self):
        return self.dev.counter("GUEST_ERRORS")

    def test_identity(self):
        for name, value in IDENTITY.items():
            with self.subTest(register=name):
                self.assertEqual(self.dev.get(name), value)
        self.assertTrue(self.dev.get("ID_CAPS"))
        self.assertEqual(self.dev.get("ID_CAPS") & ~REGS["ID_CAPS"]["mask"], 0)

    def test_reset_values(self):
        for reg, index in self.each("RO", "RW", "W1C"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                if reg["name"] not in IDENTITY and reg["name"] not in ALIVE:
                    self.assertEqual(self.dev.get(reg["name"], index), reg["reset"])

    def test_counters_start_at_zero(self):
        for index in range(REGS["CNT_VALUE"]["count"]):
            self.assertEqual(self.dev.get("CNT_VALUE", index), 0, f"counter {index}")

    def test_write_only_reads_zero(self):
        for reg, index in self.each("WO"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                self.assertEqual(self.dev.get(reg["name"], index), 0)

    def test_read_only_keeps_its_value(self):
        for reg, index in self.each("RO"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                if reg["name"] in ("CNT_VALUE", "CLK_NOW"):
                    continue  # counts this very access, and time
                before, errors = self.dev.get(reg["name"], index), self.errors()
                self.dev.set(reg["name"], ~before, index)
                self.assertEqual(self.dev.get(reg["name"], index), before)
                self.assertEqual(self.errors(), errors + 1, "counted as a guest error")

    def test_counters_are_read_only(self):
        errors = self.errors()
        self.dev.set("CNT_VALUE", 12345, HW["ARIES_CNT_FMA_PUTS"])
        self.assertEqual(self.dev.counter("FMA_PUTS"), 0)
        self.assertEqual(self.errors(), errors + 1)

    def test_read_write_keeps_what_is_written(self):
        for reg, index in self.each("RW"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                name, mask = reg["name"], reg["mask"] & ~ACTIVE.get(reg["name"], 0)
                if name == "TEST_DMA_SIZE":
                    mask = 0xFFFF  # the field is wider than its largest value
                for pattern in PATTERNS:
                    value = pattern & mask
                    self.dev.set(name, value, index)
                    expect = value << 1 & (1 << reg["width"]) - 1 if name in SHIFTED else value
                    self.assertEqual(self.dev.get(name, index), expect, f"wrote {value:#x}")
        self.assertEqual(self.errors(), 0)

    def test_neighbours_stay(self):
        for reg, index in self.each("RW"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                if reg["count"] > 2 and 0 < index < reg["count"] - 1:
                    around = [self.dev.get(reg["name"], index + d) for d in (-1, 1)]
                    self.dev.set(reg["name"], reg["mask"] & ~ACTIVE.get(reg["name"], 0), index)
                    self.assertEqual([self.dev.get(reg["name"], index + d) for d in (-1, 1)], around)

    def test_reserved_bits(self):
        for reg, index in self.each("RW", "WO"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                reserved = ~reg["mask"] & ((1 << reg["width"]) - 1)
                if not reserved:
                    continue
                before, errors = self.dev.get(reg["name"], index), self.errors()
                for bit in (reserved & -reserved, 1 << reserved.bit_length() - 1):
                    self.dev.set(reg["name"], bit, index)
                    self.assertEqual(self.dev.get(reg["name"], index), before, "no effect")
                self.assertEqual(self.errors(), errors + 2, "counted")

    def test_write_one_to_clear(self):
        for reg, index in self.each("W1C"):
            with self.subTest(register=f"{reg['name']}[{index}]"):
                self.dev.set(reg["name"], reg["mask"], index)
                self.assertEqual(self.dev.get(reg["name"], index), 0)
        self.assertEqual(self.errors(), 0)

    def test_tags_that_are_never_valid(self):
        for index in NEVER["PTAG_KEY"]:
            errors = self.errors()
            self.dev.set("PTAG_KEY", 1 << 32 | 5, index)
            self.assertEqual(self.dev.get("PTAG_KEY", index), 0)
            self.assertEqual(self.errors(), errors + 1)

    def test_halves_of_wide_registers(self):
        self.dev.set("TEST_REG64", 0x1122334455667788)
        at, value = self.dev.address("TEST_REG64"), 0x1122334455667788 << 1
        self.assertEqual(self.dev.qemu.load(at, 4), value & 0xFFFFFFFF)
        self.assertEqual(self.dev.qemu.load(at + 4, 4), value >> 32)
        self.assertEqual(self.errors(), 0)

    def test_other_sizes_are_refused(self):
        self.dev.set("TEST_REG64", 0x1122334455667788)
        before = self.dev.get("TEST_REG64")
        for name in ("TEST_REG32", "TEST_REG64", "PTAG_KEY", "ID_MAGIC"):
            at, width = self.dev.address(name), REGS[name]["bytes"]
            for size in {1, 2, 4, 8} - {width, 4}:
                with self.subTest(register=name, size=size):
                    errors = self.errors()
                    self.assertEqual(self.dev.qemu.load(at, size), (1 << 8 * size) - 1)
                    self.dev.qemu.store(at, size, 1)
                    self.assertEqual(self.errors(), errors + 2)
        self.assertEqual(self.dev.get("TEST_REG64"), before)

    def test_holes_read_all_ones(self):
        covered = set()
        for reg in REGS.values():
            for index in range(reg["count"]):
                at = reg["offset"] + index * reg["stride"]
                covered.update(range(at // 4, (at + reg["bytes"]) // 4))
        holes = [at * 4 for at in (*range(0, 0x1200 // 4), *range(0x7FF00 // 4, 0x80000 // 4),
                                   *range(0x82000 // 4, 0x82100 // 4), 0xFFFFC // 4) if at not in covered]
        self.assertGreater(len(holes), 100)
        for offset in holes:
            errors = self.errors()
            self.assertEqual(self.dev.qemu.load(BAR[0] + offset, 4), 0xFFFFFFFF, f"offset {offset:#x}")
            self.dev.qemu.store(BAR[0] + offset, 4, 0)
            self.assertEqual(self.errors(), errors + 2, f"offset {offset:#x}")
