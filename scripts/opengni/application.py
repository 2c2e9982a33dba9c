# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs as ALPS starts them, with communication domains on every node and the environment that PMI needs."""

import asyncio
import itertools
import os
import secrets

from .errors import ConfigError, NodeError
from .job import PER_NODE_MAX, Job

DOMAINS = 2
"""Domains of a job, as on a real machine: one for MPI, one for what runs beside it."""

DOMAIN_TIME = 300.0
"""Seconds for making a domain on a node. That is a moment's work, so this ends waiting for a node that hangs, and no slow machine's."""

# Protection keys (upper half of a cookie) for users; below 2^15, because programs read cookies with atoi().
PKEY_FIRST, PKEY_LAST = 128, 32767

_numbers = itertools.count(1)


def new_cookie():
    """A cookie that no other job uses."""
    pkey = PKEY_FIRST + secrets.randbelow(PKEY_LAST - PKEY_FIRST + 1)
    return pkey << 16 | secrets.randbelow(1 << 16)


def place(cluster, request):
    """Node of each rank for "count" ranks, "per_node", on "nodes", with "depth" processors each; ConfigError."""
    count, depth = request["count"], request.get("depth", 1)
    nodes = request.get("nodes")
    if nodes is None:
        nodes = [node.number for node in cluster.nodes if node.running]
    for number in nodes:
        if not cluster.node(number).running:
            raise ConfigError(f"node {number} is not running")
    per_node = request.get("per_node") or max(1, cluster.config.smp // depth)
    if per_node > PER_NODE_MAX:
        raise ConfigError(f"{per_node} ranks on a node: up to {PER_NODE_MAX} are possible")
    room = per_node * len(nodes)
    if count > room:
        raise ConfigError(f"{count} ranks do not fit: {len(nodes)} nodes take {per_node} each, that is {room}"
                          " (more with -N, or with a larger cluster)")
    return [node for node in nodes for _ in range(per_node)][:count]


class Application(Job):
    """A job with domains. launch() instead of start(); one that fails ends the others at once."""

    def __init__(self, cluster, argv, depth=1, **options):
        super().__init__(cluster, argv, grace=0.0, **options)
        number = next(_numbers)
        self.apid = os.getpid() * 1000 + number
        self.name = f"aprun-{self.apid}"
        self.depth = depth
        self.cookies = [new_cookie() for _ in range(DOMAINS)]
        self.cookie = self.cookies[0]
        self.gni = {}
        """Variables of each node that gni-domain prints."""

    async def launch(self):
        """Make the domains and start all ranks; NodeError."""
        nodes = sorted(set(self.placement))
        try:
            await asyncio.gather(*(self._create(node) for node in nodes))
        except NodeError:
            await self._release()
            raise
        self.start()

    async def wait(self, timeout=None):
        """As Job.wait(); the domains are gone then."""
        try:
            return await super().wait(timeout)
        finally:
            await self._release()

    def rank_env(self, rank):
        """Environment of a rank as ALPS and PMI define it."""
        node = self.placement[rank]
        return {
            "PMI_RANK": str(rank), "PMI_SIZE": str(len(self.placement)), "PMI_APPNUM": "0", "PMI_SPAWNED": "0",
            "PMI_FORK_RANK": str(rank), "ALPS_APP_PE": str(rank), "ALPS_APP_ID": str(self.apid),
            "ALPS_APP_DEPTH": str(self.depth), **self.gni[node],
        }

    def _command(self, what):
        cookies = ",".join(str(cookie) for cookie in self.cookies)
        return ["gni-domain", what, f"--job={self.apid}", f"--cookie={cookies}"]

    async def _create(self, node):
        result = await self.cluster.nodes[node].run(self._command("create"), timeout=DOMAIN_TIME)
        if result.code:
            raise NodeError(f"node {node}: no communication domain: {result.stderr.strip()}")
        self.gni[node] = dict(line.split("=", 1) for line in result.stdout.split())

    async def _release(self):
        async def destroy(node):
            try:
                await self.cluster.nodes[node].run(self._command("destroy"), timeout=10.0)
            except NodeError:
                pass  # the domains have gone with the node
        await asyncio.gather(*(destroy(node) for node in self.gni if self.cluster.nodes[node].running))
        self.gni = {}
