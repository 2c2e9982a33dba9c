# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of routers, read in the guest under the names that sites use."""

import re

from gnitest.testing import ClusterCase
from opengni.machine import Machine


class Counters(ClusterCase):
    """Two nodes on two routers of a chassis: nobody else is there."""

    MACHINE = Machine(96, 4, 2)
    CONFIG = {"mem_mib": 256, "smp": 1, "machine": "aries:groups=3,chassis=2,slots=4",
              "place": f"{MACHINE.at(0, 0, 0)},{MACHINE.at(0, 0, 1)}"}

    def read(self, node):
        """All counters of a node's router and NIC."""
        text = self.cluster.run(node, "cd /sys/class/gni/kgni0 && grep . counters/* stats/*").stdout
        return {name: int(value) for name, value in re.findall(r"^\w+/(\w+):(\d+)$", text, re.M)}

    def grown(self, before, node, pattern):
        """By how much the counters whose names match have grown together."""
        after = self.read(node)
        names = [name for name in after if re.fullmatch(pattern, name)]
        self.assertTrue(names, pattern)
        return sum(after[name] - before[name] for name in names)

    def test_flits_of_puts_on_their_way(self):
        before = [self.read(node) for node in (0, 1)]
        self.assertEqual(len([name for name in before[0] if name.startswith("AR_RTR_")]), 40 * 13 + 8 * 6)
        self.succeed(self.cluster.run_job(["gni-perf", "--tests=fma-put", "--sizes=8,4K", "--iterations=50", "--delivery=min-hash"]))
        sent = self.grown(before[0], 0, "req_flits")
        self.assertGreater(sent, 1000)
        self.assertEqual(self.grown(before[0], 0, "AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_FLITS"), sent)
        # From the NIC into the router, over a link, and on the other side out of it: the other node's requests go the other way.
        into = self.grown(before[0], 0, r"AR_RTR_PT_5_\d_INQ_PRF_INCOMING_FLIT_VC0")
        over = self.grown(before[1], 1, r"AR_RTR_\d_\d_INQ_PRF_INCOMING_FLIT_VC[0-3]")
        self.assertAlmostEqual(into, sent, delta=sent // 50)
        self.assertAlmostEqual(over, sent, delta=sent // 50)
        answers = self.grown(before[0], 0, r"AR_RTR_\d_\d_INQ_PRF_INCOMING_FLIT_VC[4-7]")
        self.assertAlmostEqual(answers, self.grown(before[0], 0, "rsp_flits"), delta=sent // 50)
