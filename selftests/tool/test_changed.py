# SPDX-License-Identifier: GPL-2.0-or-later
"""check.py --changed: which layers and tests a changed file reaches, by a build of the test's own and by the tree's."""

import contextlib
import functools
import io
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from commands import script
from gnitest import builds, layers, mentions, reach, tap
from opengni import host
from opengni.errors import ConfigError

DEFAULT = [layer.name for layer in layers.LAYERS if not layer.slow]
PROJECT = """project('p', 'c')
library = static_library('part', 'part.c')
test('first', executable('test_first', 'first.c', link_with: library))
test('second', executable('test_second', 'second.c'))
test('measures', executable('test_third', 'third.c'), suite: 'plain')
executable('tool', 'tool.c', link_with: library)
executable('later', 'later.c', build_by_default: false)
test('later', find_program('run.sh'), args: [files('data.txt')])
"""
SOURCES = {
    "part.c": '#include "part.h"\nint part(void) { return 0; }\n', "part.h": "int part(void);\n",
    "first.c": '#include "part.h"\n#include "first.h"\nint main(void) { return part(); }\n', "first.h": "\n",
    "second.c": "int main(void) { return 0; }\n", "third.c": "int main(void) { return 0; }\n",
    "tool.c": '#include "part.h"\nint main(void) { return part(); }\n', "later.c": "int main(void) { return 0; }\n",
    "run.sh": "#!/bin/sh\n", "data.txt": "\n",
}


