# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over the fabric (ipogif.ko, --net ipogif): reachability, contents, and what happens when nodes, NIC or module go."""

import re

from opengni.testing import ClusterCase

PEER = "/kselftest/kgni/net_peer"
PORT = 7100


class Ipogif(ClusterCase):
    CONFIG = {"ipogif": True, "mem_mib": 768}

    def setUp(self):
        for node in range(self.NODES):
            self.sink(node)

    def sink(self, node):
        """What answers net_peer."""
        self.cluster.run(node, "killall -9 net_peer")
        self.succeed(self.cluster.run(node, f"setsid {PEER} sink {PORT} >/tmp/sink 2>&1 </dev/null &"))
        self.wait_for(lambda: f":{PORT:04X} " in self.cluster.run(node, "cat /proc/net/udp").stdout, f"no sink: {self.log(node)}")

    @staticmethod
    def ip(node):
        """Address of a node."""
        return f"10.128.0.{node + 1}"

    def peer(self, node, *arguments, timeout=240.0):
        """Runs net_peer on a node: what it prints, as a dictionary of numbers."""
        result = self.succeed(self.cluster.run(node, f"{PEER} {' '.join(map(str, arguments))}", timeout=timeout))
        return {key: float(value) for key, value in re.findall(r"([a-z]+) ([0-9.]+)", result.stdout)}

    def statistics(self, node):
        """Packets and drops of the interface."""
        folder = "/sys/class/net/ipogif0/statistics"
        text = self.cluster.run(node, f"grep -H . {folder}/*").stdout
        return {key: int(value) for key, value in re.findall(r"statistics/(\w+):(\d+)", text)}

    def reached(self, node, other):
        """Whether a ping gets through."""
        return self.cluster.run(node, f"ping -c 1 -W 1 {self.ip(other)}").code == 0


class Traffic(Ipogif):
    def test_nodes_reach_each_other_by_name(self):
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ping -c 3 -w 20 hsn{1 - node}"))

    def test_hardware_addresses_are_those_of_the_nics(self):
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ping -c 1 -w 20 hsn{1 - node}"))
            self.assertIn(f"{self.ip(1 - node)}", self.cluster.run(node, f"grep 00:01:01:00:00:0{1 - node} /proc/net/arp").stdout)

    def test_pings_of_all_sizes(self):
        """Those that go in a message, those that go by transfer, fragments of more than the MTU."""
        for size in (0, 1, 56, 1900, 1960, 1992, 2000, 2100, 4096, 9000, 32000, 65000):
            self.succeed(self.cluster.run(0, f"ping -c 2 -w 20 -s {size} {self.ip(1)}"))

    def test_a_tcp_stream_arrives_whole(self):
        for node in range(self.NODES):
            self.assertGreater(self.peer(node, "tcp", self.ip(1 - node), PORT, 3)["bytes"], 1 << 20)

    def test_datagrams_arrive_as_they_were(self):
        for size, count in ((64, 3000), (1400, 1000), (2500, 500), (20000, 200), (65000, 100)):
            got = self.peer(0, "udp", self.ip(1), PORT, size, count)
            self.assertEqual(got["wrong"], 0, size)
            self.assertGreater(got["received"], 0, size)

    def test_a_datagram_and_its_echo(self):
        for size in (64, 1000, 5000, 65000):
            self.assertEqual(self.peer(0, "echo", self.ip(1), PORT, size, 200)["lost"], 0, size)
