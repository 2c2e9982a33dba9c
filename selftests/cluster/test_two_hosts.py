# SPDX-License-Identifier: GPL-2.0-or-later
"""One fabric of two hosts: a node on each, in a segment of its own, and aries-gateway between them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from gnitest.testing import SyncCluster, wait_until
from opengni import host
from opengni.config import ClusterConfig

GATEWAY = host.BUILD / "model/gateway/aries-gateway"
ADDRESSES = ("127.0.0.1", "127.0.0.2")
BOUND = 120.0  # s for anything to happen on a busy machine
NODES_UP = "cat /sys/class/gni/kgni0/nodes_up"


def free_port(address):
    """One that nobody listens at."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


class TwoHosts(unittest.TestCase):
    """The hosts are addresses of this machine and segments that know nothing of each other."""

    @classmethod
    def setUpClass(cls):
        if not GATEWAY.exists():
            raise unittest.SkipTest("aries-gateway is not built: libfabric or libsodium is missing")
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="opengni-two-hosts-")))
        cls.names = [f"host{i}-{os.getpid()}" for i in range(2)]
        (cls.folder / "hosts").write_text("".join(f"{name} {address}:{free_port(address)} {i}\n"
                                                  for i, (name, address) in enumerate(zip(cls.names, ADDRESSES))), encoding="ascii")
        subprocess.run([GATEWAY, "keygen", cls.folder / "key"], check=True)
        cls.gateways = [None, None]
        cls.addClassCleanup(cls.clean)
        cls.clusters = []
        for i in range(2):
            cls.start(i)
            cluster = SyncCluster(ClusterConfig(nodes=1, smp=1, mem_mib=256, nic={"fabric": cls.names[i], "node": i, "nodes": 4}))
            cluster.up()
            cls.addClassCleanup(cluster.down)
            cls.clusters.append(cluster)

    @classmethod
    def start(cls, i):
        """The gateway of a host."""
        with open(cls.folder / f"log{i}", "a", encoding="ascii") as log:
            cls.gateways[i] = subprocess.Popen(  # pylint: disable=consider-using-with
                [GATEWAY, "run", "--hosts", cls.folder / "hosts", "--self", cls.names[i], "--key", cls.folder / "key", "--fabric", cls.names[i],
                 "--nodes", "4"], stdout=log, stderr=subprocess.STDOUT)

    @classmethod
    def clean(cls):
        """What gateways leave that were killed."""
        for gateway in filter(None, cls.gateways):
            gateway.kill()
            gateway.wait()
        for name in cls.names:
            for path in Path("/dev/shm").glob(f"aries-*{name}*"):
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()

    def log(self):
        """What gateways have told, for messages."""
        return "\n".join((self.folder / f"log{i}").read_text(encoding="ascii") for i in range(2))

    def wait_for_nodes(self, i, text):
        """Until a node's driver knows of these nodes, and no others."""
        seen = [""]

        def there():
            seen[0] = self.clusters[i].run(0, NODES_UP).stdout.strip()
            return seen[0] == text
        self.assertTrue(wait_until(there, BOUND), f"node {i} sees nodes {seen[0]}, not {text}\n{self.log()}")

    def carried(self, i):
        """Figures of a host's carrier."""
        result = subprocess.run([GATEWAY, "status", "--self", self.names[i], "--json"], capture_output=True, text=True, check=True, timeout=BOUND)
        return json.loads(result.stdout)["carrier"]

    def perf(self, *arguments):
        """gni-perf of the second host's node with the first one's, which compares every byte: its results."""
        server = threading.Thread(target=self.clusters[0].run, args=(0, "gni-perf --once"))
        server.start()
        result = self.clusters[1].run(0, ["gni-perf", "0", f"--connect-time={BOUND:.0f}", "--json=-", *arguments], silence=BOUND)
        server.join()
        self.assertEqual(result.code, 0, f"{result.stdout}{result.stderr}\n{self.log()}")
        return json.loads(result.stdout)

    def test_all_kinds_of_traffic_are_right(self):
        """Datagrams for the connection, then messages, puts, gets, block transfers and atomics."""
        self.wait_for_nodes(0, "0-1")
        self.wait_for_nodes(1, "0-1")
        before = self.carried(0)
        report = self.perf("--max-size=64K", "--duration=0.05")
        self.assertEqual({row["test"] for row in report["results"]},
                         {"smsg", "put-lat", "put-bw", "get-lat", "get-bw", "bte-put-bw", "bte-get-bw", "amo-lat", "amo-bw"})
        after = self.carried(0)
        self.assertGreater(after["served"], before["served"] + 100)
        self.assertEqual((after["timeouts"], after["refused"], after["open"]), (before["timeouts"], before["refused"], 0))
        text = subprocess.run([GATEWAY, "status", "--self", self.names[0]], capture_output=True, text=True, check=True, timeout=BOUND).stdout
        self.assertRegex(text, r"(?m)^carrier: requests \d+, responses \d+, timeouts \d+, served \d+, refused \d+, open 0, nodes 1$")

    def test_what_is_cut_on_one_host_is_cut_on_the_other(self):
        """aries-net is told on one host; requests of the other one's node are routed by the news."""
        self.wait_for_nodes(0, "0-1")
        self.wait_for_nodes(1, "0-1")

        def net(i, *arguments):
            return subprocess.run([host.BUILD / "model/net/aries-net", "-f", self.names[i], *arguments], capture_output=True, text=True,
                                  check=True, timeout=BOUND).stdout

        def connected(i):
            members = json.loads(net(i, "show", "--json"))["members"]
            return {member["node"]: member["network"] for member in members}[1]

        net(1, "fail", "node", "1")
        self.assertTrue(wait_until(lambda: connected(0) == "cut off", BOUND), self.log())
        self.assertNotEqual(self.clusters[0].run(0, ["gni-perf", "1", "--connect-time=1"]).code, 0)
        net(0, "restore", "node", "1")
        self.assertTrue(wait_until(lambda: connected(1) == "connected", BOUND), self.log())
        self.perf("--tests=put-lat", "--duration=0.05")
        before = json.loads(net(1, "show", "--json"))["quiesces"]
        net(0, "quiesce", "5")
        self.assertTrue(wait_until(lambda: json.loads(net(1, "show", "--json"))["quiesces"] == before + 1, BOUND), self.log())

    def test_a_gateway_dies_and_returns(self):
        """Each side loses the other's node, and has it back; then there is traffic as before."""
        self.wait_for_nodes(0, "0-1")
        self.gateways[1].send_signal(signal.SIGKILL)
        self.gateways[1].wait()
        self.wait_for_nodes(1, "1")
        self.wait_for_nodes(0, "0")
        result = self.clusters[0].run(0, ["gni-perf", "1", "--connect-time=1"])
        self.assertNotEqual(result.code, 0)
        self.start(1)
        self.wait_for_nodes(0, "0-1")
        self.wait_for_nodes(1, "0-1")
        self.perf("--tests=put-lat,amo-lat", "--duration=0.05")
