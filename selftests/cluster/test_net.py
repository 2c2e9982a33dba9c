# SPDX-License-Identifier: GPL-2.0-or-later
"""The Ethernet among nodes (--net): names, reachability, contents of a TCP stream."""

import hashlib

from opengni.testing import ClusterCase


class Ethernet(ClusterCase):
    CONFIG = {"net": True}

    def test_nodes_reach_each_other_by_name(self):
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ping -c 3 -w 20 node{1 - node}"))

    def test_a_tcp_stream_arrives_whole(self):
        script = ("if [ $OPENGNI_RANK = 1 ]; then nc -l -p 7000 >/tmp/got & gni-kvs put listening 1; wait; sha256sum /tmp/got;"
                  "else head -c 1000000 /dev/urandom >/tmp/sent; gni-kvs get listening; sleep 1;"
                  "nc node1 7000 </tmp/sent; sha256sum /tmp/sent; fi")
        results = self.succeed(self.cluster.run_job(["sh", "-c", script]))
        sums = [result.stdout.split()[-2] for result in results]
        self.assertEqual(sums[0], sums[1])
        self.assertNotEqual(sums[0], hashlib.sha256(b"").hexdigest())
