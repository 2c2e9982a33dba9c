# SPDX-License-Identifier: GPL-2.0-or-later
"""Four nodes under traffic of all kinds while processes, links, NICs and drivers are broken at random.

OPENGNI_CHAOS_ROUNDS and OPENGNI_CHAOS_SEED choose another run; scripts/chaos repeats a part of one.
"""

import os

from gnitest.chaos import Chaos, plan
from gnitest.testing import ClusterCase, slow_tests

SEED = os.environ.get("OPENGNI_CHAOS_SEED", "1")
ROUNDS = int(os.environ.get("OPENGNI_CHAOS_ROUNDS", "1000" if slow_tests() else "12"))


class EverythingBreaks(ClusterCase):
    SHARES = "four"
    LEAVES = "what chance has broken"

    def test_nothing_is_lost_and_nobody_is_stuck(self):
        chaos = Chaos(self.cluster, SEED)
        chaos.run(ROUNDS)

    def test_a_seed_repeats_a_run(self):
        runs = [[plan(SEED, number, self.NODES) for number in range(50)] for _ in range(2)]
        self.assertEqual(*runs)
        self.assertNotEqual(runs[0], [plan(SEED + "0", number, self.NODES) for number in range(50)])
