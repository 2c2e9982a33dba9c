# SPDX-License-Identifier: GPL-2.0-or-later
"""One connection between the cluster's head and a host: requests, messages, log files and byte streams, all over a pair of pipes.

Frames are those of protocol.py, each followed by a newline, because Slurm forwards a program's output line by line. Either end may send
requests and messages; only the head opens streams.
"""

import asyncio
import enum
import itertools
import json
import time

from .errors import ClusterError, NodeError
from .protocol import HEADER, PAYLOAD_MAX

VERSION = 2
GREETING = b"opengni-member "
"""What a host says first; what a login shell prints before it is skipped."""
BEAT = 5.0
END = b"\n"
NOISE_MOST = 1 << 16
STEP = 1 << 16


class Kind(enum.IntEnum):
    """Kind of a frame; the frame's id is the number of a request or of a stream."""

    REQUEST = 1
    ANSWER = 2
    TELL = 3
    LOG = 4
    BEAT = 5
    OPEN = 6
    DATA = 7
    CLOSE = 8


class StreamWriter:
    """The sending end of a stream, with the part of asyncio's StreamWriter that its users need."""

    def __init__(self, link, ident):
        self._link, self._ident = link, ident
        self._closed = False

    def write(self, data):
        """Send bytes."""
        for at in range(0, len(data), STEP):
            self._link.send(Kind.DATA, self._ident, data[at:at + STEP])

    async def drain(self):
        """Wait while too much data is in flight."""
        await self._link.drain()

    def is_closing(self):
        """Whether the stream is closed for sending."""
        return self._closed or self._link.over.is_set()

    def close(self):
        """Close both directions."""
        if not self._closed:
            self._closed = True
            self._link.end_stream(self._ident)


