# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes at places of a machine: green, black and blue links, ways that are not minimal, links that are cut."""

import json
import re
import unittest
from pathlib import Path

from gnitest.testing import ClusterCase, slow_tests
from opengni.machine import Machine

TILES = 64  # numbers that a router has for its tiles, in that of a link
GREEN = 0  # tile of router 0 to the next slot (T08)
FIRST_BLACK = 15
HOP_NS = 100  # L05


class PlacesCase(ClusterCase):
    """What tests of machines have in common."""

    def counters(self, node=0):
        """The NIC's statistics."""
        text = self.cluster.run(node, "cd /sys/class/gni/kgni0/stats && grep . *").stdout
        return {name: int(value) for name, value in re.findall(r"^(\w+):(\d+)$", text, re.M)}

    def perf(self, peer, *arguments, check=True, node=0):
        """gni-perf of a node with another, which compares every byte: rows by test and size, and what the node's counters grew by."""
        before = self.counters(node)
        results = self.cluster.run_job(["gni-perf", "--json=-", *arguments], nodes=[node, peer], timeout=300)
        if check:
            self.succeed(results)
        after = self.counters(node)
        return json.loads(results[0].stdout), {name: after[name] - before[name] for name in after}

    def short(self, peer, delivery, tests="fma-put,bte-put"):
        """The growth of the counters in a short run that keeps to a mode."""
        return self.perf(peer, f"--tests={tests}", "--sizes=8,4K,64K", "--iterations=20", f"--delivery={delivery}")[1]

    def set_link(self, link, up):
        """A link between routers, for all nodes."""
        self.cluster.set_fabric("mend-link" if up else "cut-link", link)

    def describe(self, node):
        return self.cluster.get_nic(node, "describe")


