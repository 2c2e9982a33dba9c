# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration space: identity, capabilities, link, BARs."""

from aries import BAR, HW, NIC, ROOT_PORT, TABLE, Endpoint, FabricCase

CAP_PM, CAP_MSIX, CAP_EXPRESS = 0x01, 0x11, 0x10
EXT_AER, EXT_DSN = 0x0001, 0x0003


class Identity(FabricCase):
    def test_ids(self):
        nic, device = self.nic(), TABLE["device"]
        self.assertEqual(nic.config(0x00, 2), device["vendor"])
        self.assertEqual(nic.config(0x02, 2), device["device"])
        self.assertEqual(nic.config(0x08, 1), device["revision"])
        self.assertEqual(nic.config(0x0A, 2), device["class"])
        self.assertEqual(nic.config(0x2C, 2), device["vendor"])
        self.assertEqual(nic.config(0x2E, 2), device["device"])

    def test_serial_number_tells_nics_apart(self):
        serials = []
        for node in (0, 1):
            nic = self.nic(node=node)
            at = nic.extended_capability(EXT_DSN)
            self.assertTrue(at, "device serial number capability")
            serials.append(nic.config(at + 4, 8))
            nic.close()
        self.assertEqual([serial >> 56 for serial in serials], [2, 2], "locally administered")
        self.assertEqual([serial & 0xFFFFFF for serial in serials], [0, 1], "node address")
        nic = self.nic(node=1)
        self.assertEqual(nic.config(nic.extended_capability(EXT_DSN) + 4, 8), serials[1], "stable over restarts")


class Capabilities(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()

    def test_power_management(self):
        at = self.dev.capability(CAP_PM)
        self.assertTrue(at)
        self.dev.config_store(at + 4, 2, 3)
        self.assertEqual(self.dev.config(at + 4, 2) & 3, 3, "D3hot can be set")
        self.dev.config_store(at + 4, 2, 0)
        self.assertEqual(self.dev.config(at + 4, 2) & 3, 0)

    def test_without_power_nothing_goes_to_the_bus(self):
        end, power = Endpoint(self.dev), self.dev.capability(CAP_PM) + 4
        self.dev.enable_msix()
        self.dev.config_store(power, 2, 3)
        self.assertEqual(end.put(0, 0, b"asleep"), HW["ARIES_ST_DISABLED"])
        self.dev.set("TEST_IRQ", 1)
        self.dev.config_store(0x04, 2, 6)
        self.assertEqual(end.put(0, 0, b"asleep"), HW["ARIES_ST_DISABLED"], "mastering alone does not wake it")
        self.dev.config_store(power, 2, 0)
        self.assertEqual((self.dev.vectors(), end.event(), end.memory(0, 6)), ([], 0, bytes(6)))
        self.assertEqual(end.put(0, 0, b"awake"), 0, "what was set up is there")
        self.assertEqual(end.memory(0, 5), b"awake")
        self.dev.set("TEST_IRQ", 1)
        self.assertIn(1, self.dev.vectors())

    def test_msix(self):
        at = self.dev.capability(CAP_MSIX)
        self.assertTrue(at)
        self.assertEqual(self.dev.config(at + 2, 2) & 0x7FF, TABLE["limits"]["MSIX_VECTORS"][0] - 1)
        self.assertEqual(self.dev.config(at + 4, 4), 0x80000, "table in BAR 0")
        self.assertEqual(self.dev.config(at + 8, 4), 0x81000, "pending bits in BAR 0")

    def test_express_and_link(self):
        """P20: the link is Gen3 x16."""
        at = self.dev.capability(CAP_EXPRESS)
        self.assertTrue(at)
        self.assertEqual(self.dev.config(at + 2, 2) >> 4 & 15, 0, "endpoint")
        self.assertTrue(self.dev.config(at + 4, 4) >> 28 & 1, "function level reset")
        for name, value in (("LNKCAP", self.dev.config(at + 12, 4)), ("LNKSTA", self.dev.config(at + 18, 2))):
            self.assertEqual(value & 15, 3, f"{name}: 8 GT/s")
            self.assertEqual(value >> 4 & 63, 16, f"{name}: x16")
        self.assertEqual(self.dev.config(at + 44, 4) & 0xFE, 0x0E, "LNKCAP2: 2.5, 5 and 8 GT/s")

    def test_root_port_sees_the_link(self):
        at = self.dev.config(0x34, 1, ROOT_PORT)
        while self.dev.config(at, 1, ROOT_PORT) != CAP_EXPRESS:
            at = self.dev.config(at + 1, 1, ROOT_PORT)
        status = self.dev.config(at + 18, 2, ROOT_PORT)
        self.assertEqual((status & 15, status >> 4 & 63), (3, 16))

    def test_error_reporting(self):
        """P19: errors of the PCIe link are reported by AER."""
        self.assertTrue(self.dev.extended_capability(EXT_AER))
        answer = self.dev.qemu.hmp("pcie_aer_inject_error nic0 RCVR")
        self.assertIn("OK", answer)
        at = self.dev.extended_capability(EXT_AER)
        self.assertEqual(self.dev.config(at + 0x10, 4) & 1, 1, "correctable error status: receiver error")
        self.dev.config_store(at + 0x10, 4, 1)
        self.assertEqual(self.dev.config(at + 0x10, 4) & 1, 0)


class Bars(FabricCase):
    def test_sizes_and_types(self):
        nic = self.nic()
        for bar, size, kind in ((0, 0x100000, 0x4), (2, 0x2000000, 0xC), (4, 0x100000, 0xC)):
            with self.subTest(bar=bar):
                self.assertEqual(nic.config(0x10 + 4 * bar, 4) & 15, kind)
                nic.config_store(0x10 + 4 * bar, 4, 0xFFFFFFFF)
                nic.config_store(0x14 + 4 * bar, 4, 0xFFFFFFFF)
                low, high = nic.config(0x10 + 4 * bar, 4), nic.config(0x14 + 4 * bar, 4)
                self.assertEqual((1 << 64) - ((high << 32 | low) & ~15), size)
        self.assertEqual(TABLE["bars"]["BAR_REGS"][:2], [0, 0x100000])
        self.assertEqual(TABLE["bars"]["BAR_FMA"][:2], [2, 0x2000000])
        self.assertEqual(TABLE["bars"]["BAR_DESC"][:2], [4, 0x100000])

    def test_descriptor_areas_are_memory(self):
        nic = self.nic()
        data = bytes(range(256)) * 16
        for at in (0, 0x7FF8, 0x100000 - len(data)):
            nic.qemu.write(BAR[4] + at, data)
            self.assertEqual(nic.qemu.read(BAR[4] + at, len(data)), data)
        nic.qemu.store(BAR[4] + 3, 8, 0x1122334455667788)
        self.assertEqual(nic.qemu.load(BAR[4] + 3, 8), 0x1122334455667788)

    def test_decoding_off(self):
        nic = self.nic()
        self.assertEqual(nic.get("ID_MAGIC"), TABLE["device"]["magic"])
        nic.config_store(0x04, 2, 0, NIC)
        self.assertNotEqual(nic.get("ID_MAGIC"), TABLE["device"]["magic"])
        nic.set_up_function()
        self.assertEqual(nic.get("ID_MAGIC"), TABLE["device"]["magic"])
