# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""aries-hss beside a cluster: a manager that runs, and what it has told."""

import json
import signal
import subprocess

from . import host
from .errors import NodeError

TIME = 60.0
TOOL = host.BUILD / "model" / "hss" / "aries-hss"


def command(fabric, *arguments):
    """What a command prints; NodeError with its complaint."""
    result = subprocess.run([TOOL, "--fabric", str(fabric), *map(str, arguments)], capture_output=True, text=True, timeout=TIME, check=False)
    if result.returncode:
        raise NodeError(f"aries-hss {' '.join(map(str, arguments))} ended with {result.returncode}: {result.stderr}")
    return result.stdout


def status(fabric):
    """aries-hss status as objects."""
    return json.loads(command(fabric, "status", "--json"))


class Manager:
    """A process that looks after the network of a fabric; its journal is a file, so that nobody has to read along."""

    def __init__(self, fabric, log, *options):
        self.log = log
        self._seen = len(self.events())
        self.process = subprocess.Popen([TOOL, "--fabric", str(fabric), "run", "--json", "--log", str(log), *options],
                                        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def events(self, event=None):
        """What it has told so far, also those before it under the same log; of one kind or of all."""
        try:
            text = self.log.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        # a line that is just being written is left for the next time
        lines = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [line for line in lines if event is None or line["event"] == event]

    def mine(self, event=None):
        """What this very process has told."""
        return [line for line in self.events()[self._seen:] if event is None or line["event"] == event]

    def step(self):
        """With --step: let it begin the phase before which it waits."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def running(self):
        return self.process.poll() is None

    def end(self, number=signal.SIGTERM):
        """Exit status."""
        self.process.send_signal(number)
        code = self.process.wait(TIME)
        self.process.stdin.close()
        self.process.stderr.close()
        return code
