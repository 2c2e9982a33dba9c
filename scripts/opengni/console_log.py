# SPDX-License-Identifier: GPL-2.0-or-later
"""What nodes have said on their consoles, and what they say from now on."""

import re
import sys
import time

from . import host, locks, selection
from .config import PID
from .errors import ConfigError
from .output import Printer

LINES = 10
"""Of what was said before, that are printed first."""
INTERVAL = 0.2
"""Seconds between two looks at the logs."""


def _paths(name, text):
    """Logs by node, of those that the command line names; None for the text stands for all."""
    folder = host.RUN / name
    found = {int(match[1]): path for path in folder.glob("node*.log") if (match := re.fullmatch(r"node(\d+)\.log", path.name))}
    if not found:
        raise ConfigError(f"no log in {folder}: '{host.SCRIPTS}cluster list' names the clusters")
    numbers = sorted(found) if text is None else selection.parse_nodes(text, max(found) + 1)
    return {number: found.get(number, folder / f"node{number}.log") for number in numbers}


def _labelled(paths):
    """A Printer for these nodes: lines carry the node where there are several."""
    return Printer({number: f"node {number}: " for number in paths} if len(paths) > 1 else None)


def show(name, text):
    """Print what nodes have said so far; the exit status. Logs stay when the cluster has ended."""
    paths = _paths(name, text)
    printer = _labelled(paths)
    for number, path in paths.items():
        try:
            printer(number, 1, path.read_bytes().replace(b"\r", b""))
        except OSError as error:
            raise ConfigError(f"log {path}: {error.strerror}") from None
    printer.close()
    return 0


class _Followed:
    """A log that grows, and begins anew when its node does."""

    def __init__(self, path):
        self._path = path
        self._at = 0

    def last(self):
        """The last whole lines."""
        data = self.more()
        lines = data.splitlines(keepends=True)[-LINES:]
        return b"".join(lines)

    def more(self):
        """What has come since."""
        try:
            with open(self._path, "rb") as log:
                if log.seek(0, 2) < self._at:
                    self._at = 0
                log.seek(self._at)
                data = log.read()
                self._at += len(data)
                return data.replace(b"\r", b"")
        except FileNotFoundError:
            return b""  # the node has not begun yet


def follow(name, text, sleep=time.sleep):
    """Print what nodes say until their cluster ends; the exit status."""
    paths = _paths(name, text)
    if locks.holder(host.RUN / name / PID) is None:
        raise ConfigError(f"cluster '{name}' does not run: without --follow its logs are printed as they are")
    printer = _labelled(paths)
    logs = {number: _Followed(path) for number, path in paths.items()}
    for number, log in logs.items():
        printer(number, 1, log.last())
    over = False
    while not over:
        sys.stdout.flush()
        sleep(INTERVAL)
        over = locks.holder(host.RUN / name / PID) is None  # asked first: what was said before the end is read below
        for number, log in logs.items():
            if data := log.more():
                printer(number, 1, data)
    printer.close()
    return 0
