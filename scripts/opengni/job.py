# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on several nodes at once, with ranks."""

import asyncio
import itertools
import os
import secrets
import signal
from dataclasses import dataclass

from .errors import ConfigError, NodeError

PER_NODE_MAX = 1024
"""Ranks on a node: each is a process there, and a stream of output here."""

_numbers = itertools.count(1)

# 128 + SIGTERM, as a shell reports it.
LOST = 255


@dataclass
class RankResult:
    """How one rank ended. code is minus the signal, or LOST with the reason in error."""

    rank: int
    node: int
    code: int
    stdout: str
    stderr: str
    error: str = ""

    @property
    def ok(self):
        """Whether it exited with 0."""
        return self.code == 0


def layout(placement):
    """Nodes of ranks as OPENGNI_LAYOUT has them: '0x2,3x1' is two ranks on node 0, then one on node 3."""
    return ",".join(f"{node}x{len(list(group))}" for node, group in itertools.groupby(placement))


class Job:
    """Ranks of one program, in node order."""

    def __init__(self, cluster, argv, nodes=None, per_node=1, env=None, cwd="/", tty=False, on_output=None, grace=10.0,
                 placement=None, window=False):
        """placement: node of each rank, instead of nodes and per_node. on_output(rank, stream, data).

        window: output waits until processes[rank].output_taken() has told that what came before it was taken.

        grace: seconds that other ranks get once one has failed, None for ever.
        """
        self.cluster = cluster
        self.name = f"job-{os.getpid()}-{next(_numbers)}"
        nodes = nodes if nodes is not None else range(len(cluster.nodes))
        if not 1 <= per_node <= PER_NODE_MAX:
            raise ConfigError(f"{per_node} ranks on a node: 1 to {PER_NODE_MAX} are possible")
        self.placement = placement or [node for node in nodes for _ in range(per_node)]
        self.argv, self.env, self.cwd, self.tty = argv, dict(env or {}), cwd, tty
        self.on_output = on_output
        self.window = window
        self.grace = grace
        self.cookie = secrets.randbelow(0xFFFFFFFE) + 1
        self.processes = []
        self.output = []
        self.ended = []
        """Ranks in the order in which they have ended."""

    def rank_env(self, _rank):
        """More variables for one rank."""
        return {}

    def start(self):
        """Start all ranks."""
        shared = {
            "OPENGNI_JOB": self.name,
            "OPENGNI_RANKS": str(len(self.placement)),
            "OPENGNI_COOKIE": f"0x{self.cookie:08x}",
            "OPENGNI_LAYOUT": layout(self.placement),
        }
        for rank, number in enumerate(self.placement):
            output = {1: bytearray(), 2: bytearray()}
            self.output.append(output)
            env = {**shared, "OPENGNI_RANK": str(rank), **self.rank_env(rank), **self.env}
            node = self.cluster.nodes[number]
            self.processes.append(node.start_command(self.argv, env, self.cwd, self.tty, self._sink(rank, output), self.window))

    def _sink(self, rank, output):
        def sink(stream, data):
            if self.on_output:
                self.on_output(rank, stream, data)
            else:
                output[stream].extend(data)
        return sink

    def signal(self, number):
        """Send a signal to every rank."""
        for process in self.processes:
            process.signal(number)

    def stdin(self, data, rank=0):
        """Input goes to one rank; empty closes it."""
        self.processes[rank].stdin(data)

    async def wait(self, timeout=None):
        """Results in rank order. After the time-out, or the grace time, ranks are ended by signal."""
        tasks = [asyncio.create_task(self._rank(rank)) for rank in range(len(self.processes))]
        try:
            await asyncio.wait_for(self._supervise(tasks), timeout)
        except asyncio.TimeoutError:
            await self._end(tasks)
            late = ", ".join(str(rank) for rank, task in enumerate(tasks) if task.result().code)
            raise NodeError(f"{self.name}: rank {late} did not end within {timeout:g} s") from None
        finally:
            self.cluster.kvs.drop(self.name)
            for task in tasks:
                task.cancel()
        return [task.result() for task in tasks]

    async def _supervise(self, tasks):
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if self.grace is not None and pending and any(not task.result().ok for task in done):
                await asyncio.wait(pending, timeout=self.grace)
                await self._end(tasks)
                return

    async def _end(self, tasks):
        for number in (signal.SIGTERM, signal.SIGKILL):
            pending = [task for task in tasks if not task.done()]
            if not pending:
                return
            self.signal(number)
            await asyncio.wait(pending, timeout=2.0)
        for process in self.processes:
            process.finish(NodeError("does not die"))
        await asyncio.wait(tasks)

    async def _rank(self, rank):
        code, error = LOST, ""
        try:
            code = await self.processes[rank].wait()
        except NodeError as cause:
            error = str(cause)
        self.ended.append(rank)
        out, err = (self.output[rank][stream].decode("utf-8", "replace") for stream in (1, 2))
        return RankResult(rank, self.placement[rank], code, out, err, error)
