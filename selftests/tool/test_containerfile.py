# SPDX-License-Identifier: GPL-2.0-or-later
"""The Containerfile's steps, in a chroot of the Debian that it names: they are the build on that Debian, too."""

import os
import re
import shlex
import shutil
import subprocess
import unittest

import chroot
from gnitest.testing import slow_tests
from opengni import host

FILE = host.TOP / "Containerfile"
SUITES = {"docker.io/library/debian:13": "trixie"}
IGNORED = host.TOP / ".containerignore"


def instructions(text):
    """(name, argument) of each instruction of a Containerfile."""
    text = re.sub(r"^[ \t]*#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    return [(name.upper(), rest.strip()) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())]


def stages(text):
    """Instructions by stage, each with the stages that it is made from."""
    found = {}
    name = ""
    for instruction, rest in instructions(text):
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            name = name or "last"
            found[name] = list(found[base]) if base in found else [(instruction, base)]
        else:
            found[name].append((instruction, rest))
    return found


class Syntax(unittest.TestCase):
    def test_parts(self):
        text = "FROM a AS one\n# words\nENV A=b \\\n  C=d\nRUN x\nFROM one\nRUN y\n"
        self.assertEqual(stages(text), {"one": [("FROM", "a"), ("ENV", "A=b    C=d"), ("RUN", "x")],
                                        "last": [("FROM", "a"), ("ENV", "A=b    C=d"), ("RUN", "x"), ("RUN", "y")]})

    def test_what_the_steps_test_knows(self):
        for name, steps in stages(FILE.read_text(encoding="utf-8")).items():
            self.assertIn(steps[0][1], SUITES, name)
            self.assertLessEqual({instruction for instruction, _ in steps}, {"FROM", "ENV", "WORKDIR", "RUN", "COPY", "CMD"}, name)


@unittest.skipUnless(slow_tests(), "in check-all")
class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = chroot.obstacle()
        if reason:
            raise unittest.SkipTest(reason)

    def test_checked(self):
        """The stage that is tested without QEMU: set-up, model, library, modules for that Debian's kernel."""
        steps = stages(FILE.read_text(encoding="utf-8"))[os.environ.get("STAGE", "checked")]
        place = chroot.Chroot(SUITES[steps[0][1]])
        self.addCleanup(place.remove)
        environment, folder = {"JOBS": os.environ.get("JOBS") or str(host.cpus())}, "/"
        for instruction, rest in steps[1:]:
            if instruction == "ENV":
                environment.update(word.split("=", 1) for word in shlex.split(rest))
            elif instruction == "WORKDIR":
                folder = rest
                (place.root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
            elif instruction == "COPY":
                self.assertEqual(rest, ". .")
                self.copy(place.root / folder.lstrip("/"))
            elif instruction == "RUN":
                status, output = place.sh(rest, folder, **environment)
                self.assertEqual(status, 0, f"RUN {rest}\n{output[-4000:]}")

    def copy(self, target):
        """What a container's build would get of this tree: all but what is ignored."""
        ignored = IGNORED.read_text(encoding="utf-8").split()
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=host.TOP,
                                capture_output=True, text=True, check=True).stdout.split("\0")
        for name in filter(None, listed):
            if name.split("/")[0] in ignored or not (host.TOP / name).exists():
                continue
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(host.TOP / name, target / name, follow_symlinks=False)
