# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md from top to bottom: each command that it shows is run, in its order, and prints what it should."""

import re
import unittest

from gnitest import pages
from gnitest.testing import slow_tests
from shown import Step, StepCase

README = pages.text("README.md")
# The commands of "A cluster of your own"; another one there needs a line here.
STEPS = {
    "scripts/cluster up -n 4; scripts/aprun -n 8 -N 2 pmi-info; scripts/cluster down": Step(r"node 3 up after(?s:.*)rank 7 of 8|7 of 8"),
    "scripts/cluster run -n 4 -- gni-perf --tests fma-put": Step(r"node 0: .*fma-put"),
    "scripts/cluster up -n 2": Step(r"node 1 up after .* s, Linux"),
    "scripts/cluster exec --node 1 -- aries-info": Step(r"Aries"),
    "scripts/cluster exec --node 0 -- gni-info": Step(r"kgni0"),
    "scripts/cluster shell 0": Step(r"SHELL-ON-node0", "echo SHELL-ON-$(hostname)\nexit\n"),
    "scripts/cluster cp README.md all:/tmp": Step(r"^$"),
    "scripts/cluster kill 1; scripts/cluster start 1": Step(r"^$"),
    "scripts/cluster down": Step(r"^$"),
}
# Of those in sentences and of "Two commands", who runs each: a file below the project's folder, and words in it.
ELSEWHERE = {
    "make run": ("selftests/cluster/test_readme.py", "def test_make_run("),
    "make check": ("scripts/check.py", "Run all layers of tests"),
    "make help": ("selftests/cluster/test_readme.py", "def test_make_help("),
    "KERNEL=6.12 make run": ("selftests/lib/gnitest/layers.py", "def other_kernel("),
    "make run KDIR=~/linux": ("selftests/tool/test_own_kernel.py", '"make run KDIR=~/linux": '),
    "QEMU=10 make run": ("selftests/lib/gnitest/layers.py", "def other_qemu("),
    "make doc": ("selftests/tool/test_manuals.py", '[DOC, "man", "html"'),
    "make man": ("selftests/tool/test_manuals.py", '[DOC, "man", "html"'),
    "make install": ("selftests/tool/test_install_page.py", '"make install": '),
    "make run OVERLAY=DIR": ("selftests/cluster/test_readme.py", "def test_make_run_overlay("),
    "make deb": ("selftests/tool/chroot.py", 'GOAL = "deb"'),
    "make deb debian-image": ("selftests/tool/test_stranger.py", '"debian-image"'),
    "make bench": ("selftests/cluster/test_readme.py", "def test_make_bench("),
    "scripts/cluster fault --list": ("selftests/cluster/test_cluster_commands.py", '"fault", "--list"'),
}
# A part of the drawing of "What is in it".
DRAWN = re.compile(r"^[ +|]")


class Shown(StepCase):
    def test_every_command_is_known(self):
        """Those of "From packages, on Debian" are run by selftests/tool/test_stranger.py."""
        stranger = pages.commands(pages.section(README, "From packages, on Debian"))
        own = pages.commands(pages.section(README, "A cluster of your own"))
        self.assertEqual(own, list(STEPS))
        shown = [line for line in pages.commands(README) if line and not DRAWN.match(line)]
        self.assertEqual([line for line in shown if line not in ELSEWHERE], own + stranger)

    def test_who_runs_what_is_in_sentences(self):
        shown = {*pages.inline(README), *pages.commands(pages.section(README, "Two commands"))}
        self.assertEqual(shown, set(ELSEWHERE))
        for command, (name, words) in ELSEWHERE.items():
            with self.subTest(command):
                self.assertIn(words, pages.text(name))

    def test_make_help(self):
        """The targets that the page names are among those."""
        status, output = self.place("help").sh("make help")
        self.assertEqual(status, 0, output)
        for target in ("run", "check", "install", "deb", "debian-image", "bench", "doc", "man"):
            self.assertRegex(output, rf"(?m)^  {target} +\w")


@unittest.skipUnless(slow_tests(), "in check-all")
class Commands(StepCase):
    def made(self, command):
        """What it prints; it must succeed."""
        status, output = self.place("readme").sh(command)
        self.assertEqual(status, 0, output)
        return output

    def test_a_cluster_of_your_own(self):
        self.run_steps(self.place("readme"), STEPS)

    def test_make_run(self):
        """The first command: all steps, two nodes, the job's table."""
        self.assertRegex(self.made("make run ARGS='--tests fma-put --max-size 4K'"), r"\[\d+/\d+\] (?s:.*)fma-put")

    def test_make_run_overlay(self):
        """A program of the user's is in the guests. Afterwards they are as before."""
        place = self.place("overlay")
        (place.folder / "tree/usr/bin").mkdir(parents=True)
        program = place.folder / "tree/usr/bin/gni-perf"
        program.write_text("#!/bin/sh\necho OVERLAY on $(uname -n)\n", encoding="ascii")
        program.chmod(0o755)
        self.addCleanup(place.sh, "make initramfs")
        status, output = place.sh(f"make run OVERLAY={place.folder}/tree")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"(?s)OVERLAY on node\d.*OVERLAY on node\d")

    def test_make_bench(self):
        """The smallest one: numbers beside their floors."""
        place = self.place("bench")
        status, output = place.sh(f"make bench ARGS='--iterations 5 --max-size 4K --json {place.folder}/bench.json'")
        self.assertEqual(status, 0, output)
        self.assertIn("floor", output)
        self.assertTrue((place.folder / "bench.json").exists())
