# SPDX-License-Identifier: GPL-2.0-or-later
"""The connection to the agent of one node."""

import asyncio
import itertools
import struct

from .errors import NodeError
from .kvs import KvsConnection
from .protocol import PAYLOAD_MAX, VERSION, Kind, exec_payload, frame, read_frame


class RemoteProcess:
    """A command on a node. Output goes to on_output(stream, data), stream being 1 or 2.

    on_taken(bytes), if set, is told how much of its input the command has taken.
    """

    def __init__(self, channel, ident, on_output):
        self.channel = channel
        self.ident = ident
        self.on_output = on_output
        self.on_taken = None
        self.pid = None
        self.error = ""
        self.exited = asyncio.get_running_loop().create_future()

    async def wait(self):
        """Exit code: 0 to 255, or minus the signal that ended it. NodeError if the node died."""
        return await asyncio.shield(self.exited)

    def stdin(self, data):
        """Send input; empty data closes it."""
        for at in range(0, len(data), PAYLOAD_MAX // 4) if data else (0,):
            self.channel.send(Kind.STDIN, self.ident, data[at:at + PAYLOAD_MAX // 4])

    def signal(self, number):
        """Send a signal to the command's process group."""
        self.channel.send(Kind.SIGNAL, self.ident, struct.pack("<I", number))

    def output_taken(self, size):
        """The reader of a windowed command's output has taken so many bytes of it."""
        self.channel.send(Kind.OUTPUT_TAKEN, self.ident, struct.pack("<I", size))

    def resize(self, rows, columns):
        """The size of its terminal has changed."""
        self.channel.send(Kind.RESIZE, self.ident, struct.pack("<II", rows, columns))

    def finish(self, result):
        """Set the exit code, or the error that makes it unknown."""
        if self.exited.done():
            return
        if isinstance(result, Exception):
            self.exited.set_exception(result)
            self.exited.exception()  # nobody needs to wait for it
        else:
            self.exited.set_result(result)


class AgentChannel:
    """Commands and key-value requests of one node over its agent socket."""

    def __init__(self, node, kvs):
        self.node = node
        self.kvs = kvs
        self.reader = self.writer = self.task = None
        self.idents = itertools.count(1)
        self.processes = {}
        self.connections = {}
        self.greeting = asyncio.get_running_loop().create_future()

    async def connect(self, connect):
        """Wait for the agent's greeting: the guest has booted then. connect(): (reader, writer) of its socket, or OSError."""
        while True:
            try:
                self.reader, self.writer = await connect()
                break
            except (FileNotFoundError, ConnectionRefusedError):
                await asyncio.sleep(0.05)  # QEMU has just been started; the caller limits the time
        self.task = asyncio.create_task(self._receive())
        # QEMU holds this until the agent opens its port: no need to ask again and again.
        self.send(Kind.HELLO, 0, struct.pack("<I", VERSION))
        return await asyncio.shield(self.greeting)

    def send(self, kind, ident, payload=b""):
        """Send a frame; nothing happens when the node has gone."""
        if self.writer and not self.writer.is_closing():
            self.writer.write(frame(kind, ident, payload))

    def start(self, argv, env, cwd="/", tty=False, on_output=None, window=False):
        """Start a command. window: its output waits for output_taken()."""
        payload = exec_payload(argv, env, cwd, tty, window)
        if len(payload) > PAYLOAD_MAX:
            raise NodeError(f"node {self.node}: a command line of {len(payload)} bytes is too long")
        process = RemoteProcess(self, next(self.idents), on_output)
        if self.task is None or self.task.done():
            process.finish(NodeError(f"node {self.node} is not running"))
            return process
        self.processes[process.ident] = process
        self.send(Kind.EXEC, process.ident, payload)
        return process

    def close(self, reason="closed"):
        """End the connection; commands that still run count as lost."""
        if self.task:
            self.task.cancel()
        if self.writer:
            self.writer.close()
        self._lost(reason)

    def _lost(self, reason):
        error = NodeError(f"node {self.node}: {reason}")
        for process in self.processes.values():
            process.finish(error)
        self.processes.clear()
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()
        if not self.greeting.done():
            self.greeting.set_exception(error)
            self.greeting.exception()

    async def _receive(self):
        try:
            while True:
                self._handle(*await read_frame(self.reader))
        except (asyncio.IncompleteReadError, ConnectionError):
            self._lost("the machine has gone")
        except ValueError as error:
            self._lost(f"the agent does not speak the protocol ({error})")

    def _handle(self, kind, ident, payload):
        process = self.processes.get(ident)
        if kind is Kind.HELLO:
            version = struct.unpack_from("<I", payload)[0]
            if version != VERSION:
                raise ValueError(f"its version is {version}, this tool's {VERSION}: run 'make initramfs', or 'make debian-image' for its disk")
            if not self.greeting.done():
                self.greeting.set_result(payload[4:].decode("utf-8", "replace"))
        elif kind is Kind.KVS_REQUEST:
            self._kvs(ident).request(payload.decode("utf-8", "replace"))
        elif kind is Kind.KVS_CLOSE:
            connection = self.connections.pop(ident, None)
            if connection:
                connection.close()
        elif process and kind is Kind.STARTED:
            process.pid = struct.unpack_from("<I", payload)[0]
        elif process and kind in (Kind.STDOUT, Kind.STDERR):
            if process.on_output:
                process.on_output(1 if kind is Kind.STDOUT else 2, payload)
        elif process and kind is Kind.STDIN_TAKEN:
            if process.on_taken:
                process.on_taken(struct.unpack_from("<I", payload)[0])
        elif process and kind is Kind.EXIT:
            code, number = struct.unpack_from("<II", payload)
            process.error = payload[8:].decode("utf-8", "replace")
            if process.error and process.on_output:
                process.on_output(2, (process.error + "\n").encode())
            del self.processes[ident]
            process.finish(-number if number else code)

    def _kvs(self, ident):
        if ident not in self.connections:
            def reply(line):
                self.send(Kind.KVS_REPLY, ident, line.encode())
            self.connections[ident] = KvsConnection(self.kvs, reply)
        return self.connections[ident]
