# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of aries-gateway: hosts with a hosts file and a key, gateways on them, and what they tell."""

import json
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from gnitest import hosts
from opengni import host

GATEWAY = host.BUILD / "model/gateway/aries-gateway"
NAMES = ("alpha", "beta", "gamma")
BOUND = 60.0  # s for anything to happen on a busy machine


class Gateway:
    """One that runs on a host, and the lines that it has told."""

    def __init__(self, case, number, name, *options, under=()):
        """under: a command with arguments that runs it."""
        self.case, self.number, self.name = case, number, name
        self.log = case.folder / f"{name}-{number}-{time.monotonic_ns()}.log"
        with open(self.log, "w", encoding="ascii") as out:
            self.program = case.hosts.start(number, *under, GATEWAY, "run", "--self", name, *options, stdout=out, stderr=subprocess.STDOUT)
        case.addCleanup(self.end, signal.SIGKILL)

    def lines(self, pattern=""):
        """Of the log, those with the pattern."""
        return [line for line in self.log.read_text(encoding="ascii").splitlines() if re.search(pattern, line)]

    def wait_for(self, pattern, times=1):
        """Until so many lines of the log have the pattern: the last of them."""
        self.case.wait(lambda: len(self.lines(pattern)) >= times,
                       lambda: f"{self.name} has not told '{pattern}' {times} times, but:\n" + "\n".join(self.lines()))
        return self.lines(pattern)[-1]

    def status(self):
        """What the status command tells, as data; it can be asked since it listens."""
        self.wait_for(": listens at ")
        return json.loads(self.case.hosts.run(self.number, GATEWAY, "status", "--self", self.name, "--json").stdout)

    def peer(self, name):
        """Status of one of its peers."""
        return next(peer for peer in self.status()["peers"] if peer["host"] == name)

    def send(self, number):
        """To the gateway itself."""
        self.case.hosts.signal(self.program, number)

    def end(self, number=signal.SIGTERM):
        """Ends it: its exit status."""
        if self.program.poll() is None:
            self.send(number)
        return self.program.wait(BOUND)


class GatewayCase(unittest.TestCase):
    """Hosts for all tests of a class."""

    COUNT = 2
    LINES = None
    CLOCKS = None

    @classmethod
    def setUpClass(cls):
        if not GATEWAY.exists():
            raise unittest.SkipTest("aries-gateway is not built: libfabric or libsodium is missing")
        reason = hosts.missing()
        if reason:
            raise unittest.SkipTest(reason)
        try:
            cls.hosts = hosts.Hosts(cls.COUNT, cls.LINES, cls.CLOCKS)
        except hosts.HostsError as error:
            raise unittest.SkipTest(f"no namespaces here: {error}") from None
        cls.addClassCleanup(cls.hosts.end)

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for i in range(self.COUNT):
            self.addCleanup(self.hosts.heal, i)
        self.file = self.hosts_file("hosts", {name: (i, f"{4 * i}-{4 * i + 3}") for i, name in enumerate(NAMES[:self.COUNT])})
        self.key = self.new_key("key")

    def new_key(self, name):
        """A file with another key."""
        subprocess.run([GATEWAY, "keygen", self.folder / name], check=True)
        return self.folder / name

    def hosts_file(self, name, entries):
        """A hosts file: {name: (host, nodes)}."""
        text = "".join(f"{entry} {self.hosts.address(i)} {nodes}\n" for entry, (i, nodes) in entries.items())
        (self.folder / name).write_text("# name address nodes\n" + text, encoding="ascii")
        return self.folder / name

    def wait(self, condition, story):
        """Until a condition holds."""
        end = time.monotonic() + BOUND
        while not condition():
            if time.monotonic() > end:
                self.fail(story())
            time.sleep(0.05)

    def start(self, number, *options, name=None, file=None, key=None, under=()):
        """A gateway on a host."""
        return Gateway(self, number, name or NAMES[number], "--hosts", file or self.file, "--key", key or self.key, *options, under=under)

    def start_ping(self, number, to, *options):
        """Starts ping on a host: Popen, see ping_result(). It ends with the test, also if that fails."""
        program = self.hosts.start(number, GATEWAY, "ping", "--hosts", self.file, "--key", self.key, "--self", NAMES[number], "--to", to,
                                   "--json", *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.kill, program)
        return program

    def kill(self, program):
        """Ends what runs on a host, if it still does."""
        if program.poll() is None:
            self.hosts.signal(program, signal.SIGKILL)
            program.wait(BOUND)

    def ping_result(self, program):
        """What ping has found, as data, when it has ended well."""
        out, err = program.communicate(timeout=2 * BOUND)
        self.assertEqual(program.returncode, 0, err + out)
        return {**json.loads(out), "log": err}

    def ping(self, number, to, *options):
        """Both."""
        return self.ping_result(self.start_ping(number, to, *options))
