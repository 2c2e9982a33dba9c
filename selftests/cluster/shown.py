# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests that run the commands of a page as they stand there."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

from opengni import host

PATIENCE = 2400.0


class Step(NamedTuple):
    """What a command prints (a pattern), what is typed at it, and how it is run: `through` is a command with COMMAND, or with
    QUOTED as one word, in its place. A command that is not `shown` is one that the page tells of in words."""

    prints: str
    typed: str = ""
    through: str = "COMMAND"
    shown: bool = True


def on_node(node):
    """How a command is run on a node."""
    return f"scripts/cluster exec --node {node} -- sh -c QUOTED"


def in_guest(prints, node=0, background=False):
    """A step that is typed on a node."""
    return Step(prints, through=on_node(node) + " &" * background)


def unseen(prints, through="COMMAND"):
    """A step that stands in no block."""
    return Step(prints, through=through, shown=False)


def words(command):
    """A command of a page without its prompt."""
    return command.removeprefix("$ ")


class Place:
    """A folder with the project's scripts and what is built, where the commands of a page may leave files, and
    a cluster whose name nobody else has in place of 'default'."""

    LINKS = ("scripts", "README.md", "userlib", "selftests")
    TOOLS = ("model/topo", "model/net", "model/hss", "model/gateway", "sim")

    def __init__(self, name):
        self.name = f"{name}-{os.getpid()}"
        self.folder = Path(tempfile.mkdtemp(prefix=f"opengni-{name}-"))
        self.enter = []  # what enters the host on which commands are run
        path = [*(str(host.BUILD / tools) for tools in self.TOOLS), str(host.TOP / "scripts"), os.environ["PATH"]]
        self.environment = {**os.environ, "OPENGNI_CLUSTER": self.name, "PATH": ":".join(path)}
        for link in self.LINKS:
            (self.folder / link).symlink_to(host.TOP / link)
        (self.folder / ".build").symlink_to(host.BUILD)

    def here(self, text):
        """The command for this place."""
        text = re.sub(r"(^|[;&] *)((?:[A-Z]+=\S+ )*)make\b", rf"\1\2make -C {host.TOP} --no-print-directory", text)
        text = re.sub(r"scripts/cluster (up|exec|shell|status|cp|kill|stop|start|down|console|log|fault|trace|insmod|push|qmp|ssh|gdb)\b",
                      rf"scripts/cluster \1 --name {self.name}", text)
        text = re.sub(r"\b(aries-(?:net|hss)) ", rf"\1 -f opengni-{os.getuid()}-{self.name} ", text)
        text = text.replace("/tmp/node0.pcapng", f"{self.folder}/node0.pcapng")
        return text.replace("debian-12-6.1.", f"debian-12-{os.environ.get('KERNEL', '6.1')}.")

    def sh(self, text, typed="", timeout=PATIENCE):
        """(exit status, output and errors) of a command."""
        # no pipe: a cluster in the background would keep it open; one for each command, for what is in the background writes on
        log = Path(tempfile.mkstemp(dir=self.folder, prefix=".output")[1])
        with open(log, "wb") as out:
            status = subprocess.run([*self.enter, "bash", "-ec", f"cd {self.folder}\n{self.here(text)}"], input=typed.encode(), stdout=out, stderr=out,
                                    env=self.environment, timeout=timeout, check=False).returncode
        return status, log.read_text(encoding="utf-8", errors="replace")

    def remove(self):
        """End the cluster, if it is still there, and remove the folder."""
        subprocess.run([host.TOP / "scripts/cluster", "down", "--name", self.name], capture_output=True, check=False)
        shutil.rmtree(self.folder)


class StepCase(unittest.TestCase):
    """Tests that run steps in a place of their own."""

    def place(self, name):
        """A place that goes with the test."""
        place = Place(name)
        self.addCleanup(place.remove)
        return place

    def run_steps(self, place, steps):
        """Each in its turn: it succeeds and prints what it should. What follows a step that fails is not run."""
        for command, step in steps.items():
            text = words(command)
            status, output = place.sh(step.through.replace("COMMAND", text).replace("QUOTED", shlex.quote(text)), step.typed)
            self.assertEqual(status, 0, f"{command}\n{output}")
            self.assertRegex(output, step.prints, command)
