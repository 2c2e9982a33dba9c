# SPDX-License-Identifier: GPL-2.0-or-later
"""libdmapp in jobs on nodes: every family of functions between PEs of several nodes, and of one."""

from opengni import host
from gnitest.staged import compiled
from gnitest.testing import ClusterCase

SOURCE = host.TOP / "selftests/dmapp/whole.c"
PARTS = ["begin", "heap and statics", "registered memory", "long transfers", "elements", "flags", "atomics", "locks", "sets", "children"]


class Dmapp(ClusterCase):
    SHARES = "four"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = compiled(SOURCE, "cray-dmapp", "-D_GNU_SOURCE")
        for node in range(cls.NODES):
            done = cls.cluster.run(node, "cat >/whole && chmod +x /whole", stdin=program)
            assert done.code == 0, done

    def whole(self, npes, per_node):
        results = self.cluster.run_application(["/whole"], npes, per_node=per_node)
        self.assertEqual([(result.code, result.stderr) for result in results], [(0, "")] * npes)
        self.assertEqual(results[0].stdout.splitlines(), PARTS)

    def test_a_pe_on_each_node(self):
        self.whole(4, 1)

    def test_two_pes_on_each_node(self):
        self.whole(8, 2)

    def test_one_pe(self):
        self.whole(1, 1)
