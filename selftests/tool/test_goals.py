# SPDX-License-Identifier: GPL-2.0-or-later
"""Each goal of `make help` installs the packages that the steps which lead to it need."""

import os
import re
import unittest

from commands import run
from goals import rules, shown, steps
from opengni import host

CLUSTER = host.TOP / "selftests/cluster"
SETUP = host.TOP / "scripts/setup.sh"
# What a step or a goal's own commands need beside what every build does. A step that is not here needs nothing more.
NEEDS = {
    "selftests": {"rsync"},
    "bench-kernel": {"iproute2"},
    "man": {"python3-sphinx", "python3-myst-parser"},
    "doc": {"python3-sphinx", "python3-myst-parser"},
    "figures": {"python3-matplotlib"},
    "check": {"rsync", "iproute2", "tshark", "gdb", "openssh-client", "clang", "flake8", "mypy", "reuse"},
    "check-all": {"rsync", "iproute2", "tshark", "clang", "libopenmpi-dev", "mmdebstrap", "python3-sphinx", "lintian", "qemu-utils"},
    "check-debug": {"rsync", "bc", "flex", "bison"},
    "interop": {"autoconf", "automake", "libtool", "flex"},
    "lint": {"clang-format", "clang-tidy", "sparse", "shellcheck", "flake8", "mypy", "reuse"},
    "format": {"clang-format"},
    "deb": {"debhelper", "dh-dkms", "dh-python", "fakeroot"},
    "debian-image": {"mmdebstrap", "e2fsprogs", "fdisk", "uidmap", "qemu-utils"},
}


class Goals(unittest.TestCase):
    def packages(self, goal):
        """What `make GOAL` installs where nothing is there."""
        status, purposes = run("make", "-s", "-C", host.TOP, "--no-print-directory", "--eval", "the-purposes: ; @echo $(SETUP_EXTRA)",
                               f"MAKECMDGOALS={goal}", "the-purposes", env={name: text for name, text in os.environ.items() if name != "MAKEFLAGS"})
        self.assertEqual(status, 0, purposes)
        status, listed = run(SETUP, "--list", *purposes.split())
        self.assertEqual(status, 0, listed)
        return set(listed.split())

    def test_every_goal_has_what_its_steps_need(self):
        graph = rules()
        self.assertGreater(len(shown()), 25)
        self.assertLessEqual(set(NEEDS), set(graph))
        self.assertIn("selftests", steps("bench-kernel", graph))
        for goal in shown():
            reached = steps(goal, graph)
            needed = set().union(*(NEEDS.get(step, set()) for step in reached))
            if not needed or goal == "setup":
                continue
            with self.subTest(goal):
                self.assertIn("setup", reached, "nothing installs what it needs")
                self.assertEqual(needed - self.packages(goal), set())

    def test_check_debug_builds_the_tools_that_its_tests_call(self):
        """They are found below .build, where another goal may have left them."""
        script = (host.TOP / "scripts/check-driver-debug.sh").read_text(encoding="utf-8")
        files = {name.partition(".")[0] for name in re.search(r'^NODES_TESTS="(.*)"$', script, re.M)[1].split()}
        called = {tool for file in files for tool in re.findall(r"\baries-(?:net|topo|hss)\b", (CLUSTER / f"{file}.py").read_text(encoding="utf-8"))}
        self.assertTrue(called)
        self.assertIn("topo", steps("check-debug", rules()))
