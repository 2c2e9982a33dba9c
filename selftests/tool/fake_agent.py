# SPDX-License-Identifier: GPL-2.0-or-later
"""A node without a machine: an agent that runs commands here, and a cluster of such nodes with its socket."""

import asyncio
import contextlib
import functools
import os
import signal
import struct
from pathlib import Path
from types import SimpleNamespace

from opengni import protocol, server
from opengni.channel import AgentChannel
from opengni.job import Job
from opengni.kvs import Kvs
from opengni.protocol import Kind, frame

OUTPUT_WINDOW = 1 << 20
STDIN_STEP = 1 << 16


class FakeAgent:
    """What gni-agent does, for one command at a time of each id. most: the most input that was waiting for a command."""

    def __init__(self):
        self.most = 0
        self._commands = {}
        self._writer = None

    async def serve(self, reader, writer):
        """One connection."""
        self._writer = writer
        try:
            while True:
                kind, ident, payload = await protocol.read_frame(reader)
                if kind is Kind.HELLO:
                    writer.write(frame(Kind.HELLO, 0, struct.pack("<I", protocol.VERSION) + b"6.1 fake"))
                elif kind is Kind.EXEC:
                    self._commands[ident] = command = SimpleNamespace(input=asyncio.Queue(), waiting=0, room=OUTPUT_WINDOW,
                                                                      more=asyncio.Event())
                    # It runs before the next frame is looked at, which may be a signal for it.
                    command.process = await self._start(payload)
                    command.task = asyncio.create_task(self._run(ident, command))
                elif kind is Kind.STDIN and ident in self._commands:
                    command = self._commands[ident]
                    command.waiting += len(payload)
                    self.most = max(self.most, command.waiting)
                    command.input.put_nowait(payload)
                elif kind is Kind.SIGNAL and ident in self._commands:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(self._commands[ident].process.pid, struct.unpack("<I", payload)[0])
                elif kind is Kind.OUTPUT_TAKEN and ident in self._commands:
                    self._commands[ident].room += struct.unpack("<I", payload)[0]
                    self._commands[ident].more.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def die(self):
        """As a power cut."""
        self._writer.transport.abort()

    async def end(self):
        """End what still runs."""
        for command in list(self._commands.values()):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(command.process.pid, signal.SIGKILL)
            await asyncio.gather(command.task, return_exceptions=True)

    @staticmethod
    async def _start(payload):
        _, argc, _ = struct.unpack_from("<III", payload)
        words = payload[12:].split(b"\0")
        return await asyncio.create_subprocess_exec(*words[1:1 + argc], start_new_session=True, stdin=asyncio.subprocess.PIPE,
                                                    stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)

    async def _run(self, ident, command):
        process = command.process
        feeding = asyncio.create_task(self._feed(ident, command, process.stdin))
        await asyncio.gather(self._forward(ident, command, Kind.STDOUT, process.stdout),
                             self._forward(ident, command, Kind.STDERR, process.stderr))
        code = await process.wait()
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        process.stdin.close()
        with contextlib.suppress(ConnectionError):
            await process.stdin.wait_closed()
        del self._commands[ident]
        self._writer.write(frame(Kind.EXIT, ident, struct.pack("<II", max(code, 0), max(-code, 0))))

    async def _feed(self, ident, command, stdin):
        untold = 0
        while data := await command.input.get():
            try:
                stdin.write(data)
                await stdin.drain()
            except ConnectionError:
                pass
            command.waiting -= len(data)
            untold += len(data)
            if untold >= STDIN_STEP:
                self._writer.write(frame(Kind.STDIN_TAKEN, ident, struct.pack("<I", untold)))
                untold = 0
        stdin.close()

    async def _forward(self, ident, command, kind, stream):
        while data := await stream.read(1 << 15):
            while command.room <= 0:
                command.more.clear()
                await command.more.wait()
            command.room -= len(data)
            self._writer.write(frame(kind, ident, data))


class FakeCluster:
    """Nodes with such agents, below a folder; scripts/cluster's client finds it as folder.name."""

    def __init__(self, folder, count=1):
        self.config = SimpleNamespace(dir=Path(folder), nodes=count)
        self.kvs = Kvs()
        self.agents = [FakeAgent() for _ in range(count)]
        self.nodes = []
        self._server = self._serving = None

    async def __aenter__(self):
        self._listening = []
        for number, agent in enumerate(self.agents):
            path = str(self.config.dir / f"node{number}.agent")
            self._listening.append(await asyncio.start_unix_server(agent.serve, path))
            channel = AgentChannel(number, self.kvs)
            await channel.connect(functools.partial(asyncio.open_unix_connection, path))

            def start(argv, env, cwd="/", tty=False, on_output=None, window=False, channel=channel):
                return channel.start(argv, env, cwd, tty, on_output, window)
            self.nodes.append(SimpleNamespace(number=number, running=True, start_command=start, channel=channel))
        self._server = server.Server(self)
        self._serving = asyncio.create_task(self._server.serve())
        while not (self.config.dir / server.SOCKET).exists():
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_):
        self._server.over.set()
        await self._serving
        (self.config.dir / server.SOCKET).unlink(missing_ok=True)
        for agent in self.agents:
            await agent.end()
        for node in self.nodes:
            node.channel.close()
        for listening in self._listening:
            listening.close()

    def start_job(self, argv, **options):
        """As Cluster's."""
        job = Job(self, argv, **options)
        job.start()
        return job
