# SPDX-License-Identifier: GPL-2.0-or-later
"""The series for QEMU's mailing list: it is made, compiles, and the test that it adds passes."""

import os
import shutil
import unittest

from commands import run
from gnitest.testing import slow_tests
from opengni import host

# The series has git's author; whoever runs the tests need not be one.
AUTHOR = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Nobody",
          "GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "nobody@example.org"}


@unittest.skipUnless(slow_tests(), "compiles QEMU: in check-all")
@unittest.skipUnless(shutil.which("clang-format"), "clang-format is missing, which brings the series into QEMU's form: make lint")
class Series(unittest.TestCase):
    def script(self, name):
        status, output = run(host.TOP / "scripts" / name, env={**os.environ, **AUTHOR})
        self.assertEqual(status, 0, output)
        return output

    def test_it_compiles_and_its_test_passes(self):
        self.assertRegex(self.script("qemu-series.py"), r"checkpatch\.pl: 0 errors")
        output = self.script("compile-series.sh")
        for name in ("present", "no-migration"):
            self.assertRegex(output, rf"(?m)^ok \d+ .*/aries-nic/{name}$")