class Compiled(unittest.TestCase):
    """A project of meson, really built."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.source = Path(folder) / "sources"
        cls.source.mkdir()
        (cls.source / "meson.build").write_text(PROJECT, encoding="ascii")
        for name, text in SOURCES.items():
            (cls.source / name).write_text(text, encoding="ascii")
        (cls.source / "run.sh").chmod(0o755)
        cls.enterClassContext(mock.patch.object(host, "BUILD", Path(folder)))
        for command in (["meson", "setup", f"{folder}/p", cls.source], ["ninja", "-C", f"{folder}/p"]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        self.project = builds.Project("p")

    def reached(self, name, **options):
        return self.project.reached_tests(self.source / name, **options)

    def test_sources_and_headers(self):
        for name, expected in (("first.c", {"first"}), ("first.h", {"first"}), ("part.c", {"first"}), ("part.h", {"first"}),
                               ("second.c", {"second"}), ("data.txt", {"later"}), ("run.sh", {"later"}), ("tool.c", set())):
            with self.subTest(name):
                self.assertEqual(self.reached(name), expected)

    def test_suites(self):
        self.assertEqual(self.reached("third.c", suite="plain"), {"measures"})
        self.assertEqual(self.reached("third.c", without=["plain"]), set())
        self.assertEqual(self.reached("first.c", suite="plain"), set())

    def test_products(self):
        """What is not compiled yet may be made from any neighbour."""
        self.assertEqual(self.project.reached_products(self.source / "part.h"), {"libpart.a", "tool", "later"})
        self.assertEqual(self.project.reached_products(self.source / "later.c"), {"later"})
        subprocess.run(["ninja", "-C", self.project.build, "later"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(builds.Project("p").reached_products(self.source / "part.h"), {"libpart.a", "tool"})

    def test_a_library_of_another_project(self):
        """By its path in the folder of builds."""
        other = self.source.parent / "other"
        other.mkdir()
        (other / "own.c").write_text("int part(void);\nint main(void) { return part(); }\n", encoding="ascii")
        (other / "meson.build").write_text("project('o', 'c')\nlib = meson.get_compiler('c').find_library('part', dirs: '" + str(self.project.build) + "')\n"
                                           "test('borrows', executable('borrows', 'own.c', dependencies: lib))\n", encoding="ascii")
        for command in (["meson", "setup", host.BUILD / "o", other], ["ninja", "-C", host.BUILD / "o"]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        project = builds.Project("o")
        self.assertTrue(project.borrows(self.source / "part.h"))
        self.assertFalse(project.borrows(self.source / "second.c"))
        self.assertEqual(project.reached_tests(self.source / "part.h"), {"borrows"})
        self.assertEqual(project.reached_tests(self.source / "second.c"), set())

    def test_the_description_of_the_build(self):
        self.assertTrue(self.project.configured_by(self.source / "meson.build"))
        self.assertFalse(self.project.configured_by(self.source / "part.c"))

    def test_nothing_is_known_of_a_project_that_is_not_configured(self):
        self.assertFalse(builds.Project("nowhere").configured)


class Tree(unittest.TestCase):
    """Files of this tree, with what `make check` has built before its tests run."""

    def chosen(self, *names, layers_=None):
        return reach.chosen(layers_ or DEFAULT, [host.TOP / name for name in names])

    def whole(self, choices):
        return {name for name, choice in choices.items() if choice.everything}

    def test_a_source_of_the_model(self):
        """Its tests, and everything that runs QEMU; of the rest only what runs tools with the model inside."""
        choices = self.chosen("qemu-device/model/nic/time/traffic.cpp")
        self.assertLessEqual({"qtest", "guest", "cluster"}, self.whole(choices))
        self.assertLessEqual({"model-asan", "userlib"}, set(choices))  # tests of libugni link the model's library
        self.assertTrue({"driver", "kgni"}.isdisjoint(choices), choices)
        self.assertFalse(choices["tool"].everything)

    def test_a_test_of_the_model(self):
        """Itself, and whoever reads all tests."""
        choices = self.chosen("qemu-device/model/tests/test_units.cpp")
        # The last two where some of their tests have not been compiled: what these include is not known yet.
        self.assertLessEqual(set(choices) - {"cluster"}, {"tool", "model", "model-asan", "userlib", "sim"})
        if "cluster" in choices:  # who shows how to develop a unit of the model
            self.assertLessEqual(choices["cluster"].tests, {"test_developing", "test_user_pages"})
        self.assertIn("test_claims_table", choices["tool"].tests)

    def test_a_page(self):
        """Tests of that page and of all pages, nothing that is compiled."""
        choices = self.chosen("Documentation/tutorial.md")
        self.assertEqual(set(choices), {"tool", "cluster"})
        self.assertLessEqual({"test_tutorial", "test_doc_commands"}, choices["tool"].tests)
        self.assertIn("test_examples", choices["cluster"].tests)
        self.assertFalse(self.whole(choices))
        self.assertNotIn("test_tutorial", self.chosen("Documentation/hosts.md")["tool"].tests)

    def test_kgni(self):
        """Its tests on the host, the guest, and tests of clusters that load it or a client of it."""
        choices = self.chosen("kgni/kgni_cq.c")
        self.assertLessEqual({"kgni", "guest", "cluster"}, set(choices))
        self.assertTrue({"model", "model-asan", "sim", "userlib", "qtest", "driver"}.isdisjoint(choices), choices)
        if self.modules_of_others(choices):
            return
        self.assertLessEqual({"test_slnd", "test_ipogif", "test_pingpong", "test_krca"}, choices["cluster"].tests)
        self.assertTrue({"test_data", "test_datagrams", "test_nodes", "test_places"}.isdisjoint(choices["cluster"].tests))

    def modules_of_others(self, choices):
        """Whether another tree has built the modules: nothing tells what they are made from, so that all of the layer is chosen."""
        if builds.modules("kgni"):
            return False
        self.assertTrue(choices["cluster"].everything)
        return True

    def test_a_client_of_kgni(self):
        choices = self.chosen("kgni/clients/slnd/slnd_tx.c")
        if self.modules_of_others(choices):
            return
        tests = choices["cluster"].tests
        self.assertLessEqual({"test_slnd", "test_quiesce"}, tests)
        self.assertTrue({"test_ipogif", "test_pingpong", "test_krca"}.isdisjoint(tests))

    def test_the_driver(self):
        choices = self.chosen("driver/core/aries_ecc.c")
        self.assertEqual(self.whole(choices) - {"driver", "kgni"}, {"guest", "cluster"})  # these two, where they have not been built
        self.assertIn("driver", choices)
        self.assertTrue({"model", "sim", "userlib", "qtest"}.isdisjoint(choices), choices)

    def test_libugni_and_a_tool_of_guests(self):
        self.assertLessEqual({"guest", "cluster"}, self.whole(self.chosen("userlib/src/cq.cpp")))
        choices = self.chosen("userlib/tools/gni-trace/main.cpp")
        self.assertIn("test_tools_in_guests", choices["cluster"].tests)
        self.assertNotIn("test_slnd", choices["cluster"].tests)
        self.assertFalse(choices["cluster"].everything)

    def test_programs_that_run_in_guests(self):
        choices = self.chosen("selftests/aries/window.c")
        self.assertEqual((choices["guest"].everything, choices["guest"].tests), (False, {"aries:window"}))
        self.assertEqual(choices["cluster"].tests, {"test_polled"})
        choices = self.chosen("selftests/aries/reset_peer.c")
        self.assertNotIn("guest", choices)
        self.assertEqual(choices["cluster"].tests, {"test_reset"})

    def test_tests_in_python(self):
        choices = self.chosen("selftests/cluster/test_nodes.py")
        self.assertEqual(choices["cluster"].tests, {"test_nodes"})
        choices = self.chosen("selftests/cluster/test_slnd.py")
        self.assertEqual(choices["cluster"].tests, {"test_slnd", "test_quiesce"})
        choices = self.chosen("selftests/lib/gnitest/patience.py")
        self.assertIn("test_patience", choices["tool"].tests)
        self.assertNotIn("test_ras_table", choices["tool"].tests)

    def test_what_nobody_knows_reaches_everything(self):
        for name in ("a.new.file", "scripts/a-new-script", "Makefile", "scripts/lib.sh"):
            with self.subTest(name), mock.patch.object(Path, "exists", lambda _: True):
                choices = self.chosen(name)
                self.assertEqual(self.whole(choices), set(DEFAULT))
                self.assertRegex(choices["tool"].told(), "(nobody knows|everything goes)")

    def test_a_new_source_reaches_its_project(self):
        self.assertIn("userlib", self.whole(self.chosen("userlib/src/new.cpp")))
        self.assertLessEqual({"guest", "cluster"}, self.whole(self.chosen("driver/core/new.c")))

    def test_what_is_gone(self):
        self.assertEqual(self.whole(self.chosen("scripts/opengni/gone.py")), set(DEFAULT))

    def test_what_no_test_looks_at(self):
        self.assertEqual(self.chosen(".gitignore"), {})

    def test_layers_that_are_not_asked_for(self):
        self.assertEqual(set(self.chosen("qemu-device/model/nic/time/traffic.cpp", layers_=["qtest", "kgni"])), {"qtest"})

    def test_every_file_has_its_reason(self):
        """And layers that run in part name tests that there are."""
        choices = self.chosen("kgni/krca_main.c", "Documentation/kgni.md")
        for layer, folder in (("tool", "selftests/tool"), ("cluster", "selftests/cluster")):
            self.assertLessEqual(choices[layer].tests, {path.stem for path in mentions.tests(folder)})
            self.assertEqual(set(choices[layer].why), {"kgni/krca_main.c", "Documentation/kgni.md"})
            self.assertRegex(choices[layer].told(), r"^\S+: .*, and 1 more$")


class Hook(unittest.TestCase):
    def test_layers_of_the_hook(self):
        """Those of this machine, and when all are wanted all of them."""
        text = (host.TOP / "scripts/hooks/pre-commit").read_text(encoding="utf-8")
        own, guests = ([*match.split()] for match in re.findall(r"layers\+?=\(([^)]*)\)", text))
        self.assertEqual(own, [name for name in DEFAULT if name not in reach.QEMUS])
        self.assertEqual(guests, [name for name in DEFAULT if name in reach.QEMUS])


class Program(unittest.TestCase):
    """check.py, with layers in place of the true ones."""

    def run_it(self, choices, *arguments):
        """(what it prints, layers that ran with the names of their tests) when these are chosen."""
        ran = []

        def run(name):
            ran.append((name, layers.only.get(name)))
            return [tap.Case(name, tap.PASS)]

        fakes = [layers.Layer(name, functools.partial(run, name), layers.ALONE) for name in ("tool", "guest", "cluster")]
        check = script(host.TOP / "scripts/check.py")
        out = io.StringIO()
        with mock.patch.object(layers, "LAYERS", fakes), mock.patch.object(reach, "chosen", lambda *_: choices), contextlib.redirect_stdout(out), \
                mock.patch.object(reach, "changed_files", lambda revision: [revision]), mock.patch.object(sys, "argv", ["check.py", *arguments]), \
                mock.patch.dict(layers.only):
            self.status = check.main()
        return out.getvalue(), ran

    def test_what_is_run_and_what_is_not_is_said(self):
        choices = {"tool": reach.Choice(tests={"test_b", "test_a"}, why={"x.md": "they name it"}), "guest": reach.Choice(True, set(), {"y.c": "it is in it"})}
        said, ran = self.run_it(choices, "--changed")
        self.assertEqual(ran, [("tool", {"test_a", "test_b"}), ("guest", None)])
        self.assertRegex(said, r"(?m)^1 files differ from HEAD\n    tool +2 tests, for x.md: they name it: test_a test_b\n"
                               r"    guest +all, for y.c: it is in it\n    cluster +skipped: nothing that has changed reaches it\n")
        self.assertEqual((said.splitlines()[-1], self.status), ("2 passed, 0 failed, 0 skipped", 0))

    def test_nothing(self):
        said, ran = self.run_it({}, "--changed")
        self.assertEqual((ran, said.splitlines()[-1], self.status), ([], "0 passed, 0 failed, 0 skipped", 0))

    def test_a_revision_and_layers(self):
        for arguments, revision in ((["--changed=HEAD~3", "guest"], "HEAD~3"), (["--changed", "guest"], "HEAD"), (["guest", "--changed", "v1"], "v1")):
            with self.subTest(arguments):
                said, ran = self.run_it({"guest": reach.Choice(True)}, *arguments)
                self.assertEqual(ran, [("guest", None)])
                self.assertIn(f"differ from {revision}\n", said)
                self.assertNotIn("cluster", said)

    def test_without_it_everything_runs(self):
        self.assertEqual([name for name, _ in self.run_it({})[1]], ["tool", "guest", "cluster"])


class Files(unittest.TestCase):
    """What has changed, by git."""

    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(reach, "TOP", self.top))
        self.git("init", "-q")
        for name in ("kept", "changed", "removed", "moved", "with space"):
            (self.top / name).write_text("a long line that git could find again\n" * 9, encoding="ascii")
        (self.top / ".gitignore").write_text("ignored\n", encoding="ascii")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.top, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "files")

    def changed(self, revision="HEAD"):
        return {path.name for path in reach.changed_files(revision)}

    def test_all_kinds_of_change(self):
        self.assertEqual(self.changed(), set())
        (self.top / "changed").write_text("other\n", encoding="ascii")
        (self.top / "with space").write_text("other\n", encoding="ascii")
        (self.top / "removed").unlink()
        (self.top / "new").touch()
        (self.top / "ignored").touch()
        self.git("mv", "moved", "elsewhere")
        expected = {"changed", "with space", "removed", "new", "moved", "elsewhere"}
        self.assertEqual(self.changed(), expected)
        self.commit()
        self.assertEqual((self.changed(), self.changed("HEAD~1")), (set(), expected))

    def test_a_revision_that_there_is_not(self):
        with self.assertRaisesRegex(ConfigError, "git diff: .*nowhere"):
            self.changed("nowhere")
