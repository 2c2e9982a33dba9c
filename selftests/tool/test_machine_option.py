# SPDX-License-Identifier: GPL-2.0-or-later
"""Places on machines: policies, lists, and machines that the device cannot be."""

import tempfile
import unittest
from pathlib import Path

from opengni import host, qemu
from opengni.config import ClusterConfig
from opengni.errors import ConfigError
from opengni.machine import Machine

TOPO = host.BUILD / "model" / "topo" / "aries-topo"
MACHINE = Machine(4 * 32, 4, 2)  # four groups of two chassis of four routers


class Places(unittest.TestCase):
    def test_numbers_and_places(self):
        for place in range(MACHINE.nodes):
            self.assertEqual(MACHINE.at(*MACHINE.where(place)), place)
        self.assertEqual(MACHINE.name(127), "group 3 chassis 1 slot 3 nic 3")
        self.assertEqual((MACHINE.groups, Machine(2).groups, Machine(92544).groups), (4, 1, 241))

    def test_policies(self):
        for policy, places in (("packed", [0, 1, 2, 3]), ("chassis", [0, 16, 32, 48]), ("group", [0, 32, 64, 96]), ("5,1-3", [5, 1, 2, 3])):
            self.assertEqual(MACHINE.places(policy, 4), places)
        self.assertEqual(MACHINE.places("random:7", 9), MACHINE.places("random:7", 9))
        self.assertNotEqual(MACHINE.places("random:7", 9), MACHINE.places("random:8", 9))

    def test_every_place_once(self):
        for machine in (MACHINE, Machine(5), Machine(100, 4, 2), Machine(384), Machine(12, 2, 2)):
            for policy in ("packed", "spread", "random:1"):
                self.assertEqual(sorted(machine.places(policy, machine.nodes)), list(range(machine.nodes)), policy)

    def test_far_apart(self):
        where = [MACHINE.where(place) for place in MACHINE.places("spread", 8)]
        self.assertEqual(sorted(group for group, *_ in where[:4]), [0, 1, 2, 3])
        for group in range(4):
            first, second = [place for place in where if place[0] == group]
            self.assertNotEqual(first[1], second[1], "another chassis")
            self.assertNotEqual(first[2], second[2], "and another slot: two hops")

    def test_refusals(self):
        for policy, count, words in (("group", 5, "4 groups"), ("chassis", 9, "8 chassis"), ("packed", 129, "no room"), ("0,1", 3, "2 places for 3"),
                                     ("0,0", 2, "twice"), ("0,128", 2, "0 to 127"), ("3-1", 3, "above"), ("near", 2, "packed, spread"),
                                     ("random:x", 2, "random:SEED"), ("", 1, "packed, spread")):
            with self.subTest(policy=policy), self.assertRaisesRegex(ConfigError, words) as caught:
                MACHINE.places(policy, count)
            self.assertNotIn("\n", str(caught.exception))


class Config(unittest.TestCase):
    def test_without_a_machine(self):
        self.assertEqual(ClusterConfig(nodes=3).places, [0, 1, 2])
        with self.assertRaisesRegex(ConfigError, "--machine"):
            _ = ClusterConfig(place="group").places
        with self.assertRaisesRegex(ConfigError, "either --machine or --shape"):
            _ = ClusterConfig(machine="aries:groups=2", shape=(4, 2)).layout

    @unittest.skipUnless(TOPO.exists(), "aries-topo is not built")
    def test_properties(self):
        config = ClusterConfig(nodes=2, machine="aries:groups=3,chassis=2,slots=4", place="group")
        self.assertEqual(config.layout, Machine(96, 4, 2))
        text = qemu.printable(qemu._nic(config, 1))  # pylint: disable=protected-access
        for word in ("machine-nodes=96", "routers-per-chassis=4", "chassis-per-group=2", "place=32", "node=1"):
            self.assertIn(word, text)

    @unittest.skipUnless(TOPO.exists(), "aries-topo is not built")
    def test_machines_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.yaml"
            for text, words in (("builder: torus\nx: 2\ny: 2\nz: 2\n", "family 'torus'; the device has 'aries'"),
                                ("builder: aries\ngroups: 6\ncables_per_pair: 12\n", "links between groups 0 and 1: 48; the device has 192"),
                                ("builder: aries\ncooling: air\ngroups: 2\n", "blue with 14.0 Gbit/s"),
                                ("builder: aries\ngroups: 2\nlast_group_chassis: 3\n", "routers for 576 nodes: 144"),
                                ("builder: frog\n", "m.yaml:1"), ("", "m.yaml")):
                path.write_text(text, encoding="ascii")
                with self.subTest(text=text), self.assertRaisesRegex(ConfigError, words) as caught:
                    Machine.load(str(path))
                self.assertNotIn("\n", str(caught.exception))
            path.write_text("builder: aries\ngroups: 241\n", encoding="ascii")
            self.assertEqual(Machine.load(str(path)), Machine(92544))
