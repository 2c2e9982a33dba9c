# SPDX-License-Identifier: GPL-2.0-or-later
"""A session at the serial console of a node."""

import asyncio
import contextlib
import os
import signal
import sys
import termios
import tty

from . import client, host

ESCAPE = b"\x1d"
"""Control-] ends a session, as in telnet."""


@contextlib.contextmanager
def _raw_terminal():
    """The local terminal without echo and signals, if there is one."""
    saved = termios.tcgetattr(0) if os.isatty(0) else None
    if saved:
        tty.setraw(0)
    try:
        yield
    finally:
        if saved:
            termios.tcsetattr(0, termios.TCSADRAIN, saved)


async def _type(writer, over):
    """What is typed here goes to the console until the escape key; the end of a file is not the end of the session."""
    while True:
        await client.readable()
        data = os.read(0, 4096)
        if not data:
            return
        typed, escape, _ = data.partition(ESCAPE)
        writer.write(typed)
        if escape:
            over.set()
            return


async def session(name, number):
    """Watch a console and type at it; the exit status."""
    reader, writer = await client.connect(name)
    await client.ask(reader, writer, {"op": "console", "nodes": [number]})
    over = asyncio.Event()
    for caught in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(caught, over.set)
    if os.isatty(0):
        print(f"console of node {number}; Control-] ends this session", file=sys.stderr, flush=True)
    ended = asyncio.create_task(over.wait())
    with _raw_terminal():
        typing = asyncio.create_task(_type(writer, over))
        status = 0
        while True:
            read = asyncio.create_task(reader.read(1 << 16))
            await asyncio.wait({read, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not read.done():
                read.cancel()
                break
            if not read.result():
                status = 1
                break
            sys.stdout.buffer.write(read.result())
            sys.stdout.flush()
        typing.cancel()
        writer.close()
    if status:
        print(f"{host.SCRIPTS}cluster: node {number} has gone", file=sys.stderr)
    return status
