# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines of C++ programs stand in tables; what reads them is compiled once for each kind of programs."""

import re
import subprocess
import tempfile
import unittest

from opengni import host

READERS = ["qemu-device/model/topo/program.cpp", "userlib/tools/common/command_line.cpp"]
PROGRAMS = {"net": "model/net/aries-net", "hss": "model/hss/aries-hss", "gateway": "model/gateway/aries-gateway", "topo": "model/topo/aries-topo",
            "sim": "sim/aries-sim"}
WIRE = "--hosts /nowhere/hosts --self a --key /nowhere/key"
SIM = "aries groups=1 chassis=1 slots=2 --warmup=1 --measure=1 --quiet"
# What is wrong by each rule that a table can have, and words of the line that tells it.
WRONG = (
    ("net", "", "A subcommand is required"),
    ("net", "--nothing", "not expected: --nothing"),
    ("net", "--nothing show", "not expected: --nothing"),
    ("net", "route 1", "to is required"),
    ("net", "route x 1", "from = x"),
    ("net", "route 1 2 --mode x", "--mode: Check x value in {adaptive->0,minimal->16,nonminimal->8,ordered->3}"),
    ("net", "time", "At least 1 option from [--rate,--hold] is required"),
    ("net", "time --rate 1 --rate 3", "--rate: "),
    ("net", "events --seconds -1", "--seconds: Value -1 not in range 0"),
    ("net", "events --seconds nan", "--seconds: Value nan is no number"),
    ("hss", "watch --quiesce x", "--quiesce: a time of up to 60000 ms, not x"),
    ("hss", "run --settle 60001", "--settle: a time of up to 60000 ms, not 60001"),
    ("hss", "node 1 sideways", "state: sideways not in {down,up}"),
    ("hss", "warm-swap 1 x", "routers = "),
    ("gateway", "nope", "there is no command 'nope': run, status, ping, keygen"),
    ("gateway", "--nope nope", "not expected: "),
    ("net", "nope", "there is no command 'nope': "),
    ("gateway", f"run {WIRE} --timeout 0", "--timeout: a time of up to 3600 s, not 0"),
    ("gateway", f"run {WIRE} --spin 1000001", "--spin: Value 1000001 not in range 0 to 1000000"),
    ("gateway", f"run {WIRE} --nodes 4", "--nodes requires --fabric"),
    ("gateway", f"run {WIRE} --fabric x --nodes 4 --echo", "--echo excludes --fabric"),
    ("gateway", f"ping {WIRE} --to b --count 0", "--count: Value 0 not in range"),
    ("topo", "hops aries --sources 4294967296", "--sources = 4294967296"),
    ("sim", "sweep", "--out is required"),
    ("sim", f"--bias 1 2 3 4 5 --quiet {SIM}", "--bias: "),
    ("sim", f"{SIM} --set", "--set: "),
)


class OptionTables(unittest.TestCase):
    def test_headers_that_take_long_are_included_once(self):
        done = subprocess.run(["git", "grep", "-lE", r"#\s*include\s*<CLI/", "--", "*.c", "*.cpp", "*.h", "*.hpp", "*.inc"], cwd=host.TOP,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.split(), READERS)

    def with_file(self, text, *words):
        """What aries-sim says with options of a file and these behind it."""
        path = host.BUILD / PROGRAMS["sim"]
        if not path.exists():
            self.skipTest(f"{path} is not built: make all")
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(text)
            file.flush()
            return subprocess.run([path, *SIM.split(), "--config", file.name, *words], capture_output=True, text=True, check=False, timeout=60)

    def test_what_may_be(self):
        """Several values of one option, one with a comma in it, and options behind a command and in a file."""
        done = self.with_file("threads = 1\n", "--bias", "1", "2", "--set", "netlink_cycles=9", "--set", "netlink_cycles=a,b")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a,b", done.stderr)

    def test_a_file_with_an_option_that_there_is_not(self):
        done = self.with_file("threads = 1\nnope = 3\n")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "aries-sim: the file of --config has 'nope', and there is no such option; see aries-sim --help\n")

    def test_rules(self):
        for program, words, told in WRONG:
            path = host.BUILD / PROGRAMS[program]
            with self.subTest(words, program=program):
                if not path.exists():
                    self.skipTest(f"{path} is not built: make all")
                done = subprocess.run([path, *words.split()], capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, rf"^{path.name}: .*{re.escape(told)}.*; see {path.name} --help\n$")
