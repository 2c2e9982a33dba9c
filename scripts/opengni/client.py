# SPDX-License-Identifier: GPL-2.0-or-later
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

from . import host, locks
from .config import PID
from .errors import ClusterError
from .flow import Taken, Window
from .output import Printer, describe, exit_status, labels_for
from .protocol import PAYLOAD_MAX, Kind, frame, read_frame
from .server import SOCKET


def names():
    """Clusters that run, in the background or not."""
    try:
        folders = sorted(host.RUN.iterdir())
    except OSError:
        return []
    return [path.name for path in folders if not (path / "member").exists() and locks.holder(path / PID) is not None]


async def connect(name):
    """Reader and writer of a cluster's socket; ClusterError if there is none of that name."""
    try:
        return await asyncio.open_unix_connection(str(host.RUN / name / SOCKET), limit=1 << 24)
    except OSError:
        running = ", ".join(names()) or "none"
        raise ClusterError(f"no cluster '{name}' in the background: '{host.SCRIPTS}cluster up --name {name}' (running: {running})") from None


async def ask(reader, writer, request):
    """Send a request; its answer, or ClusterError."""
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
    reader, writer = await connect(name)
    try:
        return await ask(reader, writer, request)
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


async def readable():
    """Wait for local input; a regular file is always ready."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(0, ready.set)
    except OSError:
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(0)


async def _forward_stdin(writer, window):
    """Local input goes to rank 0, as fast as it takes it."""
    while True:
        await readable()
        data = os.read(0, PAYLOAD_MAX // 4)
        await window.take(len(data))
        writer.write(frame(Kind.STDIN, 0, data))
        if not data:
            return


class _Ends:
    """Exit codes of a command's ranks, in the order in which they ended."""

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


async def next_frame(reader):
    """(kind, rank, payload); ClusterError at the end."""
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
    window, taken = Window(), Taken(writer)
    feeding = asyncio.create_task(_forward_stdin(writer, window)) if stdin else None
    with contextlib.ExitStack() as stack:
        if request.get("tty"):
            stack.enter_context(_Terminal(writer))
        try:
            while len(ends.codes) < len(ranks):
                kind, rank, payload = await next_frame(reader)
                if kind is Kind.EXIT:
                    ends.add(rank, payload)
                elif kind is Kind.STDIN_TAKEN:
                    window.taken(rank, payload)
                else:
                    printer(rank, 1 if kind is Kind.STDOUT else 2, payload)
                    taken.add(rank, len(payload))
            printer.close()
        finally:
            if feeding:
                feeding.cancel()
                await asyncio.gather(feeding, return_exceptions=True)
            writer.close()
    return ends


async def execute(name, request, label=True, stdin=True):
    """Run a command on nodes with output here; the exit status for the shell."""
    reader, writer = await connect(name)
    ranks = (await ask(reader, writer, {"op": "exec", "window": True, **request}))["ranks"]
    labels = labels_for(ranks)
    ends = await _follow(reader, writer, ranks, Printer(labels if label and len(ranks) > 1 else None), request, stdin)
    for rank, code in sorted(ends.codes.items()):
        if ends.reasons[rank]:
            print(f"{labels[rank]}{ends.reasons[rank]}", file=sys.stderr)
        elif code and len(ranks) > 1:
            print(f"{labels[rank]}{describe(code)}", file=sys.stderr)
    return exit_status(ends.codes.values())


class _Kept:
    """Output that is collected instead of printed."""

    def __init__(self):
        self.text = {1: bytearray(), 2: bytearray()}

    def __call__(self, _rank, stream, data):
        self.text[stream].extend(data)

    def close(self):
        """Nothing is left to print."""


async def run(name, node, argv, timeout=None):
    """Run a command on a node; (exit status, output, complaints). Several may be run at once: an interruption ends their client."""
    reader, writer = await connect(name)
    request = {"op": "exec", "argv": argv, "nodes": [node], "timeout": timeout}
    ranks = (await ask(reader, writer, request))["ranks"]
    kept = _Kept()
    ends = await _follow(reader, writer, ranks, kept, {**request, "signals": ()}, False)
    out, complaints = (kept.text[stream].decode("utf-8", "replace") for stream in (1, 2))
    return exit_status(ends.codes.values()), out, complaints + ends.reasons[0]


APRUN_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


async def aprun(name, request, label=False, quiet=False):
    """Run an application; the exit status is that of the rank that failed first."""
    reader, writer = await connect(name)
    answer = await ask(reader, writer, {"op": "aprun", "window": True, **request})
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
