# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties of a NIC that runs: what they are, and their values in words."""

import re

from . import client
from .errors import ConfigError

NIC = "/machine/peripheral/nic0"
TILES, ABOVE = 64, 32
LATER = ("background", "hold-completions", "time-rate", "trace-file", "trace-limit", "trace-packets")
"""What can be set while the NIC runs, beside faults."""

_SWITCHES = {"on": 1, "off": 0}
WORDS = {"link": {"up": 1, "down": 0}, "reorder": _SWITCHES}
"""Values that have names, by property."""

# How values are written that are made of parts.
_LINK = "ROUTER:TILE"
FORMS = {"cut-link": _LINK, "mend-link": _LINK, "noisy-link": f"{_LINK}:EXPONENT or {_LINK}:none", "link-lanes": f"{_LINK}:LANES",
         "ecc-single": "MEMORY:ENTRY", "ecc-double": "MEMORY:ENTRY"}


async def qmp(name, node, command, arguments=None):
    """A QMP command to the node of a cluster in the background; what it answers."""
    request = {"op": "qmp", "nodes": [node], "command": command, "arguments": arguments or {}}
    return (await client.call(name, request))["value"]


async def known(name, node):
    """Properties of a NIC by name, as QEMU tells them: those that can be set while it runs."""
    rows = await qmp(name, node, "device-list-properties", {"typename": "aries-nic"})
    return {row["name"]: row for row in rows if row.get("description", "").startswith("fault: ") or row["name"] in LATER}


def memories(row):
    """Names of the memories with ECC by number, from the description of ecc-single."""
    found = re.search(r"2\^32 \* memory, ([\w, ]+?)(?:, \d+ to \d+)?$", row["description"])
    return found.group(1).split(", ") if found else []


def _link_value(name, parts):
    """ROUTER:TILE and what follows, as the device takes it."""
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]) or int(parts[1]) >= TILES:
        return None
    link, more = int(parts[0]) * TILES + int(parts[1]), parts[2:]
    if name in ("cut-link", "mend-link"):
        return None if more else link
    if more == ["none"] and name == "noisy-link":
        more = ["0"]
    return link + (int(more[0]) << ABOVE) if len(more) == 1 and more[0].isdigit() else None


def value(rows, name, text):
    """What @text means for a property; ConfigError with the values that there are."""
    row = rows.get(name)
    if row is None:
        raise ConfigError(f"aries-nic has no property '{name}' that can be set while it runs: see fault --list")
    kind = row["type"]
    if kind in ("string", "str"):
        return text
    if kind == "bool":
        words = {"on": True, "off": False, "true": True, "false": False, "1": True, "0": False}
        return _chosen(words, name, text)
    if kind == "number":
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"{name}: '{text}' is not a number ({row['description']})") from None
    number = _number(rows, name, text)
    if number is None:
        ways = [*WORDS.get(name, ()), *([FORMS[name]] if name in FORMS else ()), "a number"]
        raise ConfigError(f"{name}: '{text}' is not {', '.join(ways)} ({row['description']})")
    return number


def _chosen(words, name, text):
    if text not in words:
        raise ConfigError(f"{name}: '{text}' is not one of {', '.join(words)}")
    return words[text]


def _number(rows, name, text):
    if text in WORDS.get(name, ()):
        return WORDS[name][text]
    if name in FORMS and ":" in text:
        first, *rest = text.split(":")
        if not name.startswith("ecc-"):
            return _link_value(name, [first, *rest])
        names = memories(rows.get("ecc-single", {"description": ""}))
        if len(rest) != 1 or not rest[0].isdigit():
            return None
        return int(rest[0]) + (_chosen({word: number for number, word in enumerate(names)}, name, first.lower()) << ABOVE)
    try:
        return int(text, 0)
    except ValueError:
        return None


async def fault(name, node, which, text):
    """Read a property, or set it; what it is afterwards."""
    if text is not None:
        new = value(await known(name, node), which, text)
        await qmp(name, node, "qom-set", {"path": NIC, "property": which, "value": new})
    return await qmp(name, node, "qom-get", {"path": NIC, "property": which})


async def table(name, node):
    """Lines that tell of each property: name, present value, what it may be, what it is."""
    rows = await known(name, node)
    lines = []
    for which, row in sorted(rows.items(), key=lambda item: (not item[1]["description"].startswith("fault:"), item[0])):
        now = await qmp(name, node, "qom-get", {"path": NIC, "property": which})
        text = row["description"].removeprefix("fault: ")
        ways = [*WORDS.get(which, ()), *([FORMS[which]] if which in FORMS else ())]
        lines.append(f"{which} = {now if now != '' else 'none'}\n    {text}{'; or ' + ', '.join(ways) if ways else ''}")
    return lines
