# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster in the background, and the socket on which it takes commands.

A client sends one JSON line. The answer to all but "exec" and "aprun" is one JSON line; an
"exec" is answered by {"ranks": [node of rank 0, ...]} and then frames of
protocol.py in both directions, their id being the rank.
"""

import asyncio
import contextlib
import functools
import json
import os
import signal
import socket
import struct
import sys

from .application import Application, place
from .cluster import Cluster
from .errors import ClusterError, NodeError
from .job import LOST
from .protocol import PAYLOAD_MAX, Kind, frame, read_frame
from .serial import Console

SOCKET = "ctl.sock"
GRACE = 10.0
"""Seconds that commands whose client has gone have to clean up."""


class Server:
    """Serves one cluster until `down`. While it boots there is its status, its consoles and `down`."""

    def __init__(self, cluster, boot=None):
        """boot: the task that boots it, if it has not booted yet; `down` cancels it."""
        self.cluster = cluster
        self.boot = boot
        self.over = asyncio.Event()
        self.consoles = {}

    async def serve(self):
        """Until down, or until every node has ended by itself."""
        path = str(self.cluster.config.dir / SOCKET)
        server = await asyncio.start_unix_server(self._client, path)
        os.chmod(path, 0o600)
        async with server:
            await self.over.wait()

    @property
    def booting(self):
        """Whether it has not booted yet."""
        return self.boot is not None and not self.boot.done()

    async def _client(self, reader, writer):
        try:
            request = json.loads(await reader.readline())
            operation = getattr(self, "_op_" + str(request.get("op")), None)
            if operation is None:
                raise ClusterError(f"unknown operation {request.get('op')!r}")
            if self.booting and operation not in (self._op_status, self._op_down, self._op_console, self._op_qmp):
                raise ClusterError(f"cluster {self.cluster.config.name} boots: wait until it is up")
            await operation(request, reader, writer)
        except (ClusterError, ValueError) as error:
            _say(writer, {"error": str(error)})
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _op_status(self, _request, _reader, writer):
        config = self.cluster.config
        places = [f"{place} ({config.layout.name(place)})" for place in config.places]
        nodes = [{"node": node.number, "place": places[node.number],
                  "state": node.state, "pid": node.process.pid if node.running else None,
                  "release": node.release, "console": str(node.paths.console), "command": node.command(), "host": node.keeper.name}
                 for node in self.cluster.nodes]
        _say(writer, {"name": config.name, "fabric": config.fabric, "pid": os.getpid(), "nodes": nodes})

    async def _op_down(self, _request, _reader, writer):
        if self.booting:
            self.boot.cancel()
            await asyncio.wait({self.boot})
        await self.cluster.down()
        _say(writer, {})
        self.over.set()

    async def _op_kill(self, request, _reader, writer):
        for number in request["nodes"]:
            await self.cluster.node(number).kill()
        _say(writer, {})

    async def _op_stop(self, request, _reader, writer):
        for number in request["nodes"]:
            await self.cluster.node(number).stop()
        _say(writer, {})

    async def _op_start(self, request, _reader, writer):
        for number in request["nodes"]:
            self.cluster.node(number)
        await self.cluster.up(request["nodes"])
        _say(writer, {})

    async def _op_qmp(self, request, _reader, writer):
        node = self.cluster.node(request["nodes"][0])
        if not node.running:
            raise NodeError(f"node {node.number} is not running")
        _say(writer, {"value": await node.qmp(request["command"], request.get("arguments"))})

    async def _op_console(self, request, reader, writer):
        node = self.cluster.node(request["nodes"][0])
        console = self.consoles.setdefault(node.number, Console(node))
        await console.watch(reader, writer)

    async def _op_exec(self, request, reader, writer):
        job = self.cluster.start_job(
            request["argv"], nodes=request["nodes"], per_node=request.get("per_node", 1), env=request.get("env"),
            cwd=request.get("cwd", "/"), tty=request.get("tty", False), grace=request.get("grace"), on_output=_to(writer),
            window=request.get("window", False))
        await self._stream(job, request, reader, writer)

    async def _op_aprun(self, request, reader, writer):
        application = Application(
            self.cluster, request["argv"], env=request.get("env"), cwd=request.get("cwd", "/"), on_output=_to(writer),
            placement=place(self.cluster, request), depth=request.get("depth", 1),
            window=request.get("window", False))
        await application.launch()
        await self._stream(application, request, reader, writer)

    async def _stream(self, job, request, reader, writer):
        """Send the output of a job, and the exit codes of its ranks in the order in which they end."""
        _say(writer, {"ranks": job.placement, "job": job.name})
        for rank, process in enumerate(job.processes):
            process.on_taken = functools.partial(_taken, writer, rank)
        control = asyncio.create_task(self._control(job, reader))
        try:
            results = await job.wait(request.get("timeout"))
            for rank in job.ended:
                result = results[rank]
                code, number = (0, -result.code) if result.code < 0 else (result.code, 0)
                text = result.error.encode() if result.code == LOST else b""
                writer.write(frame(Kind.EXIT, result.rank, struct.pack("<II", code, number) + text))
            await writer.drain()
        except ClusterError as error:  # as a frame: by now the client no longer reads lines
            for rank in range(len(job.placement)):
                writer.write(frame(Kind.EXIT, rank, struct.pack("<II", LOST, 0) + (b"" if rank else str(error).encode())))
            await writer.drain()
        finally:
            control.cancel()
            await asyncio.gather(control, return_exceptions=True)
        # Closing with unread input would discard output that the client has not read yet.
        while await reader.read(PAYLOAD_MAX):
            pass

    async def _control(self, job, reader):
        """Handle what the client sends while the job runs; the job ends with the connection."""
        try:
            while True:
                kind, rank, payload = await read_frame(reader)
                if kind is Kind.STDIN:
                    job.stdin(payload, rank)
                elif kind is Kind.SIGNAL:
                    job.signal(struct.unpack("<I", payload)[0])
                elif kind is Kind.OUTPUT_TAKEN:
                    job.processes[rank].output_taken(struct.unpack("<I", payload)[0])
                elif kind is Kind.RESIZE:
                    job.processes[rank].resize(*struct.unpack("<II", payload))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            job.signal(signal.SIGHUP)
            await asyncio.sleep(GRACE)
            job.signal(signal.SIGKILL)


def _to(writer):
    def output(rank, stream, data):
        writer.write(frame(Kind.STDOUT if stream == 1 else Kind.STDERR, rank, data))
    return output


def _taken(writer, rank, size):
    writer.write(frame(Kind.STDIN_TAKEN, rank, struct.pack("<I", size)))


def _say(writer, message):
    writer.write(json.dumps(message).encode() + b"\n")


class _Ended(ClusterError):
    """Somebody has said `down` before the cluster was up."""


async def _boot_and_serve(cluster, booted):
    """Boot, call booted(), and serve until `down`."""
    cluster.claim()  # makes the folder that the socket is in
    boot = asyncio.create_task(cluster.up())
    serving = asyncio.create_task(Server(cluster, boot).serve())
    try:
        await asyncio.wait({boot})
        if boot.cancelled():
            await serving  # which tells the client of `down` when all is down
            raise _Ended(f"cluster {cluster.config.name} was ended by 'down' while it booted")
        boot.result()
        booted()
        await serving
    finally:
        for task in (boot, serving):
            task.cancel()
        await asyncio.gather(boot, serving, return_exceptions=True)


async def _daemon(config, report):
    """report: a socket, whose other end is closed by who does not want to wait for the cluster any more."""
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, main.cancel)
    loop.add_reader(report, main.cancel)

    def progress(line):
        with contextlib.suppress(OSError):
            report.sendall((line + "\n").encode())

    def booted():
        loop.remove_reader(report)
        progress("ready")
        report.close()
        cluster.progress = lambda line: None

    cluster = Cluster(config, progress)
    trouble = ""
    try:
        await _boot_and_serve(cluster, booted)
    except ClusterError as error:
        trouble = f"error {error}"
    except asyncio.CancelledError:
        pass
    finally:
        loop.remove_reader(report)
        await cluster.down()
    if trouble:
        progress(trouble)


async def foreground(config, progress):
    """Boot a cluster and serve it until down or a signal; the exit status."""
    main = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, main.cancel)
    cluster = Cluster(config, progress)
    try:
        await _boot_and_serve(cluster, lambda: progress(f"cluster {config.name} is up, logs in {config.dir}"))
        return 0
    except asyncio.CancelledError:
        return 130
    finally:
        await cluster.down()


def _become_daemon(config, report):
    """In a child: a session of its own, nothing of the terminal. Does not return."""
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    status = 0
    try:
        asyncio.run(_daemon(config, report))
    except Exception as error:  # pylint: disable=broad-except  # the last chance to tell
        try:
            report.sendall(f"error {type(error).__name__}: {error}".encode())
        except OSError:
            status = 1
    os._exit(status)


def _await_boot(report, progress):
    """What the daemon reports, until it is up; ClusterError when it is not."""
    with report.makefile(encoding="utf-8") as lines:
        for line in lines:
            if line == "ready\n":
                return
            if line.startswith("error "):
                raise ClusterError((line[6:] + lines.read()).rstrip("\n"))
            progress(line.rstrip("\n"))
    raise ClusterError("the cluster ended while it booted")


def detach(config, progress):
    """Boot a cluster in a process of its own. Returns when it is up; ClusterError when it is not. An interruption ends the boot, and
    what has booted: it comes back when that has gone. If this process ends in another way, the boot ends with it."""
    report, theirs = socket.socketpair()
    if os.fork() == 0:
        report.close()
        _become_daemon(config, theirs)
    theirs.close()
    os.wait()
    with report:
        try:
            _await_boot(report, progress)
        except KeyboardInterrupt:
            report.shutdown(socket.SHUT_WR)
            while report.recv(1 << 12):
                pass
            progress(f"interrupted: cluster {config.name} has ended")
            raise


if __name__ == "__main__":
    sys.exit("run scripts/cluster instead")
