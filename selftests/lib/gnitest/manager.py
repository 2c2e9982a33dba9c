# SPDX-License-Identifier: GPL-2.0-or-later
"""A running aries-hss beside a cluster, and its events."""

import json
import signal
import subprocess

from opengni import host
from opengni.errors import NodeError

TIME = 60.0
TOOL = host.BUILD / "model" / "hss" / "aries-hss"


def command(fabric, *arguments):
    """The output of a command; NodeError quotes its error message."""
    result = subprocess.run([TOOL, "--fabric", str(fabric), *map(str, arguments)], capture_output=True, text=True, timeout=TIME, check=False)
    if result.returncode:
        raise NodeError(f"aries-hss {' '.join(map(str, arguments))} ended with {result.returncode}: {result.stderr}")
    return result.stdout


def status(fabric):
    """The output of `aries-hss status` as data."""
    return json.loads(command(fabric, "status", "--json"))


class Manager:
    """A process that manages the network of a fabric. Its journal is a file, so nobody has to read its output while it runs."""

    def __init__(self, fabric, log, *options):
        self.log = log
        self._seen = len(self.events())
        self.process = subprocess.Popen([TOOL, "--fabric", str(fabric), "run", "--json", "--log", str(log), *options],
                                        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def events(self, event=None):
        """Its events so far, including those of earlier managers with the same log; of one kind or of all."""
        try:
            text = self.log.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        # an incomplete last line is read the next time
        lines = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [line for line in lines if event is None or line["event"] == event]

    def mine(self, event=None):
        """The events of this process alone."""
        return [line for line in self.events()[self._seen:] if event is None or line["event"] == event]

    def step(self):
        """With --step: let it begin the phase for which it waits."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def running(self):
        return self.process.poll() is None

    def end(self, number=signal.SIGTERM):
        """End it; the exit status."""
        self.process.send_signal(number)
        code = self.process.wait(TIME)
        self.process.stdin.close()
        self.process.stderr.close()
        return code
