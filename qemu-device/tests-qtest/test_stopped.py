# SPDX-License-Identifier: GPL-2.0-or-later
"""Resets while a peer is stopped in the middle of an access: memory is the guest's again only when that has ended."""

import signal
import struct

from aries import HW, ROOT_PORT, Endpoint, FabricCase
from qtest import wait_until

PUT = 1
TRPND = 0x20


class Stopped(FabricCase):
    """Node 1 writes all over the region of node 0, and is stopped."""

    FLR = 0x8000

    def setUp(self):
        super().setUp()
        self.dev = self.nic(node=0)
        self.peer = self.nic(node=1)
        self.peer_end = Endpoint(self.peer)
        self.express = self.dev.capability(0x10)

    def start_traffic(self):
        area = self.peer.area(Endpoint.FMA) + HW["ARIES_DESC_BTE"]
        for slot in range(8):
            self.peer.qemu.write(area + 64 * slot, struct.pack(
                "<IHHQQIHHIIBBHH18s", 0, Endpoint.MDH, Endpoint.MDH, Endpoint.BASE, Endpoint.BASE, Endpoint.SIZE,
                Endpoint.CQ, 0x77, 1, 2, PUT, 0, 0, 0, bytes(18)))
        for slot in range(8):
            self.peer.doorbell(Endpoint.FMA, "ARIES_DB_BTE", slot)

    def stop_peer(self):
        self.peer.qemu.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.peer.qemu.process.send_signal(signal.SIGCONT)  # nothing if it has been killed

    def flr(self):
        self.dev.config_store(self.express + 8, 2, self.FLR)

    def in_access(self, revoke, pending):
        """Stops the peer, as often as it takes to catch it in an access."""
        self.addCleanup(self.go_on)
        for _ in range(100):
            Endpoint(self.dev)
            self.peer_end.fill(0, bytes([0x77]) * 4096)
            self.start_traffic()
            self.stop_peer()
            revoke()
            if pending():
                return
            self.go_on()
            self.assertTrue(wait_until(lambda: not self.peer.get("BTE_STATUS"), 30))
            self.dev.set_up_bus()
        self.fail("of 100 resets under traffic, with the peer stopped, none had to wait")

    def check_silence(self):
        """Nothing is written any more to what is the guest's again."""
        self.dev.qemu.write(Endpoint.MEMORY, bytes([0x5A]) * Endpoint.SIZE)
        self.assertTrue(wait_until(lambda: not self.peer.get("BTE_STATUS"), 30))
        self.assertEqual(self.dev.qemu.read(Endpoint.MEMORY, Endpoint.SIZE), bytes([0x5A]) * Endpoint.SIZE)

    def absent(self):
        return self.dev.config(0, 4) == 0xFFFFFFFF

    def running(self):
        return self.dev.qemu.qmp("query-status")["running"]

    def test_function_level_reset(self):
        self.in_access(self.flr, self.absent)
        self.dev.config_store(0x04, 2, 6)
        self.assertTrue(self.absent(), "not ready: nothing is taken either")
        self.assertTrue(wait_until(lambda: f"node 1 (pid {self.peer.qemu.process.pid})" in self.dev.qemu.stderr(), 30),
                        "the log names who is waited for")
        self.assertTrue(self.absent(), "as long as it takes")
        self.go_on()
        self.assertTrue(wait_until(lambda: not self.absent(), 30))
        self.check_silence()
        self.dev.set_up_function()
        self.assertEqual(Endpoint(self.dev).put(0, 64, b"works again"), 0)

    def test_peer_is_killed(self):
        self.in_access(self.flr, self.absent)
        self.peer.qemu.kill()
        self.assertTrue(wait_until(lambda: not self.absent(), 30))

    def test_bus_master(self):
        self.in_access(lambda: self.dev.config_store(0x04, 2, 2),
                       lambda: self.dev.config(self.express + 10, 2) & TRPND)
        self.go_on()
        self.assertTrue(wait_until(lambda: not self.dev.config(self.express + 10, 2) & TRPND, 30))
        self.check_silence()

    def test_system_reset(self):
        def reset():
            self.dev.qemu.qmp("system_reset")
            self.assertTrue(wait_until(lambda: not self.dev.config(0x18, 4, ROOT_PORT) & 0xFF00, 5))

        self.in_access(reset, lambda: not self.running())
        self.dev.qemu.qmp("cont")
        self.assertTrue(wait_until(lambda: not self.running(), 30), "it does not run whoever wants it to")
        self.go_on()
        self.assertTrue(wait_until(self.running, 30), "it goes on by itself")
        self.check_silence()
