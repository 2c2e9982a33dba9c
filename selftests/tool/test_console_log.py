# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/cluster log without machines: logs of nodes that are printed, and followed."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from opengni import console_log, host, locks
from opengni.config import PID
from opengni.errors import ConfigError

PROGRAM = "import sys; from pathlib import Path; from opengni import console_log, host; host.RUN = Path(sys.argv[1]); " \
          "sys.exit(console_log.follow('c', sys.argv[2] if sys.argv[2:] else None))"


class Logs(unittest.TestCase):
    def setUp(self):
        self.run_folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder = self.run_folder / "c"
        self.folder.mkdir()
        self.enterContext(mock.patch.object(host, "RUN", self.run_folder))

    def log(self, node, text, mode="a"):
        """A node says something."""
        with open(self.folder / f"node{node}.log", mode, encoding="ascii", newline="") as out:
            out.write(text)

    def printed(self, text):
        """What `log` prints."""
        program = PROGRAM.replace("follow", "show")
        return subprocess.run(["python3", "-c", program, self.run_folder, *([text] if text else [])], capture_output=True, text=True, check=True,
                              env={"PYTHONPATH": str(host.TOP / "scripts"), "PATH": "/usr/bin:/bin"}).stdout

    def test_so_far(self):
        self.log(0, "one\r\n")
        self.log(1, "two\r\nrest")
        self.log("0.qemu", "no console\n")
        self.assertEqual(self.printed("0"), "one\n")
        self.assertEqual(self.printed("all"), "node 0: one\nnode 1: two\nnode 1: rest\n")

    def test_what_is_not_there(self):
        with self.assertRaisesRegex(ConfigError, "no log in .*/c: "):
            console_log.show("c", "0")
        self.log(0, "one\n")
        for call in (console_log.show, console_log.follow):
            with self.assertRaisesRegex(ConfigError, "no node 3: they go from 0 to 0"):
                call("c", "3")
        with self.assertRaisesRegex(ConfigError, "cluster 'c' does not run"):
            console_log.follow("c", None)

    def test_followed_to_the_end_of_the_cluster(self):
        self.log(0, "".join(f"line {number}\r\n" for number in range(30)))
        self.log(1, "")
        claim = locks.Claim(self.folder / PID)
        steps = iter((lambda: self.log(1, "hel"), lambda: self.log(1, "lo\n"), lambda: self.log(0, "begins anew\n", "w"), claim.release))
        said = []

        class Said:
            """In place of the printer."""

            def __call__(self, node, _stream, data):
                said.append((node, data.decode("ascii")))

            def close(self):
                """The end of the last line."""
                said.append(None)

        with mock.patch.object(console_log, "_labelled", lambda _paths: Said()):
            self.assertEqual(console_log.follow("c", None, sleep=lambda _: next(steps)()), 0)
        self.assertEqual(said[0], (0, "".join(f"line {number}\n" for number in range(20, 30))))
        self.assertEqual(said[2:], [(1, "hel"), (1, "lo\n"), (0, "begins anew\n"), None])

    def test_what_is_said_just_before_the_end_is_printed(self):
        self.log(0, "")
        claim = locks.Claim(self.folder / PID)
        follower = subprocess.Popen(["python3", "-c", PROGRAM, self.run_folder], stdout=subprocess.PIPE, text=True,  # pylint: disable=consider-using-with
                                    env={"PYTHONPATH": str(host.TOP / "scripts"), "PATH": "/usr/bin:/bin"})
        self.log(0, "first\n")
        self.assertEqual(follower.stdout.readline(), "first\n")
        self.log(0, "last words")
        claim.release()
        self.assertEqual(follower.communicate(timeout=60)[0], "last words")
        self.assertEqual(follower.returncode, 0)
