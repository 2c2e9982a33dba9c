# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Commands to a cluster in the background."""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import struct
import sys
import termios
import tty

from . import host
from .errors import ClusterError
from .output import Printer, describe, exit_status, labels_for
from .protocol import PAYLOAD_MAX, Kind, frame, read_frame
from .server import SOCKET


def names():
    """Clusters that run, in the background or not."""
    try:
        folders = sorted(host.RUN.iterdir())
    except OSError:
        return []
    found = []
    for path in folders:
        try:
            if host.is_alive(int((path / "pid").read_text(encoding="ascii"))):
                found.append(path.name)
        except (OSError, ValueError):
            continue
    return found


async def _open(name):
    try:
        return await asyncio.open_unix_connection(str(host.RUN / name / SOCKET))
    except OSError:
        running = ", ".join(names()) or "none"
        raise ClusterError(f"no cluster '{name}' in the background: '{host.SCRIPTS}cluster up --name {name}' (running: {running})") from None


async def _ask(reader, writer, request):
    writer.write(json.dumps(request).encode() + b"\n")
    line = await reader.readline()
    if not line:
        raise ClusterError("the cluster has gone")
    answer = json.loads(line)
    if "error" in answer:
        raise ClusterError(answer["error"])
    return answer


async def call(name, request):
    """One operation; its answer."""
    reader, writer = await _open(name)
    try:
        return await _ask(reader, writer, request)
    finally:
        writer.close()


class _Terminal:
    """The local terminal in raw mode while a shell runs on a node."""

    def __init__(self, writer):
        self.writer = writer
        self.saved = None

    def size(self):
        """Tell the node how large the window is."""
        try:
            rows, columns = struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))[:2]
        except OSError:
            return
        self.writer.write(frame(Kind.RESIZE, 0, struct.pack("<II", rows, columns)))

    def __enter__(self):
        if os.isatty(0):
            self.saved = termios.tcgetattr(0)
            tty.setraw(0)
            asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self.size)
            self.size()
        return self

    def __exit__(self, *_):
        if self.saved:
            termios.tcsetattr(0, termios.TCSADRAIN, self.saved)


def _forward_stdin(writer):
    """Local input goes to rank 0."""
    loop = asyncio.get_running_loop()

    def readable():
        data = os.read(0, 4096)
        writer.write(frame(Kind.STDIN, 0, data))
        if not data:
            loop.remove_reader(0)

    try:
        loop.add_reader(0, readable)
    except (OSError, PermissionError):  # a regular file cannot be polled
        while data := sys.stdin.buffer.read(PAYLOAD_MAX // 4):
            writer.write(frame(Kind.STDIN, 0, data))
        writer.write(frame(Kind.STDIN, 0))


class _Ends:
    """How the ranks of a command have ended, in the order in which they did."""

    def __init__(self):
        self.codes = {}
        self.reasons = {}

    def add(self, rank, payload):
        """An EXIT frame."""
        code, number = struct.unpack_from("<II", payload)
        self.codes[rank] = -number or code
        self.reasons[rank] = payload[8:].decode("utf-8", "replace")

    def first_bad(self):
        """The first rank that failed, or None."""
        return next((rank for rank, code in self.codes.items() if code), None)


async def _next_frame(reader):
    try:
        return await read_frame(reader)
    except (asyncio.IncompleteReadError, ConnectionError):
        raise ClusterError("the cluster has gone") from None


async def _follow(reader, writer, ranks, printer, request, stdin):
    """Carry output, input and signals until every rank has ended."""
    ends = _Ends()
    loop = asyncio.get_running_loop()
    for number in request.get("signals", (signal.SIGINT, signal.SIGTERM)):
        loop.add_signal_handler(number, lambda number=number: writer.write(frame(Kind.SIGNAL, 0, struct.pack("<I", number))))
    for rank in range(1 if stdin else 0, len(ranks)):
        writer.write(frame(Kind.STDIN, rank))
    with contextlib.ExitStack() as stack:
        if request.get("tty"):
            stack.enter_context(_Terminal(writer))
        if stdin:
            _forward_stdin(writer)
        try:
            while len(ends.codes) < len(ranks):
                kind, rank, payload = await _next_frame(reader)
                if kind is Kind.EXIT:
                    ends.add(rank, payload)
                else:
                    printer(rank, 1 if kind is Kind.STDOUT else 2, payload)
            printer.close()
        finally:
            writer.close()
    return ends


async def execute(name, request, label=True, stdin=True):
    """Run a command on nodes with output here; the exit status for the shell."""
    reader, writer = await _open(name)
    ranks = (await _ask(reader, writer, {"op": "exec", **request}))["ranks"]
    labels = labels_for(ranks)
    ends = await _follow(reader, writer, ranks, Printer(labels if label and len(ranks) > 1 else None), request, stdin)
    for rank, code in sorted(ends.codes.items()):
        if ends.reasons[rank]:
            print(f"{labels[rank]}{ends.reasons[rank]}", file=sys.stderr)
        elif code and len(ranks) > 1:
            print(f"{labels[rank]}{describe(code)}", file=sys.stderr)
    return exit_status(ends.codes.values())


APRUN_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


async def aprun(name, request, label=False, quiet=False):
    """Run an application; the exit status is that of the rank that failed first."""
    reader, writer = await _open(name)
    answer = await _ask(reader, writer, {"op": "aprun", **request})
    ranks = answer["ranks"]
    printer = Printer([f"{rank}: " for rank in range(len(ranks))] if label else None)
    ends = await _follow(reader, writer, ranks, printer, {**request, "signals": APRUN_SIGNALS}, True)
    bad = ends.first_bad()
    if bad is not None and not quiet:
        others = sum(1 for code in ends.codes.values() if code) - 1
        more = f", then {others} more" if others else ""
        reason = ends.reasons[bad] or describe(ends.codes[bad])
        print(f"aprun: application {answer['job'].rpartition('-')[2]}: rank {bad} on node {ranks[bad]}: {reason}{more}", file=sys.stderr)
    return exit_status(ends.codes.values())
