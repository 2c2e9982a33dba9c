# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong bits in a memory that stop the NIC: what the function says on PCI Express, and how severe that is."""

from aries import Endpoint, FabricCase, fields, get_field
from qtest import wait_until
from test_properties import PATH

EXT_AER = 0x0001
INTERNAL = 1 << 22  # uncorrectable internal error
MDD = 1  # of enum aries_ras_memory
FATAL, NONFATAL = 1 << 2, 1 << 1  # device status


class Stopped(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()
        self.dev.enable_msix()
        self.end = Endpoint(self.dev)
        self.aer = self.dev.extended_capability(EXT_AER)
        self.status = self.dev.capability(0x10) + 10

    def uncorrectable(self):
        return self.dev.config(self.aer + 4, 4) & INTERNAL

    def hit(self):
        self.dev.qemu.qmp("qom-set", path=PATH, property="ecc-double", value=MDD << 32 | Endpoint.MDH)
        self.assertNotEqual(self.end.put(0, 0, b"12345678"), 0)

    def stop(self, expected):
        """The NIC stops, and says so as the function's severity register wants it."""
        self.dev.set("RAS_SIGNAL", 1 << MDD)
        self.hit()
        self.assertTrue(wait_until(self.uncorrectable, 10), "nothing is signalled")
        self.assertEqual(self.dev.config(self.status, 2) & (FATAL | NONFATAL), expected)
        self.assertEqual(self.dev.get("RAS_STOPPED"), 1 << MDD)
        self.assertFalse(get_field("CTL_STATUS", "ENABLED", self.dev.get("CTL_STATUS")))
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", ENABLE=1))
        self.assertFalse(get_field("CTL_STATUS", "ENABLED", self.dev.get("CTL_STATUS")), "not before a reset")

    def again(self):
        self.dev.config_store(self.aer + 4, 4, INTERNAL)
        self.dev.config_store(self.status, 2, FATAL | NONFATAL)
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        self.assertEqual(self.dev.get("RAS_STOPPED"), 0)
        self.end = Endpoint(self.dev)
        self.assertEqual(self.end.put(0, 0, b"12345678"), 0)

    def test_severity_is_the_functions(self):
        self.assertTrue(self.dev.config(self.aer + 12, 4) & INTERNAL, "fatal after a reset")
        self.stop(FATAL)
        self.again()
        self.dev.config_store(self.aer + 12, 4, self.dev.config(self.aer + 12, 4) & ~INTERNAL)
        self.stop(NONFATAL)
        self.again()
        self.assertFalse(self.uncorrectable(), "once for each time that the NIC stops")

    def test_errors_that_are_contained_stay_inside(self):
        self.hit()
        self.assertFalse(wait_until(self.uncorrectable, 1))
        self.assertEqual(self.dev.get("RAS_STOPPED"), 0)
        self.assertEqual(self.dev.get("RAS_DAMAGED", MDD), 1)
