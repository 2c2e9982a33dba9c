# SPDX-License-Identifier: GPL-2.0-or-later
"""The Aries NIC as a driver sees it, on top of qtest. Offsets and masks come from the shared headers."""

import os
import pathlib
import re
import struct
import tomllib
import unittest
import uuid

from qtest import Qemu

TOP = pathlib.Path(__file__).resolve().parents[2]

with open(TOP / "driver/include/aries_regs.toml", "rb") as file:
    TABLE = tomllib.load(file)
REGS = {}
for block in TABLE["block"]:
    for reg in block["reg"]:
        reg.setdefault("count", 1)
        reg.setdefault("stride", reg["width"] // 8)
        reg.setdefault("reset", 0)
        reg.setdefault("fields", {})
        reg["bytes"] = reg["width"] // 8
        reg["mask"] = sum(((1 << bits) - 1) << lsb for lsb, bits, _ in reg["fields"].values())
        REGS[reg["name"]] = reg


def header_constants(path):
    """Numbers that a header defines, by macro or by enumeration with a value."""
    text, found = path.read_text(), {}
    for name, value in re.findall(r"^(?:#define\s+|\t)(ARIES_\w+)\s*=?\s*(0x[0-9a-fA-F]+|\d+)(?:u|ull)?\b", text, re.M):
        found[name] = int(value, 0)
    counters = re.findall(r"^\tX\((\w+), \w+, \"", text, re.M)
    found.update({f"ARIES_CNT_{name}": index for index, name in enumerate(counters)})
    return found


HW = header_constants(TOP / "driver/include/aries_hw.h")

MSIX_TABLE = 0x80000
ECAM = 0xB0000000
BAR = {0: 0xE0000000, 2: 0x1000000000, 4: 0x1004000000}
ROOT_PORT = 0x0008  # bus 0, device 1
NIC = 0x0100  # bus 1, device 0


def fields(name, **values):
    """Register value made of named fields."""
    value = 0
    for field, part in values.items():
        lsb, bits, _ = REGS[name]["fields"][field]
        assert part < 1 << bits, (name, field, part)
        value |= part << lsb
    return value


def get_field(name, field, value):
    lsb, bits, _ = REGS[name]["fields"][field]
    return value >> lsb & ((1 << bits) - 1)


class Nic:
    """One QEMU with one NIC, bus numbers and BARs assigned, bus mastering on."""

    def __init__(self, fabric, node=0, nodes=2, options="", args=()):
        self.node = node
        self.qemu = Qemu(*args, "-device",
                         f"aries-nic,id=nic0,bus=rp0,fabric={fabric},node={node},nodes={nodes}{options}")
        self.set_up_bus()

    def close(self):
        self.qemu.close()

    def set_up_bus(self):
        """What firmware does: configuration window, bus numbers, bridge windows."""
        q = self.qemu
        q.outl(0xCF8, 0x80000060)
        q.outl(0xCFC, ECAM | 1)
        q.outl(0xCF8, 0x80000064)
        q.outl(0xCFC, 0)
        self.config_store(0x18, 4, 0x00010100, ROOT_PORT)
        self.config_store(0x20, 2, BAR[0] >> 16, ROOT_PORT)
        self.config_store(0x22, 2, BAR[0] >> 16 & 0xFFF0, ROOT_PORT)
        self.config_store(0x24, 2, BAR[2] >> 16 & 0xFFF0 | 1, ROOT_PORT)
        self.config_store(0x26, 2, BAR[4] + 0x00FFFFFF >> 16 & 0xFFF0 | 1, ROOT_PORT)
        self.config_store(0x28, 4, BAR[2] >> 32, ROOT_PORT)
        self.config_store(0x2C, 4, BAR[4] >> 32, ROOT_PORT)
        self.config_store(0x04, 2, 7, ROOT_PORT)
        self.set_up_function()

    def set_up_function(self):
        for bar, address in BAR.items():
            self.config_store(0x10 + 4 * bar, 4, address & 0xFFFFFFFF)
            self.config_store(0x14 + 4 * bar, 4, address >> 32)
        self.config_store(0x04, 2, 6)

    # ---- configuration space ----

    def config(self, offset, size, function=NIC):
        return self.qemu.load(ECAM + (function << 12) + offset, size)

    def config_store(self, offset, size, value, function=NIC):
        self.qemu.store(ECAM + (function << 12) + offset, size, value)

    def capability(self, wanted):
        """Offset of a capability, 0 if there is none."""
        at = self.config(0x34, 1)
        while at and self.config(at, 1) != wanted:
            at = self.config(at + 1, 1)
        return at

    def extended_capability(self, wanted):
        at = 0x100
        while at:
            head = self.config(at, 4)
            if head & 0xFFFF == wanted:
                return at
            at = head >> 20
        return 0

    # ---- BARs ----

    def address(self, name, index=0):
        reg = REGS[name]
        assert index < reg["count"]
        return BAR[0] + reg["offset"] + index * reg["stride"]

    def get(self, name, index=0):
        return self.qemu.load(self.address(name, index), REGS[name]["bytes"])

    def set(self, name, value, index=0):
        self.qemu.store(self.address(name, index), REGS[name]["bytes"], value)

    def counter(self, name):
        return self.get("CNT_VALUE", HW[f"ARIES_CNT_{name}"])

    def doorbell(self, descriptor, which, value):
        self.qemu.store(BAR[2] + descriptor * HW["ARIES_FMA_STRIDE"] + HW["ARIES_FMA_DOORBELL"] + HW[which], 8, value)

    def area(self, descriptor):
        return BAR[4] + descriptor * HW["ARIES_DESC_STRIDE"]

    # ---- MSI-X: vector n writes 0x5a00 + n to MSIX_MAILBOX + 4n ----

    MAILBOX = 0x100000

    def enable_msix(self, address=None):
        q = self.qemu
        for n in range(16):
            entry = BAR[0] + MSIX_TABLE + 16 * n
            where = self.MAILBOX + 4 * n if address is None else address
            q.store(entry, 4, where & 0xFFFFFFFF)
            q.store(entry + 4, 4, where >> 32)
            q.store(entry + 8, 4, 0x5A00 + n)
            q.store(entry + 12, 4, 0)
            q.store(self.MAILBOX + 4 * n, 4, 0)
        cap = self.capability(0x11)
        self.config_store(cap + 2, 2, self.config(cap + 2, 2) | 0x8000)

    def vectors(self):
        """Vectors that have arrived since the last call."""
        q, seen = self.qemu, []
        for n in range(16):
            if q.load(self.MAILBOX + 4 * n, 4) == 0x5A00 + n:
                seen.append(n)
                q.store(self.MAILBOX + 4 * n, 4, 0)
        return seen


class FabricCase(unittest.TestCase):
    """A test with a fabric of its own; what is left of it is removed."""

    def setUp(self):
        self.fabric = f"qtest-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.addCleanup(self.remove_fabric)

    def remove_fabric(self):
        for path in pathlib.Path("/dev/shm").glob(f"aries-{self.fabric}*"):
            if path.is_dir():
                for inner in path.iterdir():
                    inner.unlink()
                path.rmdir()
            else:
                path.unlink()

    def nic(self, **kwargs):
        nic = Nic(self.fabric, **kwargs)
        self.addCleanup(nic.close)
        return nic


class Endpoint:
    """A process on a node: one protection tag, FMA descriptor, queue and memory domain, set up as a driver would."""

    PTAG, FMA, CQ, MDH, OWNER, VECTOR = 5, 3, 9, 77, 1234, 2
    QUEUE, LOG2 = 0x200000, 6
    TABLE_AT, MEMORY, SIZE = 0x300000, 0x400000, 0x200000
    BASE = 0x7F12345000  # low 40 bits of the region's virtual address

    def __init__(self, nic, key=0xC00C1E, read_only=False, events=True):
        self.nic, self.consumed = nic, 0
        q = nic.qemu
        q.write(self.QUEUE, bytes(4096 + (8 << self.LOG2)))
        pages = self.SIZE // 4096
        q.write(self.TABLE_AT, b"".join(struct.pack("<Q", self.MEMORY + 4096 * n | 3) for n in range(pages)))
        nic.set("CTL_CONTROL", fields("CTL_CONTROL", ENABLE=1))
        nic.set("PTAG_KEY", fields("PTAG_KEY", KEY=key, VALID=1), self.PTAG)
        nic.set("CQ_BASE", self.QUEUE, self.CQ)
        nic.set("CQ_CTL", fields("CQ_CTL", VALID=1, IRQ=1, LOG2=self.LOG2, OWNER=self.OWNER, VECTOR=self.VECTOR),
                self.CQ)
        nic.set("FMAD_CTL", fields("FMAD_CTL", ENABLE=1, PTAG=self.PTAG, OWNER=self.OWNER), self.FMA)
        nic.set("MDD_BASE", self.BASE, self.MDH)
        nic.set("MDD_LENGTH", self.SIZE, self.MDH)
        nic.set("MDD_TABLE", self.TABLE_AT, self.MDH)
        nic.set("MDD_CTL", fields("MDD_CTL", VALID=1, READ_ONLY=int(read_only), CQ_VALID=int(events), CQ=self.CQ,
                                  PTAG=self.PTAG, PAGE_SHIFT=12, OWNER=self.OWNER), self.MDH)

    def event(self):
        """The next entry of the queue, 0 if there is none."""
        q = self.nic.qemu
        at = self.QUEUE + 4096 + 8 * (self.consumed % (1 << self.LOG2))
        entry = q.load(at, 8)
        if entry:
            q.store(at, 8, 0)
            self.consumed += 1
            q.store(self.QUEUE, 8, self.consumed)
        return entry

    def fma(self, op, pe, offset=0, length=0, data=b"", events=0x2, local=0, amo=0, operand=(0, 0), tid=1, mdh=None,
            cq=None):
        """One FMA operation on offset bytes into the target's region; its status word."""
        area = self.nic.area(self.FMA)
        self.nic.qemu.write(area, struct.pack(
            "<IHHQQHHIIIQQQQ", pe, self.MDH if mdh is None else mdh, 0, (self.BASE + offset) & 0xFFFFFFFFFF,
            (self.BASE + local) & 0xFFFFFFFFFF, self.MDH, self.CQ if cq is None else cq, 0, 0x10CA1, 0x4E407E,
            *operand, 0, 0))
        self.nic.qemu.write(area + HW["ARIES_DESC_LINE"], data)
        self.nic.doorbell(self.FMA, "ARIES_DB_FMA",
                          tid | (length or len(data)) << 16 | HW[op] << 32 | events << 40 | amo << 48)
        return self.nic.qemu.load(area + HW["ARIES_DESC_STATUS"] + 4, 4)

    def put(self, pe, offset, data, **kwargs):
        return self.fma("ARIES_FMA_PUT_LINE", pe, offset, data=data, **kwargs)

    def memory(self, offset, size):
        return self.nic.qemu.read(self.MEMORY + offset, size)

    def fill(self, offset, data):
        self.nic.qemu.write(self.MEMORY + offset, data)


def event_part(entry, name):
    return (entry & HW[f"ARIES_CQE_{name}_MASK"]) >> HW[f"ARIES_CQE_{name}_SHIFT"]
