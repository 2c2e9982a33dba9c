# SPDX-License-Identifier: GPL-2.0-or-later
"""Data between nodes: the job with every byte verified, and what must be refused."""

import json

from gnitest import tap
from gnitest.testing import ClusterCase, slow_tests


class Data(ClusterCase):
    SHARES = "pair"

    def perf(self, *options, **job):
        """A run of gni-perf; rank 0's report."""
        results = self.cluster.run_job(["gni-perf", "--json=-", *options], timeout=300, **job)
        self.succeed(results)
        report = json.loads(results[0].stdout)
        self.assertEqual(report.get("failures", []), [])
        return report

    def test_every_operation_small(self):
        report = self.perf("--max-size=256K", "--iterations=50", "--size-time=2")
        tests = {row["test"] for row in report["results"]}
        self.assertLessEqual({"fma-put", "fma-get", "bte-put", "bte-get", "amo", "align", "events"}, tests)

    def test_large_blocks(self):
        self.perf("--tests=bte-put,bte-get", "--sizes=1M,16M,64M", "--iterations=3")

    def test_ranks_of_one_node(self):
        self.perf("--tests=fma-put,bte-put,amo", "--max-size=64K", "--iterations=20", nodes=[0], per_node=2)

    def test_two_pairs_at_once(self):
        self.perf("--tests=fma-put,fma-get,bte-put,contention", "--max-size=64K", "--iterations=20", per_node=2)

    def test_one_trap_for_a_put_up_to_64_bytes(self):
        report = self.perf("--tests=fma-put", "--sizes=1,8,64", "--iterations=100")
        self.assertEqual([row["traps_per_transfer"] for row in report["results"]], [1.0] * 3)

    def test_nothing_is_left_behind(self):
        def used(node):
            return self.cluster.run(node, "cd /sys/class/gni/kgni0/resources && cat *_used pinned_pages").stdout
        before = [used(node) for node in range(self.NODES)]
        self.perf("--tests=fma-put,bte-put", "--max-size=64K", "--iterations=5")
        self.assertEqual([used(node) for node in range(self.NODES)], before)

    def test_collectives_of_two_nodes(self):
        row = self.perf("--tests=barrier", "--iterations=50")["results"][0]
        self.assertEqual((row["size"], row["traps_per_transfer"], row["irqs_per_transfer"]), (2, 2.0, 0.0))

    def test_collectives_of_several_ranks_a_node(self):
        row = self.perf("--tests=barrier", "--iterations=20", per_node=2)["results"][0]
        self.assertEqual((row["size"], row["irqs_per_transfer"]), (4, 0.0))

    def test_atomics_of_all_ranks(self):
        row = self.perf("--tests=storm", "--iterations=20000", per_node=2)["results"][0]
        self.assertEqual(row["transfers"], 80000)

    def test_isolation(self):
        results = self.cluster.run_job(["gni-isolation"], timeout=180)
        cases = tap.parse(results[0].stdout)
        for case in cases:
            with self.subTest(case.name):
                self.assertNotEqual(case.status, tap.FAIL, case.detail)
        self.succeed(results)
        self.assertGreater(len(cases), 5)

    def test_info_by_register_name(self):
        for arguments in ([], ["--json"]):
            self.succeed(self.cluster.run(0, ["aries-info", *arguments]))


if slow_tests():

    class EightNodes(ClusterCase):
        """Every node sends to another one, all at once."""

        NODES = 8
        CONFIG = {"mem_mib": 384, "smp": 1, "boot_timeout": 180.0}

        def test_barrier(self):
            """A sum, a minimum with index and barriers; the promise is less than three traps a node."""
            results = self.cluster.run_job(["gni-perf", "--json=-", "--tests=barrier", "--iterations=50"], timeout=600)
            self.succeed(results)
            row = json.loads(results[0].stdout)["results"][0]
            self.assertEqual(row["size"], self.NODES)
            self.assertLess(row["traps_per_transfer"], 3 * self.NODES)
            self.assertEqual(row["irqs_per_transfer"], 0)

        def test_all_pairs(self):
            self.succeed(self.cluster.run_job(["gni-perf", "--max-size=64K", "--iterations=10", "--size-time=2"], timeout=600))

    class FourNodes(ClusterCase):
        """A million additions on one word of node 0, by one rank of each node."""

        NODES = 4
        CONFIG = {"mem_mib": 384, "smp": 1, "boot_timeout": 180.0}

        def storm(self):
            results = self.cluster.run_job(["gni-perf", "--json=-", "--tests=storm", "--iterations=250000"], timeout=600)
            self.succeed(results)
            self.assertEqual(json.loads(results[0].stdout)["results"][0]["transfers"], 1000000)

        def test_no_update_is_lost(self):
            self.storm()

        def test_no_lazy_update_is_lost(self):
            self.succeed(self.cluster.run(0, "rmmod aries && modprobe aries amo_lazy=1"))
            self.storm()
            updates = self.cluster.run(0, "cat /sys/class/gni/kgni0/stats/amo_cache_updates").stdout
            self.assertGreater(int(updates), 0)
