# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-sim as a command: what it says and returns where something is wrong."""

import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SIM = Path(os.environ.get("OPENGNI_BUILD", TOP / ".build")) / "sim" / "aries-sim"
SMALL = ["aries", "groups=1", "chassis=1", "slots=2", "--load=0.1", "--warmup=100", "--measure=200", "--quiet"]


@unittest.skipUnless(SIM.exists(), "aries-sim is not built")
class Command(unittest.TestCase):
    """Exit status and words."""

    def refused(self, status, words, *args, output=subprocess.PIPE):
        """One line with these words, and this status."""
        done = subprocess.run([SIM, *args], stdout=output, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf"^aries-sim: .*{words}.*\n$")

    def test_a_result(self):
        """JSON on standard output, nothing else."""
        done = subprocess.run([SIM, *SMALL], capture_output=True, text=True, check=True)
        self.assertTrue(json.loads(done.stdout)["drained"])
        self.assertEqual(done.stderr, "")

    def test_a_machine_behind_an_option_with_a_value(self):
        """It is the machine, not another value."""
        machine, rest = SMALL[:4], SMALL[4:]
        for option in (["--job", "nodes: 4"], ["--set", "netlink_cycles=9"], ["--fail", "150:node:1"]):
            subprocess.run([SIM, *rest, *option, *machine], stdout=subprocess.DEVNULL, check=True)

    def test_a_csv_of_a_sweep(self):
        """Where there are no collectives there is no latency of one, not one of 0."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([SIM, "sweep", *SMALL[:4], *SMALL[5:], "--over", "traffic=uniform,allreduce", "--out", f"{folder}/x"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            with open(f"{folder}/x.csv", newline="", encoding="utf-8") as file:
                uniform, allreduce = csv.DictReader(file)
        self.assertEqual(uniform["collective_p50"], "")
        self.assertNotEqual(allreduce["collective_p50"], "")

    def test_a_bad_command_line(self):
        """Status 2."""
        self.refused(2, "--nothing", *SMALL, "--nothing")
        self.refused(2, "--load", *SMALL[:4], "--load")

    def test_what_cannot_be(self):
        """Status 1, with the rule."""
        self.refused(1, "242", "aries", "groups=242")
        self.refused(1, "nonsense", *SMALL, "--traffic=nonsense")

    def test_a_full_disk(self):
        """No result is lost without a word."""
        with open("/dev/full", "w", encoding="ascii") as full:
            self.refused(1, "standard output cannot be written", *SMALL, output=full)
        for option in ("--json", "--links", "--background"):
            self.refused(1, "/dev/full cannot be written", *SMALL, option, "/dev/full")

    def test_a_run_that_does_not_end_leaves_the_old_result(self):
        """Whether it is stopped, or is refused after its files were looked at."""
        options = ("--json", "--links", "--background")
        with tempfile.TemporaryDirectory() as folder:
            files = {option: Path(folder, option.strip("-")) for option in options}
            for file in files.values():
                file.write_text("old", encoding="ascii")
            arguments = [str(word) for pair in files.items() for word in pair]
            self.refused(1, "at least one cycle", *SMALL[:4], "--quiet", "--measure=0", *arguments)
            long = subprocess.Popen([SIM, "aries", "groups=1", "--measure=100000000", *arguments], stderr=subprocess.PIPE, text=True)
            self.assertRegex(long.stderr.readline(), "^cycle ")      # it runs
            long.kill()
            long.communicate()
            self.assertEqual([file.read_text(encoding="ascii") for file in files.values()], ["old"] * 3)
            self.assertEqual(len(os.listdir(folder)), 3)

    def test_the_new_result_takes_the_place_of_the_old_one(self):
        """Behind a link, and with the rights that the old one had; nothing else is left."""
        with tempfile.TemporaryDirectory() as folder:
            file, link = Path(folder, "file"), Path(folder, "link")
            file.write_text("old", encoding="ascii")
            file.chmod(0o640)
            link.symlink_to(file)
            subprocess.run([SIM, *SMALL, "--json", link], check=True)
            self.assertTrue(json.loads(file.read_text(encoding="utf-8"))["drained"])
            self.assertTrue(link.is_symlink())
            self.assertEqual(file.stat().st_mode & 0o777, 0o640)
            self.assertEqual(len(os.listdir(folder)), 2)

    def test_a_file_that_cannot_be_made(self):
        """It is said before the run, not after it."""
        with tempfile.TemporaryDirectory() as folder:
            self.refused(1, "cannot be written", *SMALL, "--json", f"{folder}/no/such")
