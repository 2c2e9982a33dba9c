# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of the build: what is done again, and what is not, in a tree and in its copy."""

import contextlib
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from gnitest.testing import wait_until
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


def steps_of(group):
    """Numbers of the processes of a group that run step.sh; zombies do not count."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, of = (place / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[:3]
            if of == str(group) and state != "Z" and b"step.sh" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


class Steps(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tree, self.copy = folder / "tree", folder / "elsewhere/of another length"
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

    def words(self, script):
        """A step that runs a script."""
        return [str(self.tree / "scripts/step.sh"), "made", "1/2", "making", "--", "bash", "-c", script]

    def test_a_line_a_minute_without_a_terminal(self):
        script = "echo '[3/40] Compiling a.c'; for i in {1..50}; do sleep 0.1; done"
        said = self.run_script(self.tree, *self.words(script), OPENGNI_STEP_MINUTE="2").splitlines()
        self.assertRegex(said[-1], r"^\[1/2\] making \.\.\. \d+ s$")
        self.assertTrue(1 <= len(said) - 1 <= 4, said)
        for line in said[:-1]:
            self.assertRegex(line, r"^\[1/2\] making \.\.\. 3/40 after \d+ s$")
        said = self.run_script(self.tree, *self.words("sleep 2")).splitlines()
        self.assertEqual(len(said), 1, "a short step is one line")
        self.assertEqual(self.run_script(self.tree, *self.words(script), OPENGNI_STEP_MINUTE="1", QUIET_STEPS="1"), "")

    def test_how_far_it_is_at_a_terminal(self):
        script = "echo 'some words'; sleep 3; echo '[3/40] Compiling a.c'; sleep 3; echo '[39/40] Linking'; sleep 3"
        master, slave = pty.openpty()
        process = subprocess.Popen(self.words(script), cwd=self.tree, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, start_new_session=True,
                                   env={name: value for name, value in os.environ.items() if name not in ("OPENGNI_BUILD", "MAKEFLAGS", "V", "QUIET_STEPS")})
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(master, 4096):
                said += data
        os.close(master)
        self.assertEqual(process.wait(), 0)
        text = said.decode("ascii")
        for word in ("making ... some words, ", "making ... 3/40, ", "making ... 39/40, "):
            self.assertIn(word, text)
        self.assertRegex(text, r"\r\x1b\[K\[1/2\] making \.\.\. \d+ s\r\n$")
        self.assertEqual(text.count("\n"), 1, "all on one line")

    def test_what_tells_how_far_it_is_ends_with_its_step(self):
        """By a key, as all of it, or by itself; what it runs has then lost it."""
        env = {name: value for name, value in os.environ.items() if name not in ("OPENGNI_BUILD", "MAKEFLAGS", "V", "QUIET_STEPS")}
        for end, number in ((os.killpg, signal.SIGINT), (os.kill, signal.SIGKILL)):
            with self.subTest(number):
                process = subprocess.Popen(self.words("echo begun; sleep 100"), cwd=self.tree, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, start_new_session=True, env={**env, "OPENGNI_STEP_MINUTE": "1"},
                                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                log = self.tree / ".build/logs/made.log"
                self.assertTrue(wait_until(lambda log=log: log.exists() and log.read_text(encoding="ascii"), 60))
                end(process.pid, number)
                process.wait(60)
                self.assertTrue(wait_until(lambda process=process: not steps_of(process.pid), 60), steps_of(process.pid))
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                log.unlink()

    def test_two_builds_take_turns_and_say_so(self):
        first = subprocess.Popen(self.words("sleep 4"), cwd=self.tree, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 env={name: value for name, value in os.environ.items() if name not in ("OPENGNI_BUILD", "MAKEFLAGS", "V")})
        self.assertTrue(wait_until((self.tree / ".build/logs/made.log").exists, 60))
        said = self.run_script(self.tree, *self.words("true")).splitlines()
        self.assertEqual(first.wait(60), 0)
        self.assertEqual(said[0], "[1/2] making ... waits for another build in this tree")

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

    def test_sources_of_a_project_in_a_few_files(self):
        """Where that is wanted, and can be: an option that the project does not have is an error of meson's."""
        (self.tree / "source/p.c").write_text(PROGRAM % "P", encoding="ascii")
        (self.tree / "source/meson.build").write_text(PROJECT, encoding="ascii")
        build = self.tree / "scripts/build-meson.sh", self.tree / ".build/p", self.tree / "source"
        self.run_script(self.tree, *build, OPENGNI_GROUPED="1")
        (self.tree / "source/meson_options.txt").write_text("option('grouped', type: 'boolean', value: false)\n", encoding="ascii")
        (self.tree / "source/meson.build").write_text(PROJECT + "message('grouped', get_option('grouped'))\n", encoding="ascii")
        (self.tree / ".build/p/.configured").unlink()
        self.assertIn("Message: grouped false", self.run_script(self.tree, *build, OPENGNI_GROUPED=""))
        self.assertIn("Message: grouped true", self.run_script(self.tree, *build, OPENGNI_GROUPED="1"))
        self.assertNotIn("Message", self.run_script(self.tree, *build, OPENGNI_GROUPED="1"))

    def test_steps_know_in_how_many_files(self):
        """Else what is up to date would be thrown away by the tests, which configure the project again."""
        for goal in ("model", "topo"):
            lines = [subprocess.run(["make", "-n", goal], cwd=host.TOP, capture_output=True, text=True, check=True,
                                    env={**os.environ, "OPENGNI_GROUPED": grouped}).stdout.splitlines() for grouped in ("", "1")]
            self.assertIn(f"step.sh {goal} ", "".join(set(lines[0]) - set(lines[1])))

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
