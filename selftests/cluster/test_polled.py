# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs on NICs that take doorbells out of memory (doorbell=polled)."""

import re

from gnitest import tap
from gnitest.testing import ClusterCase, hosts_wanted

# Tests of the driver that ring in many ways, or end what has rung; they do so by libugni, which polls, and by themselves, which traps.
SAME_AS_EVER = ("fma", "cq", "ring", "window", "share", "suspend", "cleanup", "misuse", "gone", "reset", "hotplug")
# Not these: one wants to see a trap where there is none; the other is about transfers that trap, and about a host that is in time.
OTHERS = {"fma.one_trap_for_a_put_up_to_64_bytes", "hotplug.function_removed_while_a_job_is_suspended"}
# Beside this one if the other node is on another host: it asks a doorbell's status for an error that only that node sees.
ELSEWHERE = {"window.scatter"} if hosts_wanted() > 1 else set()


class Polled(ClusterCase):
    CONFIG = {"mem_mib": 768, "nic": {"doorbell": "polled"}}

    def stats(self, node):
        text = self.cluster.run(node, "cd /sys/class/gni/kgni0/stats && grep . fma_*").stdout
        return {name: int(value) for name, value in re.findall(r"^(\w+):(\d+)$", text, re.M)}

    def grown(self, node, before):
        after = self.stats(node)
        return {name: after[name] - value for name, value in before.items()}

    def test_property(self):
        self.assertEqual([self.cluster.get_nic(node, "doorbell") for node in (0, 1)], ["polled", "polled"])

    def test_doorbells_in_memory(self):
        """What the driver owes them, and that puts need no exits."""
        result = self.succeed(self.cluster.run(0, "cd /kselftest/aries && exec ./polled", timeout=600))
        self.assertEqual([case.status for case in tap.parse(result.stdout)], [tap.PASS] * 6, result.stdout)

    def test_tests_of_the_driver(self):
        """They find no difference."""
        for name in SAME_AS_EVER:
            with self.subTest(program=name):
                result = self.cluster.run(0, f"cd /kselftest/aries && exec ./{name}", timeout=900)
                cases = tap.parse(result.stdout)
                bad = {case.name for case in cases if case.status == tap.FAIL} - OTHERS - ELSEWHERE
                self.assertFalse(bad, f"{result.stdout[-3000:]}\n{result.stderr[-2000:]}")
                self.assertGreater(len(cases), 1, result.stdout)

    def test_all_kinds_of_traffic_are_right(self):
        """Every byte that gni-perf compares, between two nodes."""
        before = [self.stats(node) for node in (0, 1)]
        results = self.cluster.run_job(["gni-perf", "--max-size=64K", "--iterations=20",
                                        "--tests=fma-put,fma-get,bte-put,bte-get,amo,contention,events,pingpong,smsg,msgq"], timeout=600)
        self.succeed(results)
        for node in (0, 1):
            grown = self.grown(node, before[node])
            with self.subTest(node=node, grown=grown):
                # Whoever answers seldom, as from another host, may find the poller asleep each time.
                self.assertGreater(grown["fma_polled"] + grown["fma_wakes"], 0)
                self.assertLessEqual(grown["fma_wakes"], grown["fma_traps"])
