# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet traces of nodes: begun, ended, and how far they are."""

import os
import re

from .errors import ConfigError
from .properties import NIC, qmp

TRACE_LINE = re.compile(r"^trace\b.*$", re.M)


def paths(nodes, target):
    """The file of each node: @target itself for one node, below that folder for several or where it is one."""
    target = os.path.abspath(target)
    if len(nodes) == 1 and not os.path.isdir(target):
        return {nodes[0]: target}
    try:
        os.makedirs(target, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{target}: {error.strerror}: several nodes need a folder") from None
    return {node: os.path.join(target, f"node{node}.pcapng") for node in nodes}


async def start(name, nodes, target, limit=None, packets=None):
    """Begin traces; the path of each node's file. If one cannot be begun, none is."""
    files = paths(nodes, target)
    begun = []
    try:
        for node, path in files.items():
            for which, number in (("trace-limit", limit), ("trace-packets", packets)):
                if number is not None:
                    await qmp(name, node, "qom-set", {"path": NIC, "property": which, "value": number})
            await qmp(name, node, "qom-set", {"path": NIC, "property": "trace-file", "value": path})
            begun.append(node)
    except BaseException:
        await stop(name, begun)
        raise
    return files


async def stop(name, nodes):
    """End traces, where there are some."""
    for node in nodes:
        await qmp(name, node, "qom-set", {"path": NIC, "property": "trace-file", "value": ""})


async def status(name, nodes):
    """A line for each node."""
    lines = []
    for node in nodes:
        text = await qmp(name, node, "qom-get", {"path": NIC, "property": "describe"})
        found = TRACE_LINE.search(text)
        lines.append(f"node {node}: {found.group(0) if found else 'no trace'}")
    return lines
