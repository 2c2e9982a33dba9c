# SPDX-License-Identifier: GPL-2.0-or-later
"""One cluster over two hosts (namespaces of this machine, each with its own network, /dev/shm and process numbers): cluster up --hosts."""

import contextlib
import json
import os
import signal
import subprocess
import time
import unittest

from hosts_cluster import BOUND, Hosts
from gnitest.testing import SyncCluster, kernel_complaints, slow_tests, wait_until
from opengni import host
from opengni.errors import ClusterError

NODES_UP = "cat /sys/class/gni/kgni0/nodes_up"


class FourNodes(Hosts):
    """Nodes 0 and 1 on one host, 2 and 3 on the other."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = SyncCluster(cls.config("0-1", "2-3", machine="aries:groups=2", place="2,400,0,700",
                                             gateway=["--timeout", "8"]))
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up()
        cls.cluster.serve()

    @classmethod
    def tearDownClass(cls):
        complaints = [line for node in range(4) if cls.cluster.running(node) for line in kernel_complaints(cls.cluster.run(node, "dmesg").stdout)]
        super().tearDownClass()
        if complaints:
            raise AssertionError("a guest's kernel complained: " + "; ".join(complaints[:5]))

    def wait_for_nodes(self, node, text):
        """Until a node's driver knows of these nodes, and no others."""
        seen = [""]

        def there():
            seen[0] = self.cluster.run(node, NODES_UP).stdout.strip()
            return seen[0] == text
        self.assertTrue(wait_until(there, BOUND), f"node {node} sees nodes {seen[0]}, not {text}")

    def command(self, *arguments):
        """scripts/cluster with the cluster's name: its output."""
        result = subprocess.run([host.TOP / "scripts/cluster", arguments[0], "--name", self.cluster.config.name, *arguments[1:]],
                                capture_output=True, text=True, timeout=BOUND, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_job_of_all_nodes(self):
        """gni-perf between nodes of one host and of two: every byte is compared."""
        for node in range(4):
            self.wait_for_nodes(node, "0-3")
        results = self.cluster.run_job(["gni-perf", "--tests=fma-put,fma-get,bte-put,bte-get,amo,events", "--max-size=8K", "--iterations=20",
                                        "--size-time=1"], timeout=600)
        self.assertEqual([result.code for result in results], [0] * 4, [result.stdout + result.stderr for result in results])
        self.assertIn("0 failures", results[0].stdout)

    def test_an_application_of_aprun(self):
        result = subprocess.run([host.TOP / "scripts/aprun", "--cluster", self.cluster.config.name, "-n", "4", "-N", "1", "-l", "pmi-info"],
                                capture_output=True, text=True, timeout=BOUND, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        for rank in range(4):
            self.assertRegex(result.stdout, rf"(?m)^{rank}: ")

    def test_the_clusters_commands_reach_other_hosts(self):
        status = self.command("status")
        self.assertRegex(status, "(?m)^node 1: up.*host alpha")
        self.assertRegex(status, "(?m)^node 3: up.*host beta")
        text = self.folder / "text"
        text.write_text("from here\n", encoding="ascii")
        self.command("cp", str(text), "3:/tmp/text")
        self.assertEqual(self.cluster.run(3, "cat /tmp/text").stdout, "from here\n")
        self.assertEqual(json.loads(self.command("qmp", "2", "query-status"))["status"], "running")
        self.cluster.run(2, "echo said on the console >/dev/ttyS0")
        self.assertTrue(wait_until(lambda: "said on the console" in self.command("console", "2", "--log"), BOUND))
        self.command("fault", "2", "link", "down")
        self.assertTrue(wait_until(lambda: self.cluster.run(2, "cat /sys/class/gni/kgni0/link_state").stdout.strip() != "up", BOUND))
        self.command("fault", "2", "link", "up")

    def test_a_node_loses_power_and_comes_back(self):
        self.wait_for_nodes(0, "0-3")
        self.cluster.kill(3)
        self.wait_for_nodes(0, "0-2")
        self.cluster.start(3)
        for node in range(4):
            self.wait_for_nodes(node, "0-3")

    def test_hosts_cannot_reach_each_other_for_a_while(self):
        for node in range(4):
            self.wait_for_nodes(node, "0-3")
        self.hosts.cut(1)
        try:
            self.wait_for_nodes(0, "0-1")
            self.wait_for_nodes(2, "2-3")
        finally:
            self.hosts.heal(1)
        for node in range(4):
            self.wait_for_nodes(node, "0-3")

    def test_logs_of_all_hosts_are_here(self):
        folder = self.cluster.config.dir
        for name in ("gateway-alpha.log", "gateway-beta.log", "node0.qemu.log", "node3.qemu.log", "node3.log"):
            self.assertTrue((folder / name).exists(), sorted(folder.iterdir()))
        self.assertIn("alpha: up", (folder / "gateway-beta.log").read_text(encoding="ascii"))


class OneEach(Hosts):
    """What ends badly, or does not begin."""

    def up(self, cluster):
        """Boots it; it is down when the test ends, if not before."""
        cluster.up()
        self.clusters.append(cluster)

    def setUp(self):
        self.clusters = []

    def tearDown(self):
        while self.clusters:
            self.clusters.pop().down()

    def down(self, cluster):
        """Ends it before the test does."""
        self.clusters.remove(cluster)
        cluster.down()

    def members(self, i):
        """Process numbers, in the host's namespace, of what the head has started there."""
        return self.hosts.run(i, "pgrep", "-f", "cluster membe[r]", check=False).stdout.split()

    @unittest.skipUnless(slow_tests(), "takes a minute")
    def test_down_leaves_nothing(self):
        cluster = SyncCluster(self.config("0", "1"))
        self.up(cluster)
        self.assertTrue(self.left(0) and self.left(1))
        self.down(cluster)
        self.assert_nothing_left()

    def test_a_host_dies(self):
        cluster = SyncCluster(self.config("0", "1"))
        self.up(cluster)
        job = cluster.start_job(["sleep", "600"])
        for pid in self.members(1):
            self.hosts.run(1, "kill", "-KILL", pid, check=False)
        results = job.wait(BOUND)
        self.assertEqual(results[1].code, 255)
        self.assertIn("the machine has gone", results[1].error)
        self.assertTrue(wait_until(lambda: not cluster.running(1), BOUND))
        with self.assertRaisesRegex(ClusterError, "host beta has gone"):
            cluster.start(1)
        self.assertTrue(wait_until(lambda: cluster.run(0, NODES_UP).stdout.strip() == "0", BOUND))
        self.down(cluster)
        self.assert_nothing_left()

    def test_the_head_dies(self):
        name = f"hosts-{os.getpid()}"
        (self.folder / "file").write_text(self.hosts_text("0", "1"), encoding="ascii")
        subprocess.run([host.TOP / "scripts/cluster", "up", "--name", name, "--hosts", self.folder / "file", "--launcher", self.launcher, "--smp=1",
                        "--mem=256M"], check=True, timeout=4 * BOUND, capture_output=True)
        self.assertTrue(self.left(0) and self.left(1))
        os.kill(int((host.RUN / name / "pid").read_text(encoding="ascii")), signal.SIGKILL)
        self.assert_nothing_left()

    @unittest.skipUnless(slow_tests(), "takes a minute")
    def test_a_gateway_dies(self):
        cluster = SyncCluster(self.config("0", "1"))
        self.up(cluster)
        self.hosts.run(1, "pkill", "-KILL", "-x", "aries-gateway")
        log = cluster.config.dir / "gateway-beta.log"
        self.assertTrue(wait_until(lambda: "started again" in log.read_text(encoding="ascii"), BOUND))
        for node in range(2):
            self.assertTrue(wait_until(lambda node=node: cluster.run(node, NODES_UP).stdout.strip() == "0-1", BOUND))

    def test_what_hosts_lack_is_told_before_anything_boots(self):
        with contextlib.ExitStack() as stack:
            listener = self.hosts.start(1, "python3", "-c", "import socket, sys, time; s = socket.create_server((sys.argv[1], 7741));"
                                        " print('there', flush=True); time.sleep(600)", self.hosts.address(1), stdout=subprocess.PIPE)
            stack.callback(listener.wait)
            stack.callback(self.hosts.signal, listener, signal.SIGKILL)
            self.assertEqual(listener.stdout.readline(), "there\n")
            config = self.config("0", "1", mem_mib=1 << 20)
            began = time.monotonic()
            with self.assertRaises(ClusterError) as caught:
                SyncCluster(config).up()  # which ends it if that fails
            self.assertRegex(str(caught.exception), "host alpha: no memory for 1 nodes")
            self.assertRegex(str(caught.exception), "host beta: no memory for 1 nodes")
            with self.assertRaisesRegex(ClusterError, rf"^host beta: {self.hosts.address(1)}:7741: Address already in use$"):
                SyncCluster(self.config("0", "1")).up()
            self.assertFalse(list(config.dir.glob("node*")), f"something was booted, {time.monotonic() - began:.0f} s")
        self.assert_nothing_left()

    @unittest.skipUnless(slow_tests(), "takes a minute")
    def test_gateways_that_cannot_reach_each_other_are_told(self):
        self.hosts.cut(1)
        self.addCleanup(self.hosts.heal, 1)
        with self.assertRaisesRegex(ClusterError, "gateways do not find each other: .*has not reached"):
            SyncCluster(self.config("0", "1")).up()
        self.assert_nothing_left()