class Link:
    """An end. @peer has what this end does: async serve(request), told(message), log(name, offset, data), and a host's async connect(what)."""

    def __init__(self, reader, writer, peer, patience):
        """patience: seconds without a sign of life after which the other end counts as gone."""
        self._reader, self._writer, self._peer, self._patience = reader, writer, peer, patience
        self._numbers = itertools.count(1)
        self._waiting = {}
        self._streams = {}
        self._tasks = set()
        self._heard = time.monotonic()
        self.over = asyncio.Event()
        self.reason = ""

    def send(self, kind, ident, payload=b""):
        """Send a frame, if the other end is still there."""
        if not self.over.is_set():
            self._writer.write(HEADER.pack(len(payload), kind, ident) + payload + END)

    async def drain(self):
        """Wait while too much is on its way."""
        try:
            await self._writer.drain()
        except ConnectionError:
            pass  # run() reports it

    async def ask(self, op, **arguments):
        """Send a request and return the answer. ClusterError: the error of the other end, or that it has gone."""
        if self.over.is_set():
            raise NodeError(self.reason)
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send_json(Kind.REQUEST, number, {"op": op, **arguments})
        try:
            found = await answer
        finally:
            self._waiting.pop(number, None)
        if "error" in found:
            raise ClusterError(found["error"])
        return found.get("value")

    def tell(self, **message):
        """Send a message that needs no answer."""
        self._send_json(Kind.TELL, 0, message)

    def send_log(self, name, offset, data):
        """Bytes of a log file that begin at @offset."""
        self.send(Kind.LOG, 0, name.encode() + b"\0" + offset.to_bytes(8, "little") + data)

    async def open(self, what):
        """Open a stream to something that the other end can connect to: (reader, writer). ConnectionRefusedError if it does not exist (yet)."""
        number = next(self._numbers)
        reader = self._streams[number] = asyncio.StreamReader(limit=1 << 22)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send_json(Kind.OPEN, number, what)
        try:
            found = {"error": self.reason} if self.over.is_set() else await answer
        finally:
            self._waiting.pop(number, None)
        if "error" in found:
            self._streams.pop(number, None)
            raise ConnectionRefusedError(0, found["error"])
        return reader, StreamWriter(self, number)

    def end_stream(self, number):
        """Forget a stream that this end no longer needs."""
        self.send(Kind.CLOSE, number)
        self._end_reader(number)

    async def run(self):
        """Serve until one end closes the connection; the reason as text."""
        beat = asyncio.create_task(self._beat())
        try:
            while True:
                size, kind, ident = HEADER.unpack(await self._reader.readexactly(HEADER.size))
                if size > PAYLOAD_MAX:
                    raise ValueError(f"frame of {size} bytes")
                payload = await self._reader.readexactly(size)
                if await self._reader.readexactly(len(END)) != END:
                    raise ValueError("a frame without its end")
                self._handle(Kind(kind), ident, payload)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._end("the connection has ended")
        except (ValueError, KeyError, TypeError) as error:
            self._end(f"nonsense came: {error}")
        finally:
            beat.cancel()
            self._end("it was given up")
        return self.reason

    def close(self, reason="closed"):
        """End it from here."""
        self._end(reason)
        self._writer.close()

    def _send_json(self, kind, ident, message):
        payload = json.dumps(message).encode()
        if len(payload) > PAYLOAD_MAX:
            raise NodeError(f"a message of {len(payload)} bytes is too long for a host")
        self.send(kind, ident, payload)

    def _end(self, reason):
        if self.over.is_set():
            return
        self.reason = reason
        self.over.set()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_result({"error": reason})
        for number in list(self._streams):
            self._end_reader(number)
        for task in self._tasks:
            task.cancel()

    def _end_reader(self, number):
        end = self._streams.pop(number, None)
        if isinstance(end, asyncio.StreamReader):
            end.feed_eof()
        elif end:
            end.close()

    async def _beat(self):
        while True:
            await asyncio.sleep(BEAT)
            self.send(Kind.BEAT, 0)
            if time.monotonic() > self._heard + self._patience:
                self.close(f"no sign of life for {self._patience:g} s")
                self._reader.feed_eof()

    def _task(self, coroutine):
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _handle(self, kind, ident, payload):
        self._heard = time.monotonic()
        if kind is Kind.REQUEST:
            self._task(self._serve(ident, json.loads(payload)))
        elif kind is Kind.ANSWER:
            answer = self._waiting.get(ident)
            if answer and not answer.done():
                answer.set_result(json.loads(payload))
        elif kind is Kind.TELL:
            self._peer.told(json.loads(payload))
        elif kind is Kind.LOG:
            name, _, rest = payload.partition(b"\0")
            self._peer.log(name.decode(), int.from_bytes(rest[:8], "little"), rest[8:])
        elif kind is Kind.OPEN:
            self._task(self._connect(ident, json.loads(payload)))
        elif kind is Kind.DATA:
            end = self._streams.get(ident)
            if isinstance(end, asyncio.StreamReader):
                end.feed_data(payload)
            elif end:
                end.write(payload)
        elif kind is Kind.CLOSE:
            self._end_reader(ident)

    async def _serve(self, number, request):
        try:
            answer = {"value": await self._peer.serve(request)}
        except (ClusterError, OSError) as error:
            answer = {"error": str(error)}
        except Exception as error:  # pylint: disable=broad-except  # the other end waits for an answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        self._send_json(Kind.ANSWER, number, answer)

    async def _connect(self, number, what):
        try:
            reader, writer = await self._peer.connect(what)
        except (ClusterError, OSError) as error:
            self._send_json(Kind.ANSWER, number, {"error": str(error)})
            return
        self._streams[number] = writer
        self._send_json(Kind.ANSWER, number, {})
        try:
            while data := await reader.read(STEP):
                self.send(Kind.DATA, number, data)
                await self.drain()
        except ConnectionError:
            pass
        finally:
            self._streams.pop(number, None)
            writer.close()
            self.send(Kind.CLOSE, number)


async def skip_noise(reader):
    """Skip everything up to the greeting and return the version that it names. ConnectionError shows what came instead."""
    noise = b""
    while len(noise) < NOISE_MOST:
        line = await reader.readline()
        if not line:
            if not noise.strip():
                raise ConnectionError("it ended before it said anything")
            raise ConnectionError(f"it says '{noise.decode('utf-8', 'replace').strip()[-200:]}' instead of what a host of a cluster does")
        if line.startswith(GREETING):
            return int(line[len(GREETING):].split()[0])
        noise += line
    raise ConnectionError(f"it says more than {NOISE_MOST} bytes, and not what a host of a cluster does")
