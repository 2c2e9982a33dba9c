# SPDX-License-Identifier: GPL-2.0-or-later
"""Flow control for the input and output of commands on nodes: windows limit what the processes in between have to buffer."""

import asyncio
import struct

from .protocol import STDIN_WINDOW, Kind, frame


class Window:
    """Input of rank 0 that has been sent but not been read: at most STDIN_WINDOW bytes plus one piece."""

    def __init__(self):
        self._room = STDIN_WINDOW
        self._more = asyncio.Event()

    async def take(self, size):
        """Wait until this many bytes may be sent."""
        while self._room <= 0:
            self._more.clear()
            await self._more.wait()
        self._room -= size

    def taken(self, rank, payload):
        """Handle a STDIN_TAKEN frame."""
        if rank == 0:
            self._room += struct.unpack_from("<I", payload)[0]
            self._more.set()


class Taken:
    """Output that has been read here; reported to the agents from time to time."""

    STEP = 1 << 17

    def __init__(self, writer):
        self._writer = writer
        self._untold = {}

    def add(self, rank, size):
        """Count bytes of a rank's output that have been read."""
        untold = self._untold.get(rank, 0) + size
        if untold >= self.STEP:
            self._writer.write(frame(Kind.OUTPUT_TAKEN, rank, struct.pack("<I", untold)))
            untold = 0
        self._untold[rank] = untold
