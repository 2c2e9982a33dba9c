# SPDX-License-Identifier: GPL-2.0-or-later
"""Circles among the files of a module, and uses of higher folders, are found in what the compiler has made."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

CHECK = host.TOP / "scripts" / "check-circles.py"


class Circles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="opengni-circles-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def check(self, uses, folders="low high", sources=None):
        """Compile a module of which each file has a function of its own name and calls others: {"low/a": ["high/b"]}."""
        (self.folder / "Kbuild").write_text(f"folders := {folders}\n" if folders else "obj-m := m.o\n")
        for name, called in uses.items():
            path = self.folder / f"{name}.c"
            path.parent.mkdir(exist_ok=True)
            functions = [Path(one).name for one in called]
            path.write_text("".join(f"void {one}(void);\n" for one in functions) +
                            f"void {path.stem}(void)\n{{\n" + "".join(f"\t{one}();\n" for one in functions) + "}\n")
            subprocess.run(["gcc", "-c", "-o", path.with_suffix(".o"), path], check=True)
        for name, text in (sources or {}).items():
            (self.folder / name).write_text(text)
        (self.folder / "m.mod").write_text("".join(f"{self.folder}/{name}.o\n" for name in uses))
        (self.folder / "modules.order").write_text(f"{self.folder}/m.ko\n")
        done = subprocess.run([CHECK, self.folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_none(self):
        self.assertEqual(self.check({"main": ["high/c"], "high/c": ["low/a", "low/b"], "low/a": ["low/b"], "low/b": []}), (0, ""))

    def test_two_files_may_use_each_other(self):
        self.assertEqual(self.check({"low/a": ["low/b"], "low/b": ["low/a"], "low/c": ["low/a"]}), (0, ""))

    def test_a_circle(self):
        """Each arrow that makes it is told, and no other."""
        status, text = self.check({"low/a": ["low/b", "low/d"], "low/b": ["low/c"], "low/c": ["low/a"], "low/d": [], "low/e": ["low/a"]})
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines(), ["m: circle of 3 files: low/a low/b low/c", "circle: low/a uses low/b: b", "circle: low/b uses low/c: c",
                                             "circle: low/c uses low/a: a"])

    def test_two_circles(self):
        uses = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["e", "a"], "e": ["f"], "f": ["d"]}
        status, text = self.check(uses, folders="")
        self.assertEqual((status, text.count("circle of 3 files")), (1, 2))

    def test_upwards(self):
        status, text = self.check({"low/a": ["high/b", "main"], "high/b": [], "main": []})
        self.assertEqual((status, text), (1, "upwards: low/a uses high/b: b\nupwards: low/a uses main: main\n"))

    def test_a_hook_of_shared_code(self):
        """driver/gni declares what it wants of whoever compiles it."""
        self.assertEqual(self.check({"low/a": ["gni_env_now"], "gni_env_now": []}), (0, ""))

    def test_an_include_upwards(self):
        calls = {"low/a": [], "high/b": ["low/a"]}
        self.assertEqual(self.check(calls, sources={"high/b.h": '#include "a.h"\n', "low/a.h": ""}), (0, ""))
        self.assertEqual(self.check(calls, sources={"low/a.h": '#include "b.h"\n'}), (1, "upwards: low/a.h includes high/b.h\n"))

    def test_nothing_was_built(self):
        done = subprocess.run([CHECK, self.folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("modules.order is missing: build the modules first", done.stderr)
