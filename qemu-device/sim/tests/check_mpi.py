#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-sim-mpi gives the bytes of aries-sim, from any number of processes, and one line about bad input.

usage: check_mpi.py ARIES_SIM ARIES_SIM_MPI MPIRUN
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SIM = MPI = MPIRUN = ""
CASES = [
    ["aries", "groups=3", "chassis=2", "slots=2", "--load", "0.4"],
    ["aries", "groups=1", "chassis=2", "slots=4", "--operation", "get", "--bytes", "1024", "--load", "0.6"],
    ["aries", "groups=2", "chassis=2", "slots=2", "--job", "nodes: 12, groups: 2, traffic: allreduce", "--job", "nodes: rest"],
    ["canonical", "p=2", "a=4", "h=2", "--traffic", "group", "--load", "1", "--mode", "nonminimal"],
    ["torus", "x=3", "y=6", "z=4", "--load", "0.4", "--set", "bit_errors=100000"],
    ["torus", "x=4", "y=6", "z=4", "--channels", "2", "--load", "0.2", "--fail", "1500:link:0-1", "--fail", "2000:router:9"],
    ["clos", "radix=8", "stages=3", "--load", "0.6", "--fail", "1500:router:70"],
    ["qsnet", "nodes=48", "blades=true", "--bytes", "3000", "--load", "0.7", "--set", "bit_errors=1000000", "--fail", "1200:router:3"],
    ["qsnet", "nodes=48", "blades=true", "--job", "nodes: 30, traffic: barrier, place: random:1", "--job", "nodes: rest, operation: get"],
]
SHORT = ["--quiet", "--warmup", "1000", "--measure", "2000"]


def ranks(count, *args):
    """(exit status, output, errors) of so many processes."""
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    result = subprocess.run([MPIRUN, "--oversubscribe", "-n", str(count), MPI, *args], capture_output=True, text=True,
                            check=False, env=env)
    return result.returncode, result.stdout, result.stderr


class Mpi(unittest.TestCase):
    """Against the program without MPI."""

    def test_same_bytes(self):
        for case in CASES:
            with tempfile.TemporaryDirectory() as folder:
                links, its_links = Path(folder, "one"), Path(folder, "more")
                one = subprocess.run([SIM, *case, *SHORT, "--links", links], capture_output=True, text=True, check=True)
                self.assertIn('"drained": true', one.stdout)
                for count, threads in ((1, 1), (2, 1), (3, 1), (2, 2)):
                    status, output, errors = ranks(count, *case, *SHORT, "--threads", str(threads), "--links", its_links)
                    self.assertEqual((status, errors), (0, ""), (case, count, threads))
                    self.assertEqual(output, one.stdout, (case, count, threads))
                    self.assertEqual(its_links.read_text(), links.read_text(), (case, count, threads))

    def one_line(self, count, *args):
        """What aries-sim-mpi itself says; mpirun adds lines of its own."""
        status, output, errors = ranks(count, *args)
        self.assertNotEqual(status, 0)
        self.assertNotIn("{", output)
        lines = [line for line in errors.split("\n") if line.startswith("aries-sim: ")]
        self.assertEqual(len(lines), 1, errors)
        return lines[0]

    def test_bad_input(self):
        self.assertIn("above 0", self.one_line(2, "canonical", "--load", "7"))
        self.assertIn("cannot be written", self.one_line(2, "canonical", *SHORT, "--json", "/nowhere/file"))
        self.assertIn("each has at least one", self.one_line(7, "canonical", "p=1", "a=2", "h=1", *SHORT))
        self.assertIn("MiB may be used", self.one_line(2, "canonical", *SHORT, "--memory", "1"))
        self.assertIn("aries-sim alone", self.one_line(2, "sweep", "--over", "load=0.1,0.2", "--out", "unused"))
        self.assertIn("--nothing", self.one_line(2, "canonical", "--nothing"))


if __name__ == "__main__":
    SIM, MPI, MPIRUN = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1], verbosity=2)
