# SPDX-License-Identifier: GPL-2.0-or-later
"""What `cluster up --hosts` runs on each host: machines and the gateway of that host, on orders of the head.

It talks to the head over standard input and output (link.py). When the head has gone, for whatever reason, it ends everything that it runs.
"""

import asyncio
import os
import signal
import stat
import sys

from . import disk, fabric, gateway, hostfile
from .config import PID, ClusterConfig
from .errors import ClusterError, ConfigError, NodeError
from .keeper import Here
from .link import GREETING, VERSION, Link
from .node import STOP_TIMEOUT, Node
from .version import version
from .writing import write_text

LOOK = 0.25
"""Seconds between looks for what logs have got."""
PATIENCE = 600.0
"""Seconds without the head; it may be stopped for a while from its terminal."""
LOG_STEP = 1 << 16


class Logs:
    """The log files in a folder; new bytes are sent to the head."""

    def __init__(self, folder, link):
        self._folder, self._link = folder, link
        self._sent = {}

    async def look(self):
        """Send what is new. A file that has become shorter is a new file."""
        for path in sorted(self._folder.glob("*.log")):
            await self._look_at(path)

    async def _look_at(self, path):
        at = self._sent.get(path.name, 0)
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size < at:
                    at = 0
                file.seek(at)
                if path.name not in self._sent:
                    self._link.send_log(path.name, 0, b"")  # so that the head has the file even if it stays empty
                while data := file.read(LOG_STEP):
                    self._link.send_log(path.name, at, data)
                    at += len(data)
                    await self._link.drain()
        except FileNotFoundError:
            return
        self._sent[path.name] = at


class Member:
    """This host's part of a cluster."""

    def __init__(self):
        self.link = None
        self.config = None
        self.gateway = None
        self.logs = None
        self.keeper = Here()
        self.nodes = {}
        self.ended = asyncio.Event()
        self._claim = None
        self._tasks = set()

    async def serve(self, request):
        """Serve a request of the head."""
        operation = getattr(self, "_op_" + str(request.pop("op")), None)
        if operation is None:
            raise ClusterError("the head asks for what this host does not know")
        return await operation(**request)

    def told(self, _message):
        """Messages: the head sends none."""

    def log(self, _name, _offset, _data):
        """Log data: only members send it."""

    async def connect(self, what):
        """Connect to a socket of a node's QEMU."""
        if what["what"] not in ("agent", "qmp", "serial"):
            raise ClusterError(f"no socket '{what['what']}'")
        return await self.keeper.connect(self._node(what["node"]), what["what"])

    def _node(self, number):
        if number not in self.nodes:
            raise NodeError(f"node {number} does not live here")
        return self.nodes[number]

    async def _op_check(self, config, hosts):
        """Check that this host has everything its nodes need, without starting anything."""
        self.config = ClusterConfig(**config)
        self.config.validate()
        own = next(entry for entry in hostfile.parse(hosts, "hosts") if entry.name == self.config.host_name)
        gateway.check(own)
        return {"accel": self.config.accel, "reason": self.config.accel_reason}

    async def _op_prepare(self, hosts, key):
        """Make the folder and start the gateway."""
        self._claim = self.config.claim()
        write_text(self.config.dir / "member", "a host of another cluster: its head lists it\n", encoding="ascii")
        self.nodes = {number: Node(self.config, number, None, self.keeper) for number in self.config.here}
        if len(str(self.nodes[self.config.here[-1]].paths.agent)) > 100:
            raise ConfigError(f"the path {self.config.dir} is too long for sockets")
        self.logs = Logs(self.config.dir, self.link)
        self._task(self._watch_logs())
        self.gateway = gateway.Gateway(self.config, hosts, key)
        try:
            await self.gateway.start()
        finally:
            await self.logs.look()

    async def _op_peers(self):
        return await self.gateway.peers()

    async def _op_reachable(self):
        return await self.gateway.reachable()

    async def _op_start(self, node, place):
        """Start a node's QEMU at a place, which may be another than before."""
        own = self._node(node)
        if own.running:
            raise NodeError(f"node {node} is running")
        self.config.places[node] = place
        own.process = await self.keeper.launch(own)
        self._task(self._wait(own))
        return {"pid": own.process.pid, "command": self.keeper.command(own)}

    async def _wait(self, node):
        status = await node.process.wait()
        await self.logs.look()
        self.link.tell(node=node.number, status=status)

    async def _op_signal(self, node, number):
        """Send a signal to a node's QEMU."""
        own = self._node(node)
        if own.running:
            own.process.send_signal(number)

    async def _op_down(self):
        await self.down()

    async def _watch_logs(self):
        while True:
            await asyncio.sleep(LOOK)
            await self.logs.look()

    def _task(self, coroutine):
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def down(self):
        """End everything, and remove what the fabric has in /dev/shm. Logs stay."""
        nodes, self.nodes = self.nodes, {}
        await asyncio.gather(*(self._end(node) for node in nodes.values()))
        if self.gateway:
            await self.gateway.stop()
        if self.logs:
            await self.logs.look()
        for task in self._tasks:
            task.cancel()
        if self.gateway:
            fabric.remove(self.config.fabric)
            disk.remove(self.config)
            for path in self.config.dir.iterdir():
                if path.suffix != ".log" and path.name != PID:
                    path.unlink(missing_ok=True)
        self.gateway = None
        if self._claim:
            self._claim.release()
            self._claim = None

    @staticmethod
    async def _end(node):
        if not node.running:
            return
        node.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(node.process.wait(), STOP_TIMEOUT)
        except asyncio.TimeoutError:
            node.process.kill()
            await node.process.wait()


async def _pipes():
    """(reader, writer) for standard input and output. From now on print() goes to standard error, so that it cannot disturb the frames."""
    loop = asyncio.get_running_loop()
    out = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


async def _main():
    member = Member()
    reader, writer = await _pipes()
    writer.write(GREETING + f"{VERSION} {version()}\n".encode())
    member.link = Link(reader, writer, member, PATIENCE)
    serving = asyncio.create_task(member.link.run())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, member.link.close, "a signal has ended it")
    over = asyncio.create_task(member.link.over.wait())
    await asyncio.wait({serving, over}, return_when=asyncio.FIRST_COMPLETED)
    await member.down()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    return 0


def run():
    """Serve a head; the exit status."""
    if not all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in (os.fstat(fd).st_mode for fd in (0, 1))):
        raise ClusterError("'member' is what 'up --hosts' runs on each host; by hand there is nobody to tell it what to do")
    return asyncio.run(_main())
