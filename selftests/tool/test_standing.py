# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters that go from one class of tests to the next, without a cluster: when they are handed on, and when they are not."""

import unittest
from types import SimpleNamespace

from gnitest import standing, testing
from opengni.config import ClusterConfig

LOOK = "aries\n/proc\n/proc/1/cmdline:init\0\nNIC, processors up 0 0 0-1\n"


class Fake:
    """In a cluster's place: nodes that say what they look like."""

    made: list["Fake"] = []

    def __init__(self, config):
        self.config = config
        self.looks = {node: LOOK for node in range(config.nodes)}
        self.state = "made"
        self.dead = set()
        Fake.made.append(self)

    def up(self):
        self.state = "up"

    def down(self):
        self.state = "down"

    def running(self, node):
        return node not in self.dead

    def run(self, node, _command, **_options):
        return SimpleNamespace(code=0, stdout=self.looks[node], stderr="")


class Handing(unittest.TestCase):
    def setUp(self):
        Fake.made = []
        self.standing = standing.Standing()
        self.standing.sharing = True

    def take(self, **options):
        config = ClusterConfig(nodes=2, mem_mib=768)
        for name, value in options.items():
            setattr(config, name, value)
        return self.standing.take(Fake, config, "Somebody")

    def states(self):
        return [cluster.state for cluster in Fake.made]

    def test_the_next_class_of_that_shape_takes_it(self):
        first = self.take()
        self.standing.give_back(first)
        self.assertIs(self.take(), first)
        self.standing.give_back(first)
        self.assertEqual(self.states(), ["up"])
        self.standing.end()
        self.assertEqual(self.states(), ["down"])

    def test_another_shape_has_another_one(self):
        for name, value in (("nodes", 3), ("mem_mib", 512), ("append", "quiet"), ("nic", {"doorbell": "polled"})):
            with self.subTest(name):
                self.standing.give_back(self.take())
                other = self.take(**{name: value})
                self.assertEqual(self.states()[-2:], ["down", "up"])
                self.standing.give_back(other)

    def ended(self, spoil, reason):
        """A class that does this to its cluster leaves none to the next."""
        first = self.take()
        spoil(first)
        self.standing.give_back(first)
        self.assertEqual(first.state, "down")
        self.assertRegex(self.standing.story[-1], reason)
        self.assertIsNot(self.take(), first)

    def test_what_a_class_says_that_it_leaves(self):
        self.ended(lambda _: self.standing.spoil("broken tables"), "^it ends: broken tables$")

    def test_a_module_that_stays(self):
        self.ended(lambda cluster: cluster.looks.update({1: "kgni\n" + LOOK}), "node 1 has kgni$")

    def test_a_process_that_stays(self):
        self.ended(lambda cluster: cluster.looks.update({0: LOOK + "/proc/77/cmdline:sleep\0" + "60\0\n"}), "node 0 has process sleep 60 $")

    def test_something_that_is_gone(self):
        self.ended(lambda cluster: cluster.looks.update({0: LOOK.replace("/proc\n", "", 1)}), "node 0 has no more: /proc$")

    def test_a_processor_that_is_off(self):
        self.ended(lambda cluster: cluster.looks.update({0: LOOK.replace("0-1", "0")}), "NIC, processors up 0 0 0;")

    def test_a_node_that_is_down(self):
        self.ended(lambda cluster: cluster.dead.add(1), "node 1 is down$")

    def test_numbers_of_processes_and_who_looks_do_not_matter(self):
        first = self.take()
        first.looks[0] = LOOK.replace("/proc/1/", "/proc/9/") + "/proc/80/cmdline:/bin/sh\0-c\0rm -rf /tmp/*\n/proc/81/cmdline:grep\0-a\0.\0\n"
        self.standing.give_back(first)
        self.assertIs(self.take(), first)

    def test_a_failure_after_the_class_has_given_it_back(self):
        first = self.take()
        self.standing.give_back(first)
        self.standing.spoil("a test has failed")
        self.assertIsNot(self.take(), first)
        self.assertEqual(first.state, "down")

    def test_a_node_that_does_not_answer_is_told_and_ends(self):
        first = self.take()
        first.looks.clear()
        with self.assertRaises(KeyError):
            self.standing.give_back(first)
        self.assertEqual(first.state, "down")

    def test_nothing_stands_where_nobody_ends_it(self):
        """As with python3 -m unittest."""
        self.standing.sharing = False
        first = self.take()
        self.standing.give_back(first)
        self.assertEqual(first.state, "down")


class Classes(unittest.TestCase):
    def test_a_class_has_nodes_and_configuration_of_its_shape(self):
        class Case(testing.ClusterCase):
            """Never run."""
            SHARES = "four"
        self.assertEqual((Case.NODES, Case.CONFIG), standing.SHAPES["four"])

    def test_a_shape_that_there_is_not(self):
        with self.assertRaises(KeyError):
            type("Case", (testing.ClusterCase,), {"SHARES": "twelve"})
