# SPDX-License-Identifier: GPL-2.0-or-later
"""Four nodes on two hosts under traffic of all kinds while networks, gateways, hosts, nodes and what runs there are broken at random.

OPENGNI_CHAOS_ROUNDS, OPENGNI_CHAOS_FIRST, OPENGNI_CHAOS_SEED and OPENGNI_CHAOS_KINDS choose another run.
"""

import os
import unittest

from hosts_chaos import KINDS, OF_HOSTS, HostsChaos
from hosts_cluster import Hosts
from gnitest.testing import SyncCluster, slow_tests

SEED = os.environ.get("OPENGNI_CHAOS_SEED", "1")
FIRST = int(os.environ.get("OPENGNI_CHAOS_FIRST", "0"))
ROUNDS = int(os.environ.get("OPENGNI_CHAOS_ROUNDS", "200" if slow_tests() else "10"))
CHOSEN = tuple(filter(None, os.environ.get("OPENGNI_CHAOS_KINDS", "").split(","))) or KINDS
# Rounds in which each kind of what happens to hosts comes up, but for one run in millions.
ALL_KINDS = 150


class HostsBreak(Hosts):
    """Nodes 0 and 1 on one host, 2 and 3 on the other."""

    @unittest.skipUnless(slow_tests() or "OPENGNI_CHAOS_ROUNDS" in os.environ, "takes minutes")
    def test_nothing_is_lost_and_nobody_is_stuck(self):
        cluster = SyncCluster(self.config("0-1", "2-3", mem_mib=384, boot_timeout=180.0))
        cluster.up()
        try:
            self.break_things(cluster)
        finally:
            cluster.down()
        self.assert_nothing_left()

    def break_things(self, cluster):
        """All rounds, and what must hold after them."""
        chaos = HostsChaos(cluster, self.hosts, SEED, kinds=CHOSEN, verbose=True)
        chaos.run(ROUNDS, FIRST)
        print("\n".join([*chaos.summary(), chaos.totals()]))
        self.assertGreater(chaos.done["operations ended"], 0)
        if ROUNDS >= ALL_KINDS and CHOSEN == KINDS:
            self.assertEqual([kind for kind in OF_HOSTS if not chaos.faults[kind]], [], "nothing of the kind was broken")
        self.assertEqual(chaos.complaints(), [])
