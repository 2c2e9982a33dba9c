# SPDX-License-Identifier: GPL-2.0-or-later
"""A node as programs of the field read it: librca, rca-helper and names, on nodes at places of a machine."""

import re

from opengni import host
from gnitest.staged import compiled
from gnitest.testing import ClusterCase

SOURCE = host.TOP / "selftests/node/nodes.c"
HELPER = "/opt/cray/rca/default/bin/rca-helper"  # where programs look
ABI_VERSION = int(re.search(r"KGNI_ABI_VERSION (\d+)", (host.TOP / "driver/include/uapi/kgni_abi.h").read_text(encoding="utf-8"))[1])
BOUND = 120.0


class NodeView(ClusterCase):
    SHARES = "machine"
    PLACES = ["0 0 0", "0 0 0", "0 0 1", "0 1 0", "2 0 0"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compiled(SOURCE, "cray-rca")

    def put(self, node):
        self.succeed(self.cluster.run(node, "cat >/nodes && chmod +x /nodes", stdin=self.program))

    def nodes(self, node):
        return self.succeed(self.cluster.run(node, "/nodes")).stdout.splitlines()

    def expected(self, own, down=()):
        return [f"{nid} {0 if nid in down else 7} {place}{' *' if nid == own else ''}" for nid, place in enumerate(self.PLACES)]

    def shows(self, own, down=()):
        self.wait_for(lambda: self.nodes(own) == self.expected(own, down), lambda: self.nodes(own), BOUND)

    def test_each_node_knows_all(self):
        for node in range(self.NODES):
            self.put(node)
            self.shows(node)

    def test_a_node_that_dies_and_comes_again(self):
        self.put(0)
        self.shows(0)
        self.cluster.kill(4)
        self.shows(0, down=(4,))
        self.cluster.start(4)
        self.shows(0)

    def test_without_the_driver(self):
        self.put(1)
        self.succeed(self.cluster.run(1, "rmmod aries"))
        try:
            self.assertEqual(self.cluster.run(1, "/nodes").code, 1)
            result = self.cluster.run(1, f"{HELPER} -i")
            self.assertEqual((result.code, result.stdout), (1, ""))
            self.assertIn("this node: No such device", result.stderr)
        finally:
            self.succeed(self.cluster.run(1, "modprobe aries"))
        self.shows(1)

    def test_names(self):
        """Without a network, too; a node knows its own name."""
        text = self.succeed(self.cluster.run(2, "cat /etc/hosts")).stdout
        self.assertEqual(text.splitlines(), ["127.0.0.1 localhost", "127.0.1.1 node2", *(f"10.128.0.{n + 1} hsn{n} nid0000{n}" for n in range(self.NODES))])
        self.assertEqual(self.succeed(self.cluster.run(2, "hostname -i")).stdout.split(), ["127.0.1.1"])

    def test_class_of_the_nics(self):
        """What forwarding tools read of a node."""
        def read(name):
            return self.succeed(self.cluster.run(0, f"cat /sys/class/gni/{name}")).stdout

        version, build, number = read("version").splitlines()
        self.assertEqual((version, build), (read("kgni0/version").strip(), read("kgni0/build").strip()))
        self.assertRegex(version, "^0x[0-9a-f]{8}$")
        self.assertEqual(int(number), ABI_VERSION)
        self.assertEqual(read("nic_type"), "0\n")

    def test_version_of_the_kernel(self):
        """What port-a-client.md tells an administrator to do for a transport that looks for a Cray's kernel."""
        command = re.search(r"`(sed [^`]*/proc/version)`", (host.TOP / "Documentation/port-a-client.md").read_text(encoding="utf-8"))[1]
        self.assertNotIn("cray", self.cluster.run(3, "cat /proc/version").stdout)
        self.succeed(self.cluster.run(3, command))
        try:
            self.assertRegex(self.cluster.run(3, "cat /proc/version").stdout, "^Linux cray_ari version 6")
        finally:
            self.succeed(self.cluster.run(3, "umount /proc/version && rm /run/version"))

    def test_helper(self):
        for node, place in enumerate(self.PLACES):
            self.assertEqual(self.succeed(self.cluster.run(node, f"{HELPER} -i")).stdout, f"{node}\n")
            self.assertEqual(self.succeed(self.cluster.run(0, f"{HELPER} -C {node}")).stdout, f"{place}\n")
        for words, code, complaint in (("", 2, "either -i or -C"), ("-i -C 1", 2, "either -i or -C"), ("-C x", 2, "coordinates"),
                                       ("-C 5", 1, "node 5: No such file or directory"), ("-C 70000", 2, "coordinates")):
            with self.subTest(words):
                result = self.cluster.run(0, f"{HELPER} {words}")
                self.assertEqual((result.code, result.stdout), (code, ""))
                self.assertIn(complaint, result.stderr)
