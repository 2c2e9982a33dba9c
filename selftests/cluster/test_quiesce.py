# SPDX-License-Identifier: GPL-2.0-or-later
"""The network is quiesced by its operator: what drivers, their files and clients in the kernel are told."""

import subprocess

import test_slnd
from opengni import host

FILES = "/sys/class/gni/kgni0"
BOUND = 60.0


class NetworkQuiesce(test_slnd.SlndCase):
    SHARES = "pair"

    def setUp(self):
        super().setUp()
        self.nodes = range(self.NODES)
        self.before = [int(self.file(node, "quiesces")) for node in self.nodes]
        self.heard = [self.counter(node, "quiesces") for node in self.nodes]

    def file(self, node, name):
        return self.cluster.run(node, f"cat {FILES}/{name}").stdout.strip()

    def quiesce(self, milliseconds):
        """On one host; gateways tell the others."""
        fabric = self.cluster.config.fabrics[0]
        subprocess.run([host.BUILD / "model" / "net" / "aries-net", "-f", fabric, "quiesce", str(milliseconds)], check=True, timeout=60)

    def wait_for_file(self, node, name, value):
        self.wait_for(lambda: self.file(node, name) == value, lambda: f"node {node}: {name} is {self.file(node, name)}\n{self.state(node)}", BOUND)

    def test_drivers_and_clients_are_told_of_both_ends(self):
        """Nobody sends, so it takes its time; then everything works."""
        self.works()
        self.quiesce(20000)
        for node in self.nodes:
            self.wait_for_file(node, "quiesced", "1")
            self.assertEqual(self.counter(node, "quiesces"), self.heard[node])
        for node in self.nodes:
            self.wait_for_file(node, "quiesced", "0")
            self.assertEqual((int(self.file(node, "quiesces")), self.file(node, "quiesce_ms")), (self.before[node] + 1, "20000"))
            self.assertIn("the network resumes after a quiesce of 20000 ms", self.cluster.run(node, "dmesg").stdout)
            # the client's own count: its callback was called, once
            self.wait_for(lambda n=node: self.counter(n, "quiesces") == self.heard[n] + 1, lambda n=node: self.state(n), BOUND)
        self.works()

    def test_posts_wait_while_it_is_quiet(self):
        """What a client posts after it was told is sent at the end, whole; the client is not told of a failure."""
        self.works()
        self.quiesce(10000)
        self.wait_for_file(0, "quiesced", "1")
        begun = self.begin(0, test="rate", peer=1, count=500, bytes=300, threads=2)
        sent = self.counter(0, "messages_sent")
        if self.file(0, "quiesced") == "1":
            self.assertLessEqual(self.counter(0, "messages_sent"), sent + 1)
        self.good(self.end(begun))
        self.assertEqual((self.file(0, "quiesced"), self.counter(0, "failed")), ("0", 0))

    def test_under_traffic(self):
        """Whoever still sends holds its request to the end of the quiesce; nothing is lost, and all hear of it."""
        begun = self.busy(0, "messages_sent", test="rate", peer=1, bytes=500, threads=2)
        for turn in range(1, 4):
            self.quiesce(1000)
            for node in self.nodes:
                self.wait_for_file(node, "quiesces", str(self.before[node] + turn))
                self.wait_for_file(node, "quiesced", "0")
            moved = self.counter(0, "messages_sent")
            self.wait_for(lambda last=moved: self.counter(0, "messages_sent") > last + 100, lambda: self.state(0), BOUND)
        self.stop(0)
        result = self.end(begun)
        self.assertEqual((result["failed"], result["damaged"], self.damaged(1), result["came"]), (0, 0, 0, result["ok"]), result)
