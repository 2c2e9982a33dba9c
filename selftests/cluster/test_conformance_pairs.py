# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance tests with two ranks, each on a node of its own."""

from gnitest import conformance, tap
from gnitest.testing import ClusterCase

PROGRAMS = "/kselftest/conformance/"


class Conformance(ClusterCase):
    SHARES = "pair"

    def across(self, program):
        """Run a program with a rank on each node; both must pass all."""
        results = self.cluster.run_application([PROGRAMS + program], 2, per_node=1, timeout=300)
        for result in results:
            cases = tap.parse(result.stdout, f"rank {result.rank}: ")
            self.assertGreater(len(cases), 0)
            bad = [f"{case.name} {case.detail}" for case in cases if case.status != tap.PASS]
            self.assertEqual(bad, [], result.stderr[-2000:])
        self.succeed(results)


def _add(program):
    setattr(Conformance, f"test_{program}", lambda self: self.across(program))


for source in sorted(conformance.FOLDER.glob("pair_*.c")):
    _add(source.stem)
