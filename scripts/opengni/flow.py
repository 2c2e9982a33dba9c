# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Windows of what is on its way to and from commands on nodes, so that nobody between has to keep it all."""

import asyncio
import struct

from .protocol import STDIN_WINDOW, Kind, frame


class Window:
    """Input of rank 0 that has been sent and not been taken: at most STDIN_WINDOW bytes and the last piece."""

    def __init__(self):
        self._room = STDIN_WINDOW
        self._more = asyncio.Event()

    async def take(self, size):
        """Wait until so much may be sent."""
        while self._room <= 0:
            self._more.clear()
            await self._more.wait()
        self._room -= size

    def taken(self, rank, payload):
        """A STDIN_TAKEN frame."""
        if rank == 0:
            self._room += struct.unpack_from("<I", payload)[0]
            self._more.set()


class Taken:
    """Output that has been read here, told to the agents now and then."""

    STEP = 1 << 17

    def __init__(self, writer):
        self._writer = writer
        self._untold = {}

    def add(self, rank, size):
        """So many bytes of a rank's output have been used."""
        untold = self._untold.get(rank, 0) + size
        if untold >= self.STEP:
            self._writer.write(frame(Kind.OUTPUT_TAKEN, rank, struct.pack("<I", untold)))
            untold = 0
        self._untold[rank] = untold
