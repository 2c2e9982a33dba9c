# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""A command to QEMU's machine protocol: faults, hot unplug, injection of PCIe errors."""

import asyncio
import json

from .errors import NodeError


async def command(path, name, arguments=None, timeout=10.0):
    """Run one QMP command and return what it answers; NodeError with QEMU's words when it refuses."""
    try:
        return await asyncio.wait_for(_command(path, name, arguments), timeout)
    except asyncio.TimeoutError:
        raise NodeError(f"{path}: no answer to '{name}' within {timeout:g} s") from None
    except (OSError, asyncio.IncompleteReadError) as error:
        raise NodeError(f"{path}: cannot talk to QEMU: {error}") from None


async def _command(path, name, arguments):
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 22)
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
