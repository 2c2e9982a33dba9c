# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the virtual machines of nodes on this host; remote.py does the same for other hosts."""

import asyncio
from pathlib import Path

from . import disk, host, qemu

LIMIT = 1 << 22
"""Bytes of one answer of QEMU."""


class Here:
    """This host. An event loop starts as many nodes in parallel as there are processors."""

    name = ""
    gone = ""
    """Why a host cannot be asked: never so of this one."""

    def __init__(self):
        self.gate = asyncio.Semaphore(max(2, host.cpus()))

    async def launch(self, node):
        """Start a node's QEMU; the process."""
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
        """Send a signal to a node's QEMU."""
        node.process.send_signal(which)

    @staticmethod
    async def connect(node, what):
        """(reader, writer) at a socket of a node's QEMU: 'agent', 'qmp' or 'serial'; OSError."""
        path: Path = getattr(node.paths, what)
        return await asyncio.open_unix_connection(str(path), limit=LIMIT)
