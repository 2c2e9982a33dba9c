# SPDX-License-Identifier: GPL-2.0-or-later
"""The serial console of a node: one connection to QEMU, shared by any number of watchers."""

import asyncio

from .errors import NodeError

BEHIND = 1 << 20
"""Bytes that a watcher may not have read; what comes then is not kept for it."""


class Console:
    """The cluster's end. QEMU accepts one connection, which is kept as long as there is a watcher."""

    def __init__(self, node):
        self._node = node
        self._watchers = set()
        self._machine = None
        self._pump = None
        self._lock = asyncio.Lock()

    async def watch(self, reader, writer):
        """Serve a watcher until it or the machine ends: after the answer, bytes in both directions."""
        async with self._lock:
            if not self._watchers:
                await self._open()
            self._watchers.add(writer)
        writer.write(b"{}\n")
        try:
            while data := await reader.read(4096):
                if writer not in self._watchers:
                    break
                self._machine.write(data)
                await self._machine.drain()
        finally:
            self._watchers.discard(writer)
            if not self._watchers and self._pump:
                self._pump.cancel()

    async def _open(self):
        if not self._node.running:
            raise NodeError(f"node {self._node.number} is not running")
        try:
            reader, machine = await self._node.connect("serial")
        except OSError as error:
            raise NodeError(f"node {self._node.number} has no console: {error.strerror}") from None
        if self._pump:
            self._pump.cancel()
        self._machine = machine
        self._pump = asyncio.create_task(self._copy(reader, machine))

    async def _copy(self, reader, machine):
        try:
            while data := await reader.read(1 << 16):
                for writer in self._watchers:
                    if writer.transport.get_write_buffer_size() < BEHIND:
                        writer.write(data)
        finally:
            machine.close()
            if machine is self._machine:
                for writer in self._watchers:
                    writer.close()
                self._watchers.clear()
