# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""README.md from top to bottom: each command that it shows is run, in its order, and prints what it should."""

import os
import re
import subprocess
import unittest

from opengni import host
from opengni.testing import slow_tests

README = (host.TOP / "README.md").read_text(encoding="utf-8")
NAME = f"readme-{os.getpid()}"
PATIENCE = 1200.0
# What each command of "A cluster of your own" prints; another command there needs a line here.
PRINTS = {
    "scripts/cluster up -n 4; scripts/aprun -n 8 -N 2 pmi-info; scripts/cluster down": r"node 3 up after(?s:.*)rank 7 of 8|7 of 8",
    "scripts/cluster run -n 4 -- gni-perf --tests fma-put": r"node 0: .*fma-put",
    "scripts/cluster up -n 2": r"node 1 up after .* s, Linux",
    "scripts/cluster exec --node 1 -- aries-info": r"Aries",
    "scripts/cluster exec --node 0 -- gni-info": r"kgni0",
    "scripts/cluster shell 0": r"SHELL-ON-node0",
    "scripts/cluster cp README.md all:/tmp": r"^$",
    "scripts/cluster kill 1; scripts/cluster start 1": r"^$",
    "scripts/cluster down": r"^$",
}
# Those that this very test, or whoever runs it, has done: what is left to see is that they are steps of the Makefile.
DONE = ("make run", "make check")


def block(title):
    """The commands shown below a heading, without what is said about them."""
    section = re.search(rf"^## {title}$(.*?)^## ", README, re.M | re.S)[1]
    return [re.sub(r"\s+#.*", "", line) for line in re.findall(r"^ {4}(.*)$", section, re.M)]


class Shown(unittest.TestCase):
    def test_every_command_is_known(self):
        self.assertEqual(block("A cluster of your own"), list(PRINTS))
        self.assertEqual(block("Two commands"), list(DONE))


@unittest.skipUnless(slow_tests(), "in check-all")
class Commands(unittest.TestCase):
    def sh(self, text):
        """Run it as it stands there, on a cluster whose name nobody else has."""
        text = re.sub(r"scripts/cluster (up|exec|shell|cp|kill|start|down)\b", rf"scripts/cluster \1 --name {NAME}", text)
        result = subprocess.run(["bash", "-ec", text], cwd=host.TOP, env={**os.environ, "OPENGNI_CLUSTER": NAME}, input="echo SHELL-ON-$(hostname)\nexit\n",
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, 0, f"{text}\n{result.stdout}")
        return result.stdout

    def test_a_cluster_of_your_own(self):
        self.addCleanup(lambda: subprocess.run([host.TOP / "scripts/cluster", "down", "--name", NAME], capture_output=True, check=False))
        for command in block("A cluster of your own"):
            with self.subTest(command):
                self.assertRegex(self.sh(command), PRINTS[command])

    def test_make_run(self):
        """The first command: all steps, two nodes, the job's table."""
        self.assertRegex(self.sh("make run ARGS='--tests fma-put --max-size 4K'"), r"\[\d+/\d+\] (?s:.*)fma-put")


if __name__ == "__main__":
    unittest.main()
