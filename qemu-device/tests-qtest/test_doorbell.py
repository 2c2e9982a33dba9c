# SPDX-License-Identifier: GPL-2.0-or-later
"""doorbell=trapped and doorbell=polled: the property, and doorbells that lie in the descriptor area."""

import struct

from aries import Endpoint, FabricCase, HW, fields, get_field

PATH = "/machine/peripheral/nic0"


class Polled(Endpoint):
    """A process whose descriptor takes polled doorbells."""

    def __init__(self, nic):
        super().__init__(nic)
        self.phase = 0
        self.enable()

    def enable(self, **more):
        self.phase = 0
        self.nic.set("FMAD_CTL", fields("FMAD_CTL", ENABLE=1, POLL=1, PTAG=self.PTAG, OWNER=self.OWNER, **more), self.FMA)

    def leave(self, data):
        """A put to the start of the own region, stored and told to nobody."""
        area = self.nic.area(self.FMA)
        self.nic.qemu.write(area, struct.pack("<IHHQQHHIIIQQQQ", self.nic.node, self.MDH, 0, self.BASE, 0, 0, self.CQ, 0, 1, 2, 0, 0, 0, 0))
        self.nic.qemu.write(area + HW["ARIES_DESC_LINE"], data)
        self.phase ^= HW["ARIES_DB_PHASE"]
        self.nic.qemu.store(area + HW["ARIES_DESC_POLL"], 8, self.phase | len(data) << 16 | HW["ARIES_FMA_PUT_LINE"] << 32 | 2 << 40)

    def kick(self):
        self.nic.doorbell(self.FMA, "ARIES_DB_POLL", 0)

    def status(self):
        return struct.unpack("<II", self.nic.qemu.read(self.nic.area(self.FMA) + HW["ARIES_DESC_STATUS"], 8))


class Doorbell(FabricCase):
    def get(self, dev, name):
        return dev.qemu.qmp("qom-get", path=PATH, property=name)

    def test_trapped_is_what_there_is(self):
        dev = self.nic()
        self.assertEqual(self.get(dev, "doorbell"), "trapped")
        self.assertEqual(get_field("ID_CAPS", "POLL", dev.get("ID_CAPS")), 0)
        end = Endpoint(dev)
        before = dev.counter("GUEST_ERRORS")
        dev.doorbell(end.FMA, "ARIES_DB_POLL", 0)
        control = dev.get("FMAD_CTL", end.FMA)
        dev.set("FMAD_CTL", control | fields("FMAD_CTL", POLL=1), end.FMA)
        self.assertEqual(dev.counter("GUEST_ERRORS"), before + 2)
        self.assertEqual(dev.get("FMAD_CTL", end.FMA), control)

    def test_property(self):
        dev = self.nic(options=",doorbell=polled")
        self.assertEqual(self.get(dev, "doorbell"), "polled")
        self.assertEqual(get_field("ID_CAPS", "POLL", dev.get("ID_CAPS")), 1)
        self.assertIn("cannot be changed", dev.qemu.qmp_error("qom-set", path=PATH, property="doorbell", value="trapped"))
        self.assertEqual(self.nic(node=1, options=",doorbell=trapped").qemu.qmp("qom-get", path=PATH, property="doorbell"), "trapped")

    def test_runs_by_a_trap(self):
        dev = self.nic(options=",doorbell=polled")
        end = Polled(dev)
        for n in range(1, 4):
            data = bytes([n]) * 100
            end.leave(data)
            end.kick()
            self.assertEqual(end.status(), (n, 0))
            self.assertEqual(end.memory(0, 100), data)
            self.assertTrue(end.event())
        # Both kinds, in turn; the sequence is one.
        self.assertEqual(end.put(0, 0, b"trapped"), 0)
        self.assertEqual(end.status(), (4, 0))
        end.leave(b"polled!")
        end.kick()
        self.assertEqual(end.status(), (5, 0))
        self.assertEqual(end.memory(0, 7), b"polled!")
        self.assertEqual(dev.counter("GUEST_ERRORS"), 0)
        self.assertGreaterEqual(dev.counter("FMA_WAKES") + dev.counter("FMA_POLLED"), 4)

    def test_interrupt(self):
        dev = self.nic(options=",doorbell=polled")
        dev.enable_msix()
        end = Polled(dev)
        dev.set("CQI_ARM", end.CQ)
        dev.vectors()
        end.leave(b"ring")
        end.kick()
        self.assertIn(end.VECTOR, dev.vectors())

    def test_disabled_descriptors_have_run_it(self):
        dev = self.nic(options=",doorbell=polled")
        end = Polled(dev)
        end.leave(b"before")
        dev.set("FMAD_CTL", 0, end.FMA)
        self.assertEqual(end.memory(0, 6), b"before")
        end.leave(b"behind")
        end.kick()
        end.enable()
        end.kick()
        self.assertEqual(end.memory(0, 6), b"before")
        self.assertEqual(get_field("FMAD_STATUS", "BUSY", dev.get("FMAD_STATUS", end.FMA)), 0)

    def test_reset_drops_it(self):
        dev = self.nic(options=",doorbell=polled")
        end = Polled(dev)
        end.leave(b"dropped")
        cap = dev.capability(0x10)
        dev.config_store(cap + 8, 2, dev.config(cap + 8, 2) | 0x8000)
        dev.set_up_function()
        self.assertEqual(end.status(), (0, 0))
        end.fill(0, bytes(7))  # the tick may have found it before
        end.kick()
        self.assertEqual(end.memory(0, 7), bytes(7))
        end = Polled(dev)
        end.leave(b"once more")
        end.kick()
        self.assertEqual(end.memory(0, 9), b"once more")
        self.assertEqual(end.status()[1], 0)
