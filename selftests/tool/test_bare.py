# SPDX-License-Identifier: GPL-2.0-or-later
"""Each goal of `make help` in a Debian 12 that has make and nothing else: it installs what it needs, and does what it says."""

import subprocess
import unittest

from chroot import KERNEL, BareCase
from goals import shown
from gnitest.testing import slow_tests
from opengni import host

TREE = "opengni"
# Built for the tests themselves, or by goals of which something shall be left to do here.
NOT_BROUGHT = ("apt", "check*", "run", "logs", "doc", "deb", "debian-12-*", "bench", "figures", "interop", "mypy", "kernel-debug",
               "*-check", "*-asan", "*-tsan", "selftests", "ssh", "net", "initramfs-ssh-*", "initramfs-net-*", "initramfs-check-*")
# A short use of each goal, and something that it prints.
GOALS = {
    "run": ("ARGS='--tests=fma-put --max-size=64'", "PASS: "),
    "shell": ("</dev/null", ""),
    "bench": ("ARGS='--iterations 10 --max-size 64K' PLOT=1", r"bench\.json"),
    "bench-sim": ("ARGS=--help", ""),
    "bench-kernel": ("ARGS='--rounds 1'", ""),
    "figures": ("ARGS='hops --scale tiny --to /tmp/figures'", ""),
    "doc": ("", r"\.build/doc/html"),
    "doc-page": ("PAGE=kgni", r"kgni\.html"),
    "man": ("", r"\.build/doc/man"),
    "completion": ("", "completion"),
    "check": ("ARGS=driver", r"\d+ passed, 0 failed"),
    "check-all": ("ARGS=driver", r"\d+ passed, 0 failed"),
    "chaos": ("ARGS='--rounds 1 --nodes 2'", ""),
    "lint": ("ARGS=--quick", ""),
    "share": ("", ""),
    "format": ("&& git diff --exit-code --stat", ""),
    "install": ("DESTDIR=/tmp/there", ""),
    "uninstall": ("DESTDIR=/tmp/there", ""),
    "deb": ("", r"\.deb$"),
    "help": ("", "^Variables: "),
}
# Nothing but steps that lead to others of these, and what removes files.
STEPS = ("all", "setup", "kernel", "model", "topo", "sim", "qemu", "driver", "kgni", "userlib", "tools", "agent", "initramfs", "linux-source", "selftests",
         "ssh-image", "net-image", "check-image", "clean", "distclean", "cache-clean")
# They have no short use; what they install is compared with what they need by test_goals.
LONG = {"check-debug": "builds a kernel", "interop": "builds Open MPI and UCX", "debian-image": "makes a disk, see test_disk"}


class Table(unittest.TestCase):
    def test_has_each_goal(self):
        self.assertEqual(sorted([*GOALS, *STEPS, *LONG]), sorted(shown()))


@unittest.skipUnless(slow_tests(), "in check-all")
class Bare(BareCase):
    GOAL = "all"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        excluded = [f"--exclude=./{host.BUILD.name}/{name}" for name in NOT_BROUGHT]
        target = cls.root / TREE
        target.mkdir()
        with subprocess.Popen(["tar", "-C", host.TOP, *excluded, "-cf", "-", "."], stdout=subprocess.PIPE) as source:
            subprocess.run(["tar", "-C", target, "-xf", "-"], stdin=source.stdout, check=True)
        status, output = cls.place.sh("apt-get update -q && apt-get install -qy --no-install-recommends make && rm -rf /var/cache/apt/archives/*.deb")
        if status:
            raise AssertionError(output)

    def test_goals(self):
        for goal, (options, printed) in GOALS.items():
            with self.subTest(goal):
                status, output = self.place.try_out(f"make --no-print-directory {goal} {options}", f"/{TREE}", KERNEL=KERNEL)
                self.assertEqual(status, 0, output[-3000:])
                self.assertRegex(output, f"(?m){printed}")

    def test_compilers(self):
        """All that is compiled in some minutes; QEMU stays."""
        folder = host.BUILD.name
        status, output = self.place.try_out(f"cd {folder} && rm -rf model sim userlib stage driver-* kgni-* agent && cd .. && make --no-print-directory all",
                                            f"/{TREE}", KERNEL=KERNEL)
        self.assertEqual(status, 0, output[-3000:])
