# SPDX-License-Identifier: GPL-2.0-or-later
"""Function level reset, bus reset, system reset and the reset register."""

from aries import ROOT_PORT, BAR, Endpoint, FabricCase, fields
from qtest import wait_until


class Reset(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()
        self.dev.enable_msix()
        self.end = Endpoint(self.dev)
        self.dev.set("NTT_ENTRY", fields("NTT_ENTRY", PE=1, VALID=1), 100)
        self.generation = self.dev.get("CTL_GENERATION")
        for at in (self.dev.area(0), self.dev.area(Endpoint.FMA) + 0x800, self.dev.area(127) + 0x1FF8):
            self.dev.qemu.store(at, 8, 0x5EC2E7)

    def check_descriptor_areas(self):
        """Nothing of processes is left for whoever has the function next."""
        self.assertEqual(self.dev.qemu.read(BAR[4], 0x100000), bytes(0x100000))

    def check_device_state(self):
        """The NIC's own state is gone."""
        for name, index in (("CTL_CONTROL", 0), ("PTAG_KEY", Endpoint.PTAG), ("CQ_CTL", Endpoint.CQ),
                            ("FMAD_CTL", Endpoint.FMA), ("MDD_CTL", Endpoint.MDH), ("NTT_ENTRY", 100)):
            self.assertEqual(self.dev.get(name, index), 0, name)
        self.assertTrue(wait_until(lambda: not self.dev.get("CTL_STATUS") & fields("CTL_STATUS", BUSY=1), 5))
        self.assertEqual(self.dev.get("CTL_STATUS"), fields("CTL_STATUS", LINK=1), "still in the fabric")
        self.assertGreater(self.dev.get("CTL_GENERATION"), self.generation)

    def check_bus_state(self):
        """PCI's part is gone too: decoding, mastering, MSI-X, BARs."""
        self.assertEqual(self.dev.config(0x04, 2) & 7, 0)
        self.assertEqual(self.dev.config(0x10, 4) & ~15, 0)
        self.assertEqual(self.dev.config(self.dev.capability(0x11) + 2, 2) & 0x8000, 0)

    def disturb_bus_state(self):
        """What a driver may have switched on: reports of errors, a common clock, no power."""
        express = self.dev.capability(0x10)
        self.dev.config_store(express + 8, 2, self.dev.config(express + 8, 2) | 0xF)
        self.dev.config_store(express + 16, 2, 0xC0)
        self.dev.config_store(self.dev.capability(0x01) + 4, 2, 3)
        self.assertEqual(self.capability_state(), (0xF, 0xC0, 3))

    def capability_state(self):
        express, power = self.dev.capability(0x10), self.dev.capability(0x01)
        return (self.dev.config(express + 8, 2) & 0xF, self.dev.config(express + 16, 2) & 0xC0,
                self.dev.config(power + 4, 2) & 3)

    def check_works_again(self):
        self.dev.enable_msix()
        end = Endpoint(self.dev)
        self.assertEqual(end.put(0, 64, b"after the reset"), 0)
        self.assertEqual(end.memory(64, 15), b"after the reset")

    def test_function_level_reset(self):
        at = self.dev.capability(0x10)
        self.dev.config_store(at + 8, 2, self.dev.config(at + 8, 2) | 0x8000)
        self.assertEqual(self.dev.config(at + 8, 2) & 0x8000, 0, "reads as 0")
        self.check_bus_state()
        self.dev.set_up_function()
        self.check_descriptor_areas()
        self.check_device_state()
        self.check_works_again()

    def test_bus_reset(self):
        self.disturb_bus_state()
        control = self.dev.config(0x3E, 2, ROOT_PORT)
        self.dev.config_store(0x3E, 2, control | 0x40, ROOT_PORT)
        self.dev.config_store(0x3E, 2, control, ROOT_PORT)
        self.check_bus_state()
        self.assertEqual(self.capability_state(), (0, 0, 0))
        self.dev.set_up_function()
        self.check_descriptor_areas()
        self.check_device_state()
        self.check_works_again()

    def test_system_reset(self):
        self.dev.qemu.qmp("system_reset")
        self.assertTrue(wait_until(lambda: not self.dev.config(0x18, 4, ROOT_PORT) & 0xFF00, 5))
        self.dev.set_up_bus()
        self.check_descriptor_areas()
        self.check_device_state()
        self.check_works_again()

    def test_reset_register(self):
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        self.check_device_state()
        self.assertEqual(self.dev.config(0x04, 2) & 7, 6, "PCI is as it was")
        self.check_works_again()

    def test_descriptor_of_before_does_nothing(self):
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        before = self.end.memory(0, 64)
        self.end.put(0, 0, b"x" * 64)
        self.assertEqual(self.end.memory(0, 64), before)
        self.assertEqual(self.end.event(), 0)

    def test_many(self):
        at = self.dev.capability(0x10)
        for _ in range(200):
            self.dev.config_store(at + 8, 2, 0x8000)
        self.dev.set_up_function()
        self.assertEqual(self.dev.qemu.load(BAR[0], 4), 0x53495241)
        self.check_works_again()
