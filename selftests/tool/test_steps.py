# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Steps of the build: what is done again, and what is not, in a tree and in its copy."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

SCRIPTS = ("step.sh", "lib.sh", "version.sh", "build-meson.sh")
PROJECT = "project('p', 'c')\nexecutable('p', 'p.c')\n"
PROGRAM = '#include <stdio.h>\nint main(void) { puts("%s"); return 0; }\n'


def small_tree(top):
    """A tree with the scripts of a step, two files that the step reads, and what says its version."""
    for folder in ("scripts", "source", "userlib"):
        (top / folder).mkdir(parents=True)
    for name in SCRIPTS:
        shutil.copy(host.TOP / "scripts" / name, top / "scripts" / name)
    shutil.copy(host.TOP / "userlib/meson.build", top / "userlib/meson.build")
    (top / "source/one").write_text("1\n", encoding="ascii")
    (top / "source/two").write_text("2\n", encoding="ascii")


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree, self.copy = Path(folder.name) / "tree", Path(folder.name) / "elsewhere/of another length"
        small_tree(self.tree)

    def run_script(self, top, *words, **variables):
        env = {name: value for name, value in os.environ.items()
               if name not in ("OPENGNI_BUILD", "MAKEFLAGS", "V", "FORCE", "QUIET_STEPS") and not name.startswith("CCACHE_")}
        env.update(variables)
        done = subprocess.run(words, cwd=top, env=env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def step(self, top, word="made"):
        """A step that reads source/ and makes .build/made, each named as make names it: by an absolute path."""
        made = top / ".build/made"
        return self.run_script(top, top / "scripts/step.sh", "made", "1/1", "made", "-i", top / "source", "-e", made, "-o", made, "--",
                               "bash", "-c", f"echo {word} >'{made}'")

    def done(self, top, **options):
        """Whether the step does anything."""
        return "up to date" not in self.step(top, **options)

    def test_once(self):
        self.assertTrue(self.done(self.tree))
        self.assertFalse(self.done(self.tree))

    def test_contents_names_and_commands_count(self):
        self.step(self.tree)
        (self.tree / "source/one").write_text("3\n", encoding="ascii")
        self.assertTrue(self.done(self.tree), "contents")
        (self.tree / "source/two").rename(self.tree / "source/three")
        self.assertTrue(self.done(self.tree), "name")
        self.assertTrue(self.done(self.tree, word="other"), "command")
        (self.tree / ".build/made").unlink()
        self.assertTrue(self.done(self.tree, word="other"), "what it makes is gone")
        self.assertFalse(self.done(self.tree, word="other"))

    def test_the_last_line_names_the_cause(self):
        calls = "for i in {1..40}; do echo \"cc -Wno-error -c $i.c -o $i.o\"; done"
        for script, cause in (("echo rsync: No such file or directory; %s; echo 'make[2]: *** [Makefile:3: install] Error 2'; exit 2",
                               "rsync: No such file or directory"),
                              ("echo a.c:1: error: bad; echo ninja: build stopped: subcommand failed.; %s; exit 1", "a.c:1: error: bad"),
                              ("%s; echo 0 errors; exit 1", "0 errors"), ("exit 3", "exit status 3, and no output")):
            for verbose in ("", "1"):
                with self.subTest(cause, verbose=verbose):
                    words = [str(self.tree / "scripts/step.sh"), "made", "1/1", "made", "--", "bash", "-c", script.replace("%s", calls)]
                    env = {name: value for name, value in os.environ.items() if name not in ("OPENGNI_BUILD", "MAKEFLAGS", "QUIET_STEPS")}
                    done = subprocess.run(words, cwd=self.tree, env={**env, "V": verbose}, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 1)
                    self.assertEqual(done.stderr.splitlines()[-1], f"made: {cause}")

    def test_copy_is_up_to_date(self):
        self.step(self.tree)
        shutil.copytree(self.tree, self.copy)
        shutil.rmtree(self.tree)
        self.assertFalse(self.done(self.copy))
        (self.copy / "source/one").write_text("3\n", encoding="ascii")
        self.assertTrue(self.done(self.copy))

    def test_copied_project_is_configured_for_its_place(self):
        """What meson has configured names its place: in a copy, the copy's sources are compiled."""
        def build(top):
            self.run_script(top, top / "scripts/build-meson.sh", build_dir(top), top / "source")
            return self.run_script(top, build_dir(top) / "p")

        def build_dir(top):
            return top / ".build/p"
        (self.tree / "source/meson.build").write_text(PROJECT, encoding="ascii")
        (self.tree / "source/p.c").write_text(PROGRAM % "tree", encoding="ascii")
        self.assertEqual(build(self.tree), "tree\n")
        shutil.copytree(self.tree, self.copy, copy_function=shutil.copy2)
        (self.copy / "source/p.c").write_text(PROGRAM % "copy", encoding="ascii")
        self.assertEqual(build(self.copy), "copy\n")
        self.assertEqual(build(self.tree), "tree\n")

    def test_trees_share_what_is_compiled(self):
        (self.tree / "source/meson.build").write_text(PROJECT, encoding="ascii")
        (self.tree / "source/p.c").write_text(PROGRAM % "both", encoding="ascii")
        shutil.copytree(self.tree, self.copy)
        cache = {"XDG_CACHE_HOME": str(self.tree.parent / "cache")}
        for top in (self.tree, self.copy):
            self.run_script(top, top / "scripts/build-meson.sh", top / ".build/p", top / "source", **cache)
            self.assertEqual(self.run_script(top, top / ".build/p/p"), "both\n")
        done = self.run_script(self.tree, "bash", "-c", ". scripts/lib.sh; ccache --print-stats", **cache)
        self.assertRegex(done, r"(?m)^direct_cache_hit\s+1$")


if __name__ == "__main__":
    unittest.main()
