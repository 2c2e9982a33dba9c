# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/unit: which tests a command line names, and what is run of a small project."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from gnitest import unit
from opengni import host
from opengni.errors import UsageError

PROJECT = """project('p', 'c')
test('good', executable('test_good', 'good.c'))
test('bad', executable('test_bad', 'bad.c'))
executable('other', 'other.c')
"""


class Words(unittest.TestCase):
    def test_names(self):
        self.assertEqual(unit.parse(["model/amo", "kgni", "model/test_cq"]), {"model": ["amo", "cq"], "kgni": []})
        with self.assertRaisesRegex(UsageError, "there is no 'nothing': model, "):
            unit.parse(["nothing/amo"])

    def test_every_project_is_there(self):
        for _, source in unit.PROJECTS.values():
            self.assertTrue((host.TOP / source / "meson.build").exists(), source)


class Project(unittest.TestCase):
    def setUp(self):
        self.tree = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("scripts/build-meson.sh", "scripts/lib.sh", "scripts/version.sh", "userlib/meson.build"):
            (self.tree / name).parent.mkdir(exist_ok=True)
            shutil.copy(host.TOP / name, self.tree / name)
        (self.tree / "p").mkdir()
        for name, text in (("meson.build", PROJECT), ("good.c", "int main(void) { return 0; }\n"), ("bad.c", "int main(void) { return 1; }\n"),
                           ("other.c", "this is no C\n")):
            (self.tree / "p" / name).write_text(text, encoding="ascii")
        self.enterContext(mock.patch.object(host, "TOP", self.tree))
        self.enterContext(mock.patch.object(host, "BUILD", self.tree / ".build"))
        self.enterContext(mock.patch.dict(unit.PROJECTS, {"p": ("p", "p"), "again": ("again", "p")}, clear=True))
        self.enterContext(mock.patch.dict("os.environ", {"OPENGNI_BUILD": str(self.tree / ".build")}))

    def unit(self, *words):
        """(exit status, output, errors) of one call."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = unit.main(list(words))
        return status, out.getvalue(), errors.getvalue()

    def test_what_is_asked_for_is_built_and_run(self):
        # what does not compile is none of its business
        self.assertEqual(self.unit("p/good")[0], 0)
        self.assertTrue((self.tree / ".build/p/test_good").exists())
        self.assertFalse((self.tree / ".build/p/test_bad").exists())
        self.assertEqual(self.unit("p/bad")[0], 1)
        self.assertEqual(self.unit("p/good", "p/bad")[0], 1)
        self.assertEqual(self.unit("p/bad", "again/good")[0], 1, "what passes behind it does not make up for it")
        self.assertEqual(self.unit("p")[:2], (0, "p/bad\np/good\n"))
        (self.tree / "p/good.c").write_text("int main(void) { return 2; }\n", encoding="ascii")
        self.assertEqual(self.unit("p/good")[0], 1, "an edit counts")

    def test_names_that_are_not_there(self):
        self.assertEqual(self.unit("p/goood"), (1, "", "scripts/unit: there is no test 'p/goood': p/good\n"))
        self.assertEqual(self.unit("p/xyz"), (1, "", "scripts/unit: there is no test 'p/xyz': scripts/unit p lists them\n"))
        self.assertEqual(self.unit("q/good")[0], 2)
        (self.tree / "p/meson.build").write_text("project('p', 'c')\nthis is wrong(\n", encoding="ascii")
        shutil.rmtree(self.tree / ".build")
        status, _, errors = self.unit("p/good")
        self.assertEqual(status, 1)
        self.assertRegex(errors, "(?s)p cannot be configured:.*meson.build:2")
