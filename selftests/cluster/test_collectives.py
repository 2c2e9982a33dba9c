# SPDX-License-Identifier: GPL-2.0-or-later
"""Collective engines go on without the processors of a node, and end for all when a node dies."""

from gnitest.testing import ClusterCase

RANK = "/kselftest/aries/ce_rank"
FILE = "/tmp/ce_rank"


class Chain(ClusterCase):
    """An engine on each of three nodes, in a row; node 1 is in the middle."""

    SHARES = "four"
    CHAIN = 3

    def setUp(self):
        self.start_nodes()
        for node in range(self.CHAIN):
            self.cluster.run(node, f"rm -f {FILE} {FILE}.go")
        self.job = self.cluster.start_application([RANK, FILE], self.CHAIN, per_node=1)
        for node in range(self.CHAIN):
            self.says(node, "planted 1")

    def says(self, node, line):
        def there():
            return line in self.cluster.run(node, f"cat {FILE}; true").stdout.splitlines()
        self.wait_for(there, f"node {node} has not said '{line}'", 120)

    def go(self, node):
        self.cluster.run(node, f"touch {FILE}.go")
        self.says(node, "posted 1")

    def test_a_stopped_guest_in_the_middle_does_not_stop_the_tree(self):
        """N24: reductions progress without the processors of a host."""
        self.go(1)
        self.cluster.qmp(1, "stop")
        try:
            # Engine 1 has yet to add what engine 2 sends, to send the sum up and the result down.
            self.go(0)
            self.go(2)
            self.says(0, "sum 7")
            self.says(2, "sum 7")
            self.assertEqual(self.cluster.qmp(1, "query-status")["status"], "paused")
        finally:
            self.cluster.qmp(1, "cont")
        self.says(1, "sum 7")
        self.succeed(self.job.wait(120))

    def test_a_dead_node_in_the_middle_is_an_error_for_all(self):
        self.go(0)
        self.go(2)
        self.cluster.kill(1)
        for node in (0, 2):
            self.wait_for(lambda n=node: "\nerror " in self.cluster.run(n, f"cat {FILE}").stdout, f"node {node} waits for a dead one", 60)
        results = self.job.wait(120)
        self.assertIn("node 1", results[1].error)
