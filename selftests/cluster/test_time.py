# SPDX-License-Identifier: GPL-2.0-or-later
"""Modelled time that programs in guests feel: a rate, completions that are held, what others do on the network."""

import json
import statistics
import tempfile
import time

from gnitest.testing import ClusterCase, wait_until
from opengni.errors import NodeError

RATE = 0.0005  # a modelled microsecond takes two milliseconds: what a busy host adds is little beside it
NEAR_NS, HOP_NS = 796, 100  # L01, L05


class Time(ClusterCase):
    """A node, its neighbour at the same router, and one in another group."""

    SHARES = "machine"
    NEIGHBOUR, FAR = 1, 4

    def setUp(self):
        super().setUp()
        self.set_time(RATE, True)
        self.addCleanup(self.set_time, 1, False)

    def set_time(self, rate, hold):
        """For the whole fabric; at most once a test, so the order does not matter."""
        self.cluster.set_fabric("hold-completions", hold)
        self.cluster.set_fabric("time-rate", rate)
        # Several hosts tell each other what was changed, and may undo it for the moment until all have heard of it.
        for _ in range(2):
            self.assertTrue(wait_until(lambda: all(self.time_of(node) == (hold, rate) for node in range(self.NODES))), (hold, rate))
            time.sleep(0.1)

    def time_of(self, node):
        """Whether completions are held at a node, and at which rate time goes there."""
        return self.cluster.get_nic(node, "hold-completions"), round(self.cluster.get_nic(node, "time-rate"), 6)

    def row(self, peer, test, size, *arguments):
        """gni-perf's row, by the clock of the guest."""
        results = self.cluster.run_job(["gni-perf", "--json=-", f"--tests={test}", f"--sizes={size}", *arguments],
                                       nodes=[0, peer], timeout=600)
        self.succeed(results)
        rows = json.loads(results[0].stdout)["results"]
        return next(row for row in rows if row.get("size") == size)

    def felt_ns(self, peer):
        """What 8-byte puts have taken at least, as a program in the guest sees it, in modelled time."""
        return self.row(peer, "fma-put", 8, "--iterations=20")["min_ns"] * RATE

    def test_latency_is_felt(self):
        """No operation is quicker than the machine, and distance shows."""
        near, far = self.felt_ns(self.NEIGHBOUR), self.felt_ns(self.FAR)
        modelled = self.row(self.FAR, "fma-put", 8, "--iterations=5")["modelled_ns"]
        self.assertGreaterEqual(near, NEAR_NS)
        self.assertGreaterEqual(modelled, NEAR_NS + HOP_NS)
        self.assertGreaterEqual(far, modelled)
        self.assertGreater(far, near)

    def test_all_kinds_of_traffic_are_right(self):
        """Every byte that gni-perf compares, with completions held; by a rate that a slow host keeps up with."""
        self.cluster.set_fabric("time-rate", 0.05)
        results = self.cluster.run_job(["gni-perf", "--json=-", "--max-size=64K", "--iterations=4", "--size-time=1",
                                        "--tests=fma-put,fma-get,bte-put,bte-get,amo,contention,events,pingpong,smsg,msgq"],
                                       nodes=[0, self.FAR], timeout=600)
        self.succeed(results)

    def test_bandwidth_is_felt(self):
        """1 MiB needs what a NIC at 10.24 GB/s needs (L08), by the guest's clock."""
        row = self.row(self.FAR, "bte-put", 1 << 20, "--iterations=4")
        self.assertGreaterEqual(row["min_ns"] * RATE, (1 << 20) / 10.24)

    def test_others_are_felt(self):
        """With nine tenths of each link used by others a far put takes longer, and one at the same router does not care."""
        idle = statistics.median(self.felt_ns(self.FAR) for _ in range(3))
        for node in range(self.NODES):
            self.cluster.set_nic(node, "background", "uniform:0.97")
            self.addCleanup(self.cluster.set_nic, node, "background", "")
        busy = statistics.median(self.felt_ns(self.FAR) for _ in range(3))
        self.assertGreater(busy, idle)
        modelled = self.row(self.NEIGHBOUR, "fma-put", 8, "--iterations=5")["modelled_ns"]
        self.assertLess(modelled, NEAR_NS + HOP_NS)

    def test_wrong_values_are_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("# aries link loads 1\n# routers 7 tiles 48 links 1\n")
            file.flush()
            for name, value, text in (("time-rate", 0, "rate from 1e-06 to 1000"), ("time-rate", 1e9, "rate from"),
                                      ("background", "uniform:2", "a share from 0 to 1"),
                                      ("background", "/nowhere", "/nowhere cannot be read"),
                                      ("background", file.name, "a machine with 7 routers, this one has 24")):
                with self.subTest(name=name, value=value), self.assertRaisesRegex(NodeError, text):
                    self.cluster.set_nic(0, name, value)
        self.assertAlmostEqual(self.cluster.get_nic(1, "time-rate"), RATE, 6)
        self.assertEqual(self.cluster.get_nic(1, "hold-completions"), True)
        self.assertEqual(self.cluster.get_nic(0, "background"), "")