class Places(PlacesCase):
    """Three groups of two chassis of four routers."""

    SHARES = "machine"
    MACHINE = Machine(96, 4, 2)
    NEIGHBOUR, GREEN_PEER, BLACK_PEER, BLUE_PEER = 1, 2, 3, 4

    def test_each_colour(self):
        for peer, least, most in ((self.NEIGHBOUR, 0, 0), (self.GREEN_PEER, 1, 1), (self.BLACK_PEER, 1, 1), (self.BLUE_PEER, 1, 5)):
            with self.subTest(peer=peer):
                grown = self.short(peer, "min-hash")
                self.assertGreater(grown["req_packets"], 1000)
                self.assertGreaterEqual(grown["hops"], least * grown["req_packets"])
                self.assertLessEqual(grown["hops"], most * grown["req_packets"])
                self.assertEqual(grown["nonminimal"], 0)

    def test_ways_through_a_root(self):
        for peer in (self.GREEN_PEER, self.BLACK_PEER, self.BLUE_PEER):
            with self.subTest(peer=peer):
                grown = self.short(peer, "nmin-hash")
                # All but what ranks tell each other, which goes in order.
                self.assertGreater(grown["nonminimal"], 0.9 * grown["req_packets"])
                self.assertGreater(grown["hops"], 2 * grown["nonminimal"])

    def test_all_tests_at_a_distance(self):
        """Gets, atomics, messages and events, adaptively."""
        grown = self.perf(self.BLUE_PEER, "--tests=fma-get,bte-get,amo,events,smsg,msgq", "--max-size=64K", "--iterations=10")[1]
        self.assertGreater(grown["hops"], 0)
        self.assertEqual(grown["timeouts"], 0)

    def test_each_hop_takes_its_time(self):
        def latency(peer, test):
            rows = self.perf(peer, f"--tests={test}", "--sizes=8", "--iterations=50", "--delivery=min-hash")[0]["results"]
            return next(row["modelled_ns"] for row in rows if row.get("size") == 8)

        for test, times in (("fma-put", 1), ("fma-get", 2)):
            near = latency(self.NEIGHBOUR, test)
            for peer in (self.GREEN_PEER, self.BLACK_PEER):
                with self.subTest(test=test, peer=peer):
                    self.assertAlmostEqual(latency(peer, test) - near, times * HOP_NS, delta=25)

    def test_cut_link_and_the_way_round(self):
        link = GREEN
        self.addCleanup(self.set_link, link, True)
        self.set_link(link, False)
        for node in (0, self.GREEN_PEER):
            self.assertRegex(self.describe(node), r"green to router [01] .*: down")
        grown = self.short(self.GREEN_PEER, "min-hash")
        self.assertGreaterEqual(grown["hops"], 2 * grown["req_packets"])
        self.assertEqual(grown["nonminimal"], grown["req_packets"])
        self.set_link(link, True)
        self.assertNotIn("down", self.describe(self.GREEN_PEER))
        grown = self.short(self.GREEN_PEER, "min-hash")
        self.assertEqual((grown["hops"], grown["nonminimal"]), (grown["req_packets"], 0))

    def test_link_that_is_cut_under_traffic(self):
        """All three black links of the way go, one after the other, and come back; no byte is wrong and nothing is lost."""
        links = [FIRST_BLACK + i for i in range(3)]
        for link in links:
            self.addCleanup(self.set_link, link, True)
        start = self.counters()
        job = self.cluster.start_job(["gni-perf", "--tests=bte-put", "--sizes=64K", "--iterations=1000000", "--size-time=20",
                                      "--delivery=min-hash"], nodes=[0, self.BLACK_PEER])
        self.wait_for(lambda: self.counters()["bte_puts"] > start["bte_puts"] + 10, "the job does not start", 60)
        self.assertEqual(self.counters()["nonminimal"], start["nonminimal"])
        for link in links:
            self.set_link(link, False)
        self.wait_for(lambda: self.counters()["nonminimal"] > start["nonminimal"] + 1000, "nothing goes round", 30)
        for link in links:
            self.set_link(link, True)
        self.succeed(job.wait(180))
        self.assertEqual(self.counters()["timeouts"], start["timeouts"])

    def test_router_without_its_own_cables(self):
        """To another group by the cables of other routers."""
        grown = self.short(self.BLUE_PEER, "min-hash")
        self.assertEqual(grown["hops"], grown["req_packets"])
        ports = [int(tile) for tile in re.findall(r"tile (\d+) blue to", self.describe(0))]
        self.assertEqual(len(ports), 10)
        for port in ports:
            self.addCleanup(self.set_link, port, True)
            self.set_link(port, False)
        grown = self.short(self.BLUE_PEER, "min-hash")
        self.assertGreaterEqual(grown["hops"], 2 * grown["req_packets"])
        self.assertEqual(grown["timeouts"], 0)

    def test_node_that_comes_back_elsewhere(self):
        node, places = self.GREEN_PEER, self.cluster.config.places
        old, new = places[node], self.MACHINE.at(0, 0, 3, 3)
        self.assertGreater(self.short(node, "min-hash")["hops"], 0)
        try:
            self.cluster.stop(node)
            places[node] = self.MACHINE.at(0, 0, 0, 3)
            self.cluster.start(node)
            self.assertIn(f"node {node}: place {places[node]}, NIC 3 of router 0", self.describe(node))
            self.assertEqual(self.short(node, "min-hash")["hops"], 0)
            self.cluster.kill(node)
            places[node] = new
            self.cluster.start(node)
            grown = self.short(node, "min-hash")
            self.assertEqual(grown["hops"], grown["req_packets"])
        finally:
            self.cluster.stop(node)
            places[node] = old
            self.cluster.start(node)


@unittest.skipUnless(slow_tests(), "boots nodes of its own for what the model's test_places shows by default: in check-all")
class Largest(PlacesCase):
    """The largest machine, 241 groups, with nodes in three of them."""

    NODES = 3
    CONFIG = {"mem_mib": 256, "smp": 1, "machine": "aries:groups=241", "place": "0,46000,92543"}

    def test_traffic_and_its_cost(self):
        segment = Path("/dev/shm") / f"aries-{self.cluster.config.fabric}"
        self.assertIn("23136 routers, 241 groups", self.describe(0))
        for peer in (1, 2):
            grown = self.short(peer, "min-hash")
            self.assertGreaterEqual(grown["hops"], grown["req_packets"])
            self.assertEqual(grown["nonminimal"], 0)
        use = segment.stat()
        self.assertGreater(use.st_size, 90 << 20)
        self.assertLess(use.st_blocks * 512, 4 << 20)
        grown = self.short(2, "nmin-hash", "fma-put")
        self.assertGreater(grown["nonminimal"], 0)
