# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames between the cluster tool and the agent; scripts/agent/protocol.hpp is the other end."""

import enum
import os
import struct

VERSION = 2
HEADER = struct.Struct("<III")
PAYLOAD_MAX = 1 << 18
EXEC_TTY = 1
EXEC_WINDOW = 2
STDIN_WINDOW = 1 << 18
"""Bytes of input that may be on their way to a command; the agent tells of every 1 << 16 that it has taken."""


class Kind(enum.IntEnum):
    """See protocol.hpp."""

    HELLO = 1
    EXEC = 2
    STARTED = 3
    STDIN = 4
    STDOUT = 5
    STDERR = 6
    EXIT = 7
    SIGNAL = 8
    RESIZE = 9
    KVS_REQUEST = 10
    KVS_REPLY = 11
    KVS_CLOSE = 12
    POWEROFF = 13
    STDIN_TAKEN = 14
    OUTPUT_TAKEN = 15


def frame(kind, ident, payload=b""):
    """One frame as bytes."""
    return HEADER.pack(len(payload), kind, ident) + payload


def exec_payload(argv, env, cwd, tty=False, window=False):
    """What an EXEC frame carries."""
    words = [cwd, *argv, *(f"{key}={value}" for key, value in env.items())]
    data = b"".join(os.fsencode(word) + b"\0" for word in words)
    return struct.pack("<III", (EXEC_TTY if tty else 0) | (EXEC_WINDOW if window else 0), len(argv), len(env)) + data


async def read_frame(reader):
    """(kind, id, payload) of the next frame; IncompleteReadError at the end, ValueError for nonsense."""
    size, kind, ident = HEADER.unpack(await reader.readexactly(HEADER.size))
    if size > PAYLOAD_MAX:
        raise ValueError(f"frame of {size} bytes")
    return Kind(kind), ident, await reader.readexactly(size)
