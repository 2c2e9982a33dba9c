# SPDX-License-Identifier: GPL-2.0-or-later
"""A stranger with README.md: its section about packages, command by command, in a Debian that has nothing else of this project."""

import os
import re
import shlex
import shutil
import unittest

from chroot import DEBS, ChrootCase
from commands import run
from installation import KERNEL
from gnitest.testing import slow_tests
from opengni import host

README = (host.TOP / "README.md").read_text(encoding="utf-8")
IMAGE = host.BUILD / f"debian-12-{KERNEL}.qcow2"
MARK = "@@ "
# What each command of the section prints; another command there needs a line here.
PRINTS = {
    "apt install -y ./opengni-{tools,qemu}_*.deb ./lib{ugni,pmi-opengni}{0,-dev}_*.deb ./libugni-companions0_*.deb "
    "gcc pkg-config qemu-utils tshark": r"Setting up opengni-tools",
    "gcc -o first-put /usr/share/doc/libugni-dev/examples/first-put.c $(pkg-config --cflags --libs cray-ugni cray-pmi)": r"^$",
    "cluster up -n 2 --disk debian-12-6.1.qcow2": r"node 1 up after .* s, Linux",
    "cluster cp first-put all:/root/": r"^$",
    "cluster trace 0 start put.pcapng": r"/put\.pcapng$",
    "aprun -n 2 -N 1 /root/first-put": r'rank 1: got "Hello from rank 0"',
    "cluster trace 0 stop": r"^$",
    "tshark -r put.pcapng": r"node 0 → node 1 +Aries \d+ Put \d+ bytes",
    "aries-net events >events & sleep 2": r"^$",
    "aries-net fail node 1; sleep 2": r"^$",
    "aries-net restore node 1; sleep 2": r"^$",
    "cluster down; cat events": r"node 1 \(.*\): (\w+) -> \1, cut off\n(?s:.*)node 1 \(.*\): \1, cut off -> \1\n",
}


def steps():
    """The commands of the section, without what is said about them."""
    section = re.search(r"^## From packages, on Debian$(.*?)^(?:## |`scripts)", README, re.M | re.S)[1]
    return [re.sub(r"\s+#.*", "", line) for line in re.findall(r"^ {4}(.*)$", section, re.M)]


class Shown(unittest.TestCase):
    def test_every_command_is_known(self):
        self.assertEqual(steps(), list(PRINTS))


@unittest.skipUnless(slow_tests(), "in check-all")
class Stranger(ChrootCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        status, output = run("make", "-C", host.TOP, "--no-print-directory", "debian-image")
        if status:
            raise AssertionError(output)

    def test_from_packages_to_an_event(self):
        """One shell, as the stranger has: what is booted in it is seen by its other commands."""
        place = self.root / "root/opengni"
        place.mkdir()
        for path in (*DEBS.glob("*.deb"), IMAGE):
            if "-dbgsym_" not in path.name:
                shutil.copy(path, place)
        if KERNEL != "6.1":
            os.rename(place / IMAGE.name, place / "debian-12-6.1.qcow2")
        script = ["trap 'cluster down 2>/dev/null || true' EXIT", "cd /root/opengni", "apt-get update -q"]
        for number, command in enumerate(steps()):
            script += [f"echo; echo '{MARK}{number}'", command]
        output = self.sh(f"exec bash -ec {shlex.quote(chr(10).join(script))}")
        parts = re.split(rf"^{MARK}\d+$", output, flags=re.M)[1:]
        self.assertEqual(len(parts), len(PRINTS))
        for (command, pattern), printed in zip(PRINTS.items(), parts):
            with self.subTest(command):
                self.assertRegex(printed.strip(), pattern)
