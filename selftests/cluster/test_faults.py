# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that die and come back, links that are cut."""

import time
import unittest

from opengni.testing import ClusterCase, wait_until

# The lease is 0.5 s; to that come the checks of the peers and the load of the machine.
BOUND = 20.0

QUICK = ["gni-perf", "--tests=fma-put,bte-put,amo", "--max-size=64K", "--iterations=10"]
ENDLESS = ["gni-perf", "--tests=bte-put", "--sizes=1M", "--iterations=100000", "--size-time=300", "--timeout=15"]


class Faults(ClusterCase):
    def counter(self, node, name):
        """A statistic of a node's NIC."""
        return int(self.cluster.run(node, f"cat /sys/class/gni/kgni0/stats/{name}").stdout)

    def start_endless(self):
        """A job that puts until something stops it; returns once it moves data."""
        before = self.counter(0, "bte_puts")
        job = self.cluster.start_job(ENDLESS, grace=None)
        self.assertTrue(wait_until(lambda: self.counter(0, "bte_puts") > before + 10, 60), "the job does not start")
        return job

    def test_killed_node_is_an_error_at_its_peer_and_comes_back(self):
        job = self.start_endless()
        start = time.monotonic()
        self.cluster.kill(1)
        results = job.wait(60)
        self.assertLess(time.monotonic() - start, BOUND)
        self.assertEqual(results[0].code, 1, results[0])
        self.assertIn("node 1", results[1].error)
        self.assertRegex(results[0].stderr, "TRANSACTION_ERROR|timeout|TIMEOUT")

        # The survivor is in order, alone and with its peer back under the same address.
        self.succeed(self.cluster.run_job(QUICK, nodes=[0], per_node=2))
        self.cluster.start(1)
        self.succeed(self.cluster.run_job(QUICK))

    def test_node_that_is_stopped_in_order_comes_back(self):
        self.cluster.stop(1)
        self.succeed(self.cluster.run_job(QUICK, nodes=[0], per_node=2))
        self.cluster.start(1)
        self.succeed(self.cluster.run_job(QUICK))

    def test_kill_again_and_again(self):
        for _ in range(2):
            self.cluster.kill(0)
            self.cluster.start(0)
            self.succeed(self.cluster.run_job(QUICK))

    def test_link_cut_and_restored(self):
        self.cluster.set_nic(1, "link", 0)
        try:
            results = self.cluster.run_job([*QUICK, "--timeout=10"], timeout=120)
            self.assertNotEqual(results[0].code, 0)
        finally:
            self.cluster.set_nic(1, "link", 1)
        self.succeed(self.cluster.run_job(QUICK))

    def test_lost_packets_are_errors_not_wrong_data(self):
        self.cluster.set_nic(0, "drop", 3)
        results = self.cluster.run_job([*QUICK, "--timeout=10"], timeout=120)
        self.assertNotEqual(results[0].code, 0)
        self.cluster.set_nic(0, "drop", 0)
        self.succeed(self.cluster.run_job(QUICK))

    def test_guest_that_reboots_its_driver(self):
        self.succeed(self.cluster.run(0, "rmmod aries && ! [ -e /dev/kgni0 ] && modprobe aries && [ -e /dev/kgni0 ]"))
        self.succeed(self.cluster.run_job(QUICK))


if __name__ == "__main__":
    unittest.main()
