# SPDX-License-Identifier: GPL-2.0-or-later
"""One virtual machine of a cluster."""

import asyncio
import functools
import shlex
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from . import host, qmp, share
from .channel import AgentChannel
from .errors import NodeError

STOP_TIMEOUT = 5.0


@dataclass
class Paths:
    """Files of a node."""

    console: Path
    qemu_log: Path
    agent: Path
    qmp: Path
    serial: Path
    gdb: Path


@dataclass
class Result:
    """What a command did."""

    code: int
    stdout: str
    stderr: str


class Node:
    """A node: its QEMU process and the channel to its agent. keeper: the host that runs it (keeper.Here or remote.RemoteHost)."""

    def __init__(self, config, number, kvs, keeper):
        base = config.dir
        self.keeper = keeper
        self.config = config
        self.number = number
        self.kvs = kvs
        self.paths = Paths(base / f"node{number}.log", base / f"node{number}.qemu.log",
                           base / f"node{number}.agent", base / f"node{number}.qmp", base / f"node{number}.console", base / f"node{number}.gdb")
        self.process = None
        self.channel = None
        self.release = ""
        self.boot_seconds = 0.0

    def command(self):
        """The QEMU command line."""
        return self.keeper.command(self)

    @property
    def running(self):
        """Whether its QEMU runs."""
        return self.process is not None and self.process.returncode is None

    @property
    def state(self):
        """'up', 'booting', 'down', 'exited N' or 'host gone'."""
        if self.process is None:
            return "down"
        if self.process.returncode is not None:
            if self.keeper.gone:
                return "host gone"
            return f"exited {self.process.returncode}"
        return "up" if self.release or not self.config.agent else "booting"

    async def start(self):
        """Start QEMU and wait until the guest answers."""
        if self.running:
            raise NodeError(f"node {self.number} is running")
        started = time.monotonic()
        self.release = ""
        self.process = await self.keeper.launch(self)
        if self.config.agent:
            await self._wait_boot()
            await share.mount(self)
        self.boot_seconds = time.monotonic() - started

    async def _wait_boot(self):
        self.channel = AgentChannel(self.number, self.kvs)
        greeting = asyncio.create_task(self.channel.connect(functools.partial(self.connect, "agent")))
        gone = asyncio.create_task(self.process.wait())
        try:
            await asyncio.wait({greeting, gone}, timeout=self.config.boot_timeout, return_when=asyncio.FIRST_COMPLETED)
            if greeting.done() and not greeting.exception():
                self.release = greeting.result().split(" ")[0]
                return
            if greeting.done():
                await asyncio.wait({gone}, timeout=1.0)  # the channel notices the end first
            if gone.done():
                raise NodeError(self._why_ended(gone.result()))
            if greeting.done():
                raise greeting.exception()
            agent = " (does the system on its disk start gni-agent? Documentation/nodes.md)" if self.config.disk else ""
            raise NodeError(f"node {self.number}: no answer within {self.config.boot_timeout:g} s of its start{agent};"
                            f" the end of {self.paths.console}:\n" + host.log_tail(self.paths.console))
        finally:
            greeting.cancel()
            gone.cancel()

    def _why_ended(self, status):
        """QEMU's own error message, or the end of the console log if there is none, as after a guest's panic."""
        binary = str(self.config.qemu_path())
        said = [line for line in self.paths.qemu_log.read_text(encoding="utf-8", errors="replace").splitlines()
                if line and not line.startswith((binary, "'" + binary))]
        text = f"node {self.number}: QEMU ended with status {status}"
        if said and status:
            return f"{text}: {said[-1]} (all of it: {self.paths.qemu_log})"
        return f"{text}; the end of {self.paths.console}:\n" + host.log_tail(self.paths.console)

    def start_command(self, argv, env=None, cwd="/", tty=False, on_output=None, window=False):
        """Start a command; a RemoteProcess. A string goes through the shell; window: as AgentChannel.start()."""
        if self.channel is None:
            raise NodeError(f"node {self.number} is not running")
        if isinstance(argv, str):
            argv = ["/bin/sh", "-c", argv]
        full = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "TERM": "linux", "OPENGNI_KVS": "/run/opengni/kvs.sock",
                "OPENGNI_NODE": str(self.number), "OPENGNI_NODES": str(self.config.nodes)}
        full.update(env or {})
        return self.channel.start(list(argv), full, cwd, tty, on_output, window)

    async def run(self, argv, env=None, cwd="/", timeout=60.0, stdin=b"", silence=None):
        """Run a command and return its Result; NodeError when it takes too long or the node dies.

        @silence: limit in seconds without output, which replaces @timeout
        """
        output = {1: bytearray(), 2: bytearray()}
        process = self.start_command(argv, env, cwd, on_output=lambda stream, data: output[stream].extend(data))
        if stdin:
            process.stdin(stdin)
        process.stdin(b"")
        ended = asyncio.ensure_future(process.wait())
        heard = -1
        while not ended.done() and heard < (now := len(output[1]) + len(output[2])):
            heard = now if silence else sys.maxsize
            await asyncio.wait({ended}, timeout=silence or timeout)
        if not ended.done():
            ended.cancel()
            process.signal(signal.SIGKILL)
            shown = argv if isinstance(argv, str) else shlex.join(argv)
            limit = f"said nothing for {silence:g} s" if silence else f"did not end within {timeout:g} s"
            raise NodeError(f"node {self.number}: '{shown}' {limit};"
                            f" the end of {self.paths.console}:\n" + host.log_tail(self.paths.console))
        return Result(ended.result(), output[1].decode("utf-8", "replace"), output[2].decode("utf-8", "replace"))

    async def qmp(self, name, arguments=None):
        """A QMP command to this node's QEMU."""
        return await qmp.command(functools.partial(self.connect, "qmp"), f"node {self.number}", name, arguments)

    async def connect(self, what):
        """(reader, writer) at a socket of its QEMU: 'agent', 'qmp' or 'serial'; OSError."""
        return await self.keeper.connect(self, what)

    async def set_nic(self, name, value):
        """Set a property of the NIC while it runs (fault injection)."""
        await self.qmp("qom-set", {"path": "/machine/peripheral/nic0", "property": name, "value": value})

    async def get_nic(self, name):
        """Read a property of the NIC."""
        return await self.qmp("qom-get", {"path": "/machine/peripheral/nic0", "property": name})

    async def signal(self, which):
        """Send a signal to QEMU: SIGSTOP, SIGCONT."""
        await self.keeper.signal(self, which)

    async def kill(self):
        """End QEMU at once (SIGKILL): what a power cut does to a node."""
        await self._end(signal.SIGKILL, "killed")

    async def stop(self):
        """End QEMU in order: its NIC leaves the fabric."""
        await self._end(signal.SIGTERM, "stopped")

    async def _end(self, number, reason):
        if self.channel:
            self.channel.close(reason)
            self.channel = None
        if self.running:
            self.process.send_signal(number)
            try:
                await asyncio.wait_for(self.process.wait(), STOP_TIMEOUT)
            except asyncio.TimeoutError:
                self.process.kill()
                await self.process.wait()
        self.process = None
        self.release = ""
