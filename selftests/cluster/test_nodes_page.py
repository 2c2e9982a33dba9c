# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/nodes.md: the commands of its first section are run in their order, and print what they should."""

import unittest

from debian_image import make_image
from gnitest import pages
from gnitest.testing import slow_tests
from shown import Step, StepCase

PAGE = pages.text("Documentation/nodes.md")
STEPS = {
    "make debian-image": Step(r"(?m)^scripts/cluster up -n 2 --disk /"),
    "scripts/cluster up -n 2 --disk .build/debian-12-6.1.qcow2": Step(r"node 1 up after .* s, Linux"),
    "scripts/aprun -n 2 -N 1 gni-perf --tests fma-put": Step(r"fma-put"),
    "scripts/cluster exec --node 0 -- systemctl status gni-agent": Step(r"Active: active \(running\)"),
    "scripts/cluster exec --node 0 -- journalctl -b -o cat -u opengni-node": Step(r"Finished opengni-node\.service"),
    "scripts/cluster ssh 0": Step(r"SSH-ON-node0", "echo SSH-ON-$(hostname)\nexit\n"),
    "scripts/cluster down": Step(r"^$"),
}


class Shown(unittest.TestCase):
    def test_every_command_is_known(self):
        """Those of section 4 are run by selftests/tool/test_chroot.py."""
        boots = pages.commands(pages.section(PAGE, "3. How it boots"))
        packages = pages.commands(pages.section(PAGE, "4. What a system needs to be a node"))
        self.assertEqual(pages.commands(PAGE), [*STEPS, *boots, *packages])

    def test_the_boot_loader_has_what_is_shown(self):
        lines = [line.strip() for line in pages.text("scripts/debian-image/grub.cfg").splitlines()]
        for line in pages.commands(pages.section(PAGE, "3. How it boots")):
            self.assertIn(line, lines)


@unittest.skipUnless(slow_tests(), "in check-all")
class Commands(StepCase):
    def test_debian_in_two_commands(self):
        make_image()  # or skip
        self.run_steps(self.place("nodes"), STEPS)
