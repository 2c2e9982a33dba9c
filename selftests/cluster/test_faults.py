# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that die and come back, links that are cut."""

from gnitest.testing import ClusterCase, clock

# Seconds until a dead peer is an error event. The lease is 0.5 s; the rest is for a busy machine.
BOUND = 10.0

QUICK = ["gni-perf", "--tests=fma-put,bte-put,amo", "--max-size=64K", "--iterations=10"]
ENDLESS = ["gni-perf", "--tests=bte-put", "--sizes=1M", "--iterations=100000", "--size-time=300", "--timeout=5"]


class Faults(ClusterCase):
    SHARES = "pair"

    def counter(self, node, name):
        """A statistic of a node's NIC."""
        return int(self.cluster.run(node, f"cat /sys/class/gni/kgni0/stats/{name}").stdout)

    def setUp(self):
        """All nodes up and whole, whatever the test before has left."""
        self.start_nodes()
        for node in range(self.NODES):
            for name, value in (("link", 1), ("drop", 0), ("corrupt", 0)):
                self.cluster.set_nic(node, name, value)

    def start_endless(self, on_output):
        """A job that puts until something stops it; returns once it moves data."""
        before = self.counter(0, "bte_puts")
        job = self.cluster.start_job(ENDLESS, grace=None, on_output=on_output)
        self.wait_for(lambda: self.counter(0, "bte_puts") > before + 10, "the job does not start", 60)
        return job

    def test_killed_node_is_an_error_at_its_peer_and_comes_back(self):
        text, noticed = bytearray(), []

        def output(rank, _stream, data):
            if rank == 0:
                text.extend(data)
                if b"TRANSACTION_ERROR" in text and not noticed:
                    noticed.append(clock().now())

        job = self.start_endless(output)
        killed = clock().now()
        self.cluster.kill(1)
        results = job.wait(60)
        self.assertEqual(results[0].code, 1, text)
        self.assertIn("node 1", results[1].error)
        self.assertTrue(noticed, f"no error event: {text}")
        self.assertLess(noticed[0] - killed, BOUND)

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
        results = self.cluster.run_job([*QUICK, "--timeout=5"], timeout=120)
        self.assertNotEqual(results[0].code, 0)
        self.cluster.set_nic(1, "link", 1)
        self.succeed(self.cluster.run_job(QUICK))

    def test_lost_packets_are_errors_not_wrong_data(self):
        self.cluster.set_nic(0, "drop", 3)
        results = self.cluster.run_job([*QUICK, "--timeout=5"], timeout=120)
        self.assertNotEqual(results[0].code, 0)
        self.cluster.set_nic(0, "drop", 0)
        self.succeed(self.cluster.run_job(QUICK))

    def test_pci_error_after_a_reset(self):
        """The configuration that the error's recovery restores was restored once already, after the reset."""
        def resets():
            return int(self.cluster.run(0, "sed -n 's/^resets //p' /sys/kernel/debug/aries/kgni0/objects").stdout)

        before = resets()
        self.succeed(self.cluster.run(0, "echo 1 >/sys/class/gni/kgni0/device/reset"))
        self.cluster.qmp(0, "human-monitor-command", {"command-line": "pcie_aer_inject_error nic0 MALF_TLP"})
        self.wait_for(lambda: resets() == before + 2, self.kernel_log, 60)
        self.succeed(self.cluster.run_job(QUICK))

    def test_guest_that_reboots_its_driver(self):
        self.succeed(self.cluster.run(0, "rmmod aries && ! [ -e /dev/kgni0 ] && modprobe aries && [ -e /dev/kgni0 ]"))
        self.succeed(self.cluster.run_job(QUICK))
