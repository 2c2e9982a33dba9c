# SPDX-License-Identifier: GPL-2.0-or-later
"""A command to QEMU's machine protocol: faults, hot unplug, injection of PCIe errors."""

import asyncio
import json

from .errors import NodeError


async def command(connect, who, name, arguments=None, timeout=10.0):
    """Run one QMP command and return what it answers; NodeError with QEMU's words when it refuses.

    connect(): (reader, writer) of QEMU's socket; who: whose it is, for messages.
    """
    try:
        return await asyncio.wait_for(_command(connect, name, arguments), timeout)
    except asyncio.TimeoutError:
        raise NodeError(f"{who}: no answer to '{name}' within {timeout:g} s") from None
    except (OSError, asyncio.IncompleteReadError) as error:
        raise NodeError(f"{who}: cannot talk to QEMU: {error}") from None


async def _command(connect, name, arguments):
    reader, writer = await connect()
    try:
        await reader.readline()
        await _call(reader, writer, {"execute": "qmp_capabilities"})
        return await _call(reader, writer, {"execute": name, "arguments": arguments or {}})
    finally:
        writer.close()


async def _call(reader, writer, request):
    writer.write(json.dumps(request).encode() + b"\n")
    while True:
        line = await reader.readline()
        if not line:
            raise asyncio.IncompleteReadError(b"", None)
        answer = json.loads(line)
        if "return" in answer:
            return answer["return"]
        if "error" in answer:
            raise NodeError(f"QEMU refuses '{request['execute']}': {answer['error'].get('desc')}")
