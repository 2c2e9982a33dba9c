# SPDX-License-Identifier: GPL-2.0-or-later
"""Global clock and event timer (N25): host time and MSI-X through QEMU."""

import time

from aries import FabricCase, fields
from qtest import wait_until

MS = 1_000_000


class Timer(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()
        self.dev.enable_msix()

    def now(self, nic=None):
        return (nic or self.dev).get("CLK_NOW")

    def start(self, timer, compare, period=0, vector=1):
        self.dev.set("TMR_COMPARE", compare, timer)
        self.dev.set("TMR_PERIOD", period, timer)
        self.dev.set("TMR_CTL", fields("TMR_CTL", ENABLE=1, PERIODIC=int(period > 0), VECTOR=vector), timer)

    def test_clock_is_host_time_and_the_same_at_all_nodes(self):
        other = self.nic(node=1)
        start, host = self.now(), time.monotonic_ns()
        reads = [self.now(other if n % 2 else self.dev) for n in range(200)]
        self.assertEqual(reads, sorted(reads))
        time.sleep(0.05)
        self.assertLess(abs((self.now(other) - start) - (time.monotonic_ns() - host)), 20 * MS)

    def test_once(self):
        due = self.now() + 30 * MS
        self.start(2, due, vector=9)
        self.assertEqual(self.dev.vectors(), [] if self.now() < due else [9])
        self.assertEqual(wait_until(self.dev.vectors, 5), [9])
        self.assertGreaterEqual(self.now(), due)
        self.assertEqual(self.dev.get("TMR_PENDING"), 4)
        self.dev.set("TMR_PENDING", 4)
        time.sleep(0.05)
        self.assertEqual(self.dev.vectors(), [])
        self.assertEqual([self.dev.get("TMR_FIRED", 2), self.dev.get("TMR_CTL", 2)], [1, 0x900])

    def test_periodic_until_stopped(self):
        self.start(0, self.now(), period=2 * MS, vector=3)
        for _ in range(5):
            self.assertEqual(wait_until(self.dev.vectors, 5), [3])
        self.dev.set("TMR_CTL", 0, 0)
        self.dev.vectors()
        fired = self.dev.get("TMR_FIRED", 0)
        self.assertGreaterEqual(fired, 5)
        time.sleep(0.02)
        self.assertEqual(self.dev.vectors(), [])
        self.assertEqual(self.dev.get("TMR_FIRED", 0), fired)

    def test_goes_on_while_the_guest_is_stopped(self):
        self.start(1, self.now() + 5 * MS, vector=4)
        before = self.now()
        self.dev.qemu.qmp("stop")
        time.sleep(0.03)
        self.dev.qemu.qmp("cont")
        self.assertEqual(wait_until(self.dev.vectors, 5), [4])
        self.assertGreaterEqual(self.now() - before, 30 * MS)

    def test_reset_and_unplug_with_a_timer_running(self):
        self.start(0, self.now(), period=MS, vector=3)
        self.start(3, 1 << 62, vector=3)
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        self.dev.vectors()
        time.sleep(0.01)
        self.assertEqual(self.dev.vectors(), [])
        self.start(0, self.now(), period=MS, vector=3)
        self.dev.qemu.qmp("device_del", id="nic0")
        self.dev.qemu.qmp("system_reset")
        time.sleep(0.05)
        self.assertTrue(self.dev.qemu.alive())
