# SPDX-License-Identifier: GPL-2.0-or-later
"""What trees of one user share of their builds (scripts/stored.sh): when a command runs, and what is taken instead."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from commands import run
from opengni import host

# Makes its results of the input, in two folders; many bytes, so that packing them takes a while.
MAKE = """echo ran >>"$OPENGNI_BUILD/log"; mkdir -p "$1/sub"; cp "$2" "$1/a.ko"
for n in 1 2 3 4 5 6 7 8; do head -c 250000 /dev/zero; cat "$2"; done >"$1/sub/b.ko"; echo side >"$1/a.o"
"""


class Stored(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.input = self.top / "source/input"
        self.input.parent.mkdir()
        self.input.write_text("one", encoding="ascii")
        self.files = self.top / "opengni/files"

    def line(self, tree, more=(), jobs=2):
        """(command, environment) of a step in a tree."""
        build = self.top / tree
        build.mkdir(exist_ok=True)
        env = {name: value for name, value in os.environ.items() if name != "FORCE"}
        return ([host.TOP / "scripts/stored.sh", "-d", build / "out", "-f", "*.ko", "-f", "sub/b.ko", "-i", self.input.parent, *more, "--",
                 "bash", "-c", MAKE, "make", build / "out", self.input, f"-j {jobs}"],
                {**env, "XDG_CACHE_HOME": str(self.top), "OPENGNI_BUILD": str(build)})

    def step(self, tree, more=(), variables=(), jobs=2):
        """Whether the command ran; its results are those of the input in any case."""
        command, env = self.line(tree, more, jobs)
        log = self.top / tree / "log"
        before = log.read_text(encoding="ascii") if log.exists() else ""
        status, output = run(*command, env={**env, **dict(variables)})
        self.assertEqual(status, 0, output)
        self.check(tree)
        ran = (log.read_text(encoding="ascii") if log.exists() else "") != before
        self.assertEqual("taken from" in output, not ran, output)
        self.assertEqual([path for path in (self.top / tree).iterdir() if path.name.startswith("stored.")], [])
        return ran

    def check(self, tree):
        """The results are whole, and of this input."""
        out = self.top / tree / "out"
        text = self.input.read_bytes()
        self.assertEqual((out / "a.ko").read_bytes(), text)
        self.assertEqual((out / "sub/b.ko").read_bytes(), (bytes(250000) + text) * 8)

    def test_a_second_tree_takes_what_the_first_has_made(self):
        self.assertTrue(self.step("one"))
        self.assertFalse(self.step("two", jobs=7))
        self.assertFalse((self.top / "two/out/a.o").exists())
        self.assertTrue(self.step("three", variables={"FORCE": "1"}.items()))
        for name, more in {"text": ("-e", "6.12"), "place": ("-e", f"{self.top}/other")}.items():
            self.assertTrue(self.step(name, more))
        self.input.write_text("other", encoding="ascii")
        self.assertTrue(self.step("four"))
        self.assertFalse(self.step("five"))

    def test_a_whole_folder(self):
        """Results that are named by a pattern alone, with folders below; whoever wants less gets less."""
        self.assertTrue(self.step("one", ("-f", "*")))
        self.assertFalse(self.step("two", ("-f", "*")))
        one, two = ({str(path.relative_to(self.top / tree)): path.is_dir() or path.read_bytes() for path in (self.top / tree / "out").rglob("*")}
                    for tree in ("one", "two"))
        self.assertEqual(sorted(one), ["out/a.ko", "out/a.o", "out/sub", "out/sub/b.ko"])
        self.assertEqual(one, two)
        self.assertTrue(self.step("three"))
        self.assertFalse(self.step("four"))
        self.assertFalse((self.top / "four/out/a.o").exists())

    def test_what_is_made_from_what_is_there_is_not_kept(self):
        self.step("one")
        kept = set(self.files.iterdir())
        self.input.write_text("edited", encoding="ascii")
        self.assertTrue(self.step("one"))
        self.assertEqual(set(self.files.iterdir()), kept)

    def test_an_entry_that_is_not_whole_is_not_used(self):
        more = ("-f", "*")
        self.step("one", more)
        for number, size in enumerate((0, 1, 5000, 1 << 20)):
            with self.subTest(size=size):
                entry, = self.files.iterdir()
                os.truncate(entry, size)
                self.assertTrue(self.step(f"two{number}", more))
                self.assertFalse(self.step(f"three{number}", more))

    def test_whoever_is_killed_leaves_nothing_that_is_used(self):
        for number in range(8):
            more = ("-f", "*") if number % 2 else ()  # with all that is in the folder
            command, env = self.line(f"killed{number}", more)
            with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, start_new_session=True) as process:
                time.sleep(0.04 * (number + 1))
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it was done before
            self.step(f"after{number}", more)
            # with what was half done in its own tree, as well
            self.step_again(f"killed{number}", more)
            for path in self.files.iterdir():
                path.unlink()

    def step_again(self, tree, more):
        """A step in a tree where one was killed: whatever lies there, the results are right."""
        command, env = self.line(tree, more)
        status, output = run(*command, env=env)
        self.assertEqual(status, 0, output)
        self.check(tree)

    def test_two_at_once(self):
        processes = []
        for tree in ("one", "two", "three"):
            command, env = self.line(tree)
            processes.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL))  # pylint: disable=consider-using-with
        self.assertEqual([process.wait() for process in processes], [0, 0, 0])
        for tree in ("one", "two", "three"):
            self.check(tree)
        self.assertFalse(self.step("four"))

    def test_a_full_disk_is_told_and_ends_nothing(self):
        command, env = self.line("one")
        # So many KiB has no file: the larger result can be written, an archive of both cannot.
        text = 'trap "" XFSZ; ulimit -f 1956; exec "$@"'
        status, output = run("bash", "-c", text, "limit", *command, env=env)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, "not kept for other trees: ")
        self.check("one")
        self.assertTrue(self.step("two"))

    def test_a_command_that_fails(self):
        command, env = self.line("one")
        command[command.index("bash") + 2] = 'mkdir -p "$1"; echo half >"$1/a.ko"; exit 3'
        self.assertEqual(run(*command, env=env)[0], 3)
        self.assertFalse(self.files.exists())
        shutil.rmtree(self.top / "one")
        self.assertTrue(self.step("one"))
