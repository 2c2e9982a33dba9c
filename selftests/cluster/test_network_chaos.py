# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Four nodes in two groups under traffic of all kinds while links, routers and NICs' links fail and come back at random.

OPENGNI_CHAOS_ROUNDS and OPENGNI_CHAOS_SEED choose another run.
"""

import os

from opengni.machine import Machine
from opengni.netchaos import NetworkChaos
from opengni.testing import ClusterCase, slow_tests

SEED = os.environ.get("OPENGNI_CHAOS_SEED", "1")
# A round has five faults in three rounds, and three of five take down links, a router or a node.
ROUNDS = int(os.environ.get("OPENGNI_CHAOS_ROUNDS", "1000" if slow_tests() else "12"))
LEAST_FAULTS_A_ROUND = 2


class NetworkBreaks(ClusterCase):
    MACHINE = Machine(96, 4, 2)
    AT = [MACHINE.at(0, 0, 0), MACHINE.at(0, 0, 1), MACHINE.at(0, 1, 1), MACHINE.at(2, 0, 0, 2)]
    NODES = 4
    CONFIG = {"mem_mib": 384, "smp": 1, "boot_timeout": 180.0, "machine": "aries:groups=3,chassis=2,slots=4",
              "place": ",".join(map(str, AT))}

    def test_no_wrong_byte_and_every_operation_ends(self):
        chaos = NetworkChaos(self.cluster, SEED, verbose=slow_tests())
        chaos.run(ROUNDS)
        self.assertGreaterEqual(chaos.done_faults, ROUNDS * LEAST_FAULTS_A_ROUND)
        self.assertTrue([name for name in chaos.done if "NO_NODE" in name], "no operation has met a part that was down")
        print("\n".join(chaos.summary()))
        self.assertEqual(chaos.complaints(), [])
