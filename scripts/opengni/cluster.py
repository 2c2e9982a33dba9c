# SPDX-License-Identifier: GPL-2.0-or-later
"""N nodes on one fabric."""

import asyncio
import shutil
import sys
import time

from . import disk, fabric, host, locks
from .config import PID
from .errors import ConfigError, NodeError
from .job import Job
from .keeper import Here
from .kvs import Kvs
from .node import Node
from .remote import Fleet

RUNS_KEPT = 20
TELL, TELL_AGAIN = 20.0, 60.0
"""Seconds of a boot after which a line says how far it is; most seconds between two of those."""
LEFTOVERS = ("id_ed25519", ".agent", ".qmp", ".console", ".gdb", ".gdbinit", ".sock")
"""Names or suffixes of what is in a cluster's folder beside logs, and of no use when it has ended."""


class Cluster:
    """Boots, runs and tears down nodes. All methods belong to one event loop."""

    def __init__(self, config, progress=None):
        """progress(line) is called with messages on what happens; by default they are dropped."""
        self.config = config
        self.kvs = Kvs()
        self.progress = progress or (lambda line: None)
        self.fleet = Fleet(config, self._tell) if config.hosts else None
        here = Here()
        self.nodes = [Node(config, number, self.kvs, self.fleet.keeper(number) if self.fleet else here) for number in range(config.nodes)]
        self._claim = None
        self._prepared = False

    def _tell(self, line):
        self.progress(line)

    def claim(self):
        """Take the name and make the cluster's folder; a name has one user at a time. Nothing is done the second time."""
        if self._claim:
            return
        self.config.validate()
        directory = self.config.dir
        _prune(directory.parent)
        # The path of a Unix socket is limited to 107 bytes.
        if len(str(self.nodes[-1].paths.agent)) > 100:
            raise ConfigError(f"the path {directory} is too long for sockets: set {host.STATE_VARIABLE} to a shorter place")
        self._claim = self.config.claim()

    async def up(self, numbers=None):
        """Boot nodes (default: all), as many at a time as there are processors."""
        if not self._prepared:
            self.claim()
            self._prepared = True
            if self.fleet:
                await self.fleet.up()
            else:
                self.progress(f"accelerator {self.config.accel}: {self.config.accel_reason}")

        async def boot(node):
            async with node.keeper.gate:
                await node.start()
                self.progress(f"node {node.number} up after {node.boot_seconds:.1f} s, Linux {node.release}")

        numbers = numbers or range(len(self.nodes))
        telling = asyncio.create_task(self._tell_progress([self.nodes[number] for number in numbers]))
        tasks = [asyncio.create_task(boot(self.nodes[number])) for number in numbers]
        try:
            await asyncio.gather(*tasks)
            if self.fleet and self.config.load_driver:
                await self.fleet.settle(numbers)
        finally:
            for task in (telling, *tasks):
                task.cancel()
            await asyncio.gather(telling, *tasks, return_exceptions=True)

    async def _tell_progress(self, nodes):
        """Now and then, how many of these nodes are up and what one of the others says; it ends by being cancelled."""
        started, pause = time.monotonic(), TELL
        while True:
            await asyncio.sleep(pause)
            pause = min(2 * pause, TELL_AGAIN)
            booting = [node for node in nodes if node.state == "booting"]
            if booting:
                up = sum(1 for node in nodes if node.state == "up")
                last = "".join(char if char.isprintable() else " " for char in host.log_tail(booting[0].paths.console, 1)).strip()
                self.progress(f"{up} of {len(nodes)} nodes up after {time.monotonic() - started:.0f} s; node {booting[0].number} boots: {last}")

    async def down(self):
        """End all nodes and remove what the fabric has in /dev/shm. Logs stay."""
        await asyncio.gather(*(node.stop() for node in self.nodes))
        if self.fleet:
            await self.fleet.down()
        if self._claim:
            fabric.remove(self.config.fabric)
            disk.remove(self.config)
            for path in self.config.dir.iterdir():
                if path.stem in LEFTOVERS or path.suffix in LEFTOVERS:
                    path.unlink(missing_ok=True)
            self._claim.release()
            self._claim = None
            self._prepared = False

    def node(self, number):
        """A node by its address."""
        if not 0 <= number < len(self.nodes):
            raise ConfigError(f"no node {number}: they go from 0 to {len(self.nodes) - 1}")
        return self.nodes[number]

    def start_job(self, argv, **options):
        """Start a program on all (or some) nodes; see Job."""
        for number in options.get("nodes") or range(len(self.nodes)):
            if not self.node(number).running:
                raise NodeError(f"node {number} is not running")
        job = Job(self, argv, **options)
        job.start()
        return job

    async def run_job(self, argv, timeout=None, **options):
        """Run it to its end; the ranks' results."""
        job = self.start_job(argv, **options)
        for rank in range(len(job.processes)):
            job.stdin(b"", rank)
        return await job.wait(timeout)

    async def __aenter__(self):
        try:
            await self.up()
        except BaseException:
            await self.down()
            raise
        return self

    async def __aexit__(self, *_):
        await self.down()


def _prune(runs):
    """Keep the logs of the last runs only."""
    if runs.is_dir():
        old = sorted((path for path in runs.glob("run-*") if locks.holder(path / PID) is None), key=lambda path: path.stat().st_mtime)
        for path in old[:-RUNS_KEPT]:
            shutil.rmtree(path, ignore_errors=True)


def to_stderr(line):
    """A progress function."""
    print(line, file=sys.stderr, flush=True)
