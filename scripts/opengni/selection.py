# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes of a cluster as the command line names them."""

import asyncio

from . import client
from .errors import ConfigError, UsageError


def parse_nodes(text, count):
    """'all', '1', '0,2-3' as a list of addresses."""
    if text == "all":
        return list(range(count))
    numbers = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            numbers.extend(range(int(first), min(int(last if dash else first), max(int(first), count)) + 1))
    except ValueError:
        raise UsageError(f"'{text}' is not a list of node addresses such as 0 or 0,2-3") from None
    for number in numbers:
        if not 0 <= number < count:
            raise ConfigError(f"no node {number}: they go from 0 to {count - 1}")
    if not numbers:
        raise UsageError(f"'{text}' names no node")
    return numbers


def count(name):
    """How many nodes a cluster in the background has."""
    return len(asyncio.run(client.call(name, {"op": "status"}))["nodes"])


def nodes(name, text):
    """Nodes of a cluster in the background."""
    return parse_nodes(text, count(name))


def node(name, text):
    """One of them."""
    found = nodes(name, text)
    if len(found) > 1:
        raise UsageError(f"'{text}' names {len(found)} nodes, and one is needed")
    return found[0]
