# SPDX-License-Identifier: GPL-2.0-or-later
"""Four nodes in two groups under traffic of all kinds while links, routers and NICs' links fail and come back at random.

OPENGNI_CHAOS_ROUNDS and OPENGNI_CHAOS_SEED choose another run. With OPENGNI_CHAOS_MANAGER, and in slow runs, a manager of the network
loads other route tables meanwhile.
"""

import os
import tempfile
import unittest
from pathlib import Path

from gnitest.netchaos import KINDS, NetworkChaos
from gnitest.testing import ClusterCase, slow_tests
from opengni.machine import Machine

SEED = os.environ.get("OPENGNI_CHAOS_SEED", "1")
# A round has five faults in three rounds, and three of five take down links, a router or a node.
ROUNDS = int(os.environ.get("OPENGNI_CHAOS_ROUNDS", "1000" if slow_tests() else "12"))
LEAST_FAULTS_A_ROUND = 2
# Rounds in which each kind of fault comes up, but for one run in millions.
ALL_KINDS = 100


class NetworkBreaks(ClusterCase):
    MACHINE = Machine(96, 4, 2)
    AT = [MACHINE.at(0, 0, 0), MACHINE.at(0, 0, 1), MACHINE.at(0, 1, 1), MACHINE.at(2, 0, 0, 2)]
    NODES = 4
    CONFIG = {"mem_mib": 384, "smp": 1, "boot_timeout": 180.0, "machine": "aries:groups=3,chassis=2,slots=4",
              "place": ",".join(map(str, AT))}

    def test_no_wrong_byte_and_every_operation_ends(self):
        self.run_chaos()

    @unittest.skipUnless(slow_tests() or os.environ.get("OPENGNI_CHAOS_MANAGER"), "takes minutes")
    def test_the_same_with_a_manager(self):
        with tempfile.TemporaryDirectory() as folder:
            chaos = self.run_chaos(Path(folder) / "journal")
            self.assertTrue(chaos.manager.mine("resumed"), "the manager has never loaded tables")

    def run_chaos(self, journal=None):
        chaos = NetworkChaos(self.cluster, SEED, verbose=slow_tests(), journal=journal)
        chaos.run(ROUNDS)
        self.assertGreaterEqual(chaos.done_faults, ROUNDS * LEAST_FAULTS_A_ROUND)
        self.assertTrue([name for name in chaos.done if "NO_NODE" in name], "no operation has met a part that was down")
        print("\n".join([*chaos.summary(), chaos.totals()]))
        self.assertGreater(chaos.done["operations ended"], 0)
        if ROUNDS >= ALL_KINDS:
            self.assertEqual([kind for kind in KINDS if not chaos.faults[kind]], [], "nothing of the kind was broken")
        self.assertEqual(chaos.complaints(), [])
        return chaos
