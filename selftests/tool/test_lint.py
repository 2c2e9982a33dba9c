# SPDX-License-Identifier: GPL-2.0-or-later
"""What any clone must be able to say of itself: licences, Python's style and types, news of this version."""

import re
import subprocess
import unittest

from opengni import host

TOP = host.TOP


class Lint(unittest.TestCase):
    def good(self, *words):
        done = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-1000:])

    def test_python(self):
        self.good("scripts/lint-python.sh")

    def test_licences(self):
        self.good("scripts/copyright-lines.py")
        self.good("reuse", "lint", "--quiet")

    def test_news_of_this_version(self):
        build = (TOP / "userlib/meson.build").read_text(encoding="utf-8")
        news = (TOP / "Documentation/NEWS.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"version: '([\d.]+)'", build)[0], re.findall(r"^## (\S+)", news, re.MULTILINE)[0])

    def test_map_of_tests(self):
        """CONTRIBUTING has every layer."""
        text = (TOP / "Documentation/CONTRIBUTING.md").read_text(encoding="utf-8")
        layers = subprocess.run(["scripts/check.py", "--list"], cwd=TOP, capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual([layer for layer in layers if f"| {layer} |" not in text], [])

    def test_forges_run_the_same(self):
        """The files for public forges start what .ci/run starts, by name."""
        for name in (".github/workflows/ci.yml", ".gitlab-ci.yml"):
            self.assertIn(".ci/run", (TOP / name).read_text(encoding="utf-8"))
