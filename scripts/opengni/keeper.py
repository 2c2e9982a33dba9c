# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Where a node's machine runs: on this host. Another host does the same through remote.py."""

import asyncio
from pathlib import Path

from . import disk, host, qemu

LIMIT = 1 << 22
"""Bytes of one answer of QEMU."""


class Here:
    """This machine. An event loop may start as many nodes at a time as there are processors."""

    name = ""
    gone = ""
    """Why a host cannot be asked: never so of this one."""

    def __init__(self):
        self.gate = asyncio.Semaphore(max(2, host.cpus()))

    async def launch(self, node):
        """Start a node's QEMU: its process."""
        for path in (node.paths.agent, node.paths.qmp, node.paths.serial, node.paths.gdb):
            path.unlink(missing_ok=True)
        if node.config.disk:
            disk.prepare(node.config, node.number)
        line = self.command(node)
        with open(node.paths.qemu_log, "ab") as log:
            log.write((qemu.printable(line) + "\n").encode())
            log.flush()
            return await asyncio.create_subprocess_exec(
                *line, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=host.die_with_parent)

    @staticmethod
    def command(node):
        """The QEMU command line."""
        return qemu.command(node.config, node.number, node.paths)

    @staticmethod
    async def signal(node, which):
        """To a node's QEMU, which has it then."""
        node.process.send_signal(which)

    @staticmethod
    async def connect(node, what):
        """(reader, writer) at a socket of a node's QEMU: 'agent', 'qmp' or 'serial'; OSError."""
        path: Path = getattr(node.paths, what)
        return await asyncio.open_unix_connection(str(path), limit=LIMIT)
