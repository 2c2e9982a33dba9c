# SPDX-License-Identifier: GPL-2.0-or-later
"""The Ethernet among nodes (--net): names, reachability, contents of a TCP stream."""

from gnitest.testing import Apart, ClusterCase, together


@together(Apart.ETHERNET)
class Ethernet(ClusterCase):
    CONFIG = {"net": True}

    def test_nodes_reach_each_other_by_name(self):
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ping -c 3 -w 20 node{1 - node}"))

    def test_a_tcp_stream_arrives_whole(self):
        self.succeed(self.cluster.run(1, "head -c 1000000 /dev/urandom >/tmp/sent && httpd -p 7000 -h /tmp"))
        self.succeed(self.cluster.run(0, "wget -q -O /tmp/got http://node1:7000/sent"))
        sent, got = (self.cluster.run(node, f"sha256sum </tmp/{name}").stdout for node, name in ((1, "sent"), (0, "got")))
        self.assertEqual(sent, got)
        self.assertEqual(self.cluster.run(0, "stat -c %s /tmp/got").stdout, "1000000\n")
