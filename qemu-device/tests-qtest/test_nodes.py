# SPDX-License-Identifier: GPL-2.0-or-later
"""NODE: which nodes are there, through QEMU's own life: start, end in order, kill, stop, reset, sleep of the guest."""

import signal
import time

from aries import HW, FabricCase, fields, get_field
from qtest import wait_until

LEASE = 100  # milliseconds
VECTOR = 5
OPTIONS = {"nodes": 3, "options": f",lease-ms={LEASE}"}


class Nodes(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic(node=0, **OPTIONS)
        self.dev.enable_msix()
        self.enable(self.dev)
        self.dev.set("NODE_CTL", fields("NODE_CTL", ENABLE=1, VECTOR=VECTOR))

    def enable(self, nic):
        nic.set("CTL_CONTROL", fields("CTL_CONTROL", ENABLE=1))

    def state(self, node):
        value = self.dev.get("NODE_STATE", node)
        name = {HW[f"ARIES_NODE_{name}"]: name for name in ("NEVER", "OFF", "UP", "DEAD", "LEFT")}[get_field("NODE_STATE", "STATE", value)]
        return name, get_field("NODE_STATE", "LIFE", value)

    def expect(self, node, state):
        """The node gets there, the interrupt comes, and again until somebody has acknowledged; its life."""
        self.assertTrue(wait_until(lambda: self.state(node)[0] == state and self.dev.get("NODE_CHANGED") & 1 << node, 20), self.state(node))
        for _ in range(2):
            self.assertEqual(wait_until(self.dev.vectors, 20), [VECTOR])
        self.dev.set("NODE_CHANGED", (1 << 64) - 1, 0)
        self.dev.vectors()
        return self.state(node)[1]

    def test_life_of_a_peer(self):
        self.expect(0, "UP")
        self.assertEqual(self.state(2), ("NEVER", 0))
        peer = self.nic(node=2, **OPTIONS)
        self.expect(2, "OFF")
        self.enable(peer)
        life = self.expect(2, "UP")
        peer.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        self.enable(peer)
        self.assertGreater(self.expect(2, "UP"), life)
        peer.config_store(0x04, 2, 2)  # no bus master
        self.expect(2, "OFF")
        peer.config_store(0x04, 2, 6)
        self.expect(2, "UP")
        peer.qemu.qmp("quit")
        self.expect(2, "LEFT")
        peer = self.nic(node=2, **OPTIONS)
        self.enable(peer)
        life = self.expect(2, "UP")
        peer.qemu.kill()
        self.assertEqual(self.expect(2, "DEAD"), life)
        self.enable(self.nic(node=2, **OPTIONS))
        self.assertGreater(self.expect(2, "UP"), life)

    def test_stopped_peer(self):
        peer = self.nic(node=1, **OPTIONS)
        self.enable(peer)
        self.expect(1, "UP")
        for stop, go_on in ((lambda: peer.qemu.process.send_signal(signal.SIGSTOP), lambda: peer.qemu.process.send_signal(signal.SIGCONT)),
                            (lambda: peer.qemu.qmp("stop"), lambda: peer.qemu.qmp("cont"))):
            stop()
            time.sleep(10 * LEASE / 1000)
            self.assertEqual((self.state(1)[0], self.dev.get("NODE_CHANGED")), ("UP", 0))
            go_on()
            time.sleep(0.3)
            self.assertEqual((self.state(1)[0], self.dev.get("NODE_CHANGED"), self.dev.vectors()), ("UP", 0, []))

    def test_own_reset(self):
        peer = self.nic(node=1, **OPTIONS)
        self.enable(peer)
        self.expect(1, "UP")
        self.dev.set("CTL_CONTROL", fields("CTL_CONTROL", RESET=1))
        self.dev.vectors()
        self.assertTrue(wait_until(lambda: self.dev.get("NODE_CHANGED") == 3, 20))
        self.assertEqual((self.dev.vectors(), self.dev.get("NODE_CTL"), self.state(0)[0]), ([], 0, "OFF"))
        self.enable(self.dev)
        self.dev.set("NODE_CTL", fields("NODE_CTL", ENABLE=1, VECTOR=VECTOR))
        self.expect(0, "UP")
