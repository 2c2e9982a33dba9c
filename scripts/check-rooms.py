#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the order of rooms: no include goes to a room above, and no more than two units include each other in a circle.

FOLDER/rooms.toml names the folders of C and C++ sources below FOLDER from the lowest to the highest; each of them has to be there.
A unit is a header and the source of its name. One line for each complaint.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

from opengni import host
from opengni.arguments import Parser
from opengni.output import program

FREE = ("tests", "fuzz")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def includes(top):
    """{file: files below the same folder that it includes}, by their names there."""
    found = {}
    for path in sorted(path for path in top.rglob("*.[ch]*") if path.suffix in (".c", ".h", ".cpp", ".hpp")):
        name = path.relative_to(top)
        if name.parts[0] not in FREE:
            names = INCLUDE.findall(path.read_text(encoding="utf-8"))
            found[name] = [Path(other) for other in names if (top / other).is_file()]
    return found


def upwards(found, rooms):
    """What is wrong with the order of rooms, a line each."""
    heights = {Path(room): height for height, room in enumerate(rooms)}
    for room in sorted(heights.keys() - {name.parent for name in found}):
        yield f"rooms.toml: nothing is in {room}"
    for name, others in found.items():
        if name.parent not in heights:
            yield f"{name}: rooms.toml does not say where {name.parent} stands"
            continue
        for other in others:
            if heights.get(other.parent, -1) > heights[name.parent]:
                yield f"{name}: includes {other}, and {other.parent} stands above {name.parent}"


def circles(found):
    """Units that reach each other by includes, of more than two."""
    edges = {}
    for name, others in found.items():
        unit = name.with_suffix("")
        edges.setdefault(unit, set()).update({other.with_suffix("") for other in others} - {unit})

    def reached(start):
        seen, unseen = set(), [start]
        while unseen:
            new = edges.get(unseen.pop(), set()) - seen
            seen |= new
            unseen += new
        return seen

    reach = {unit: reached(unit) for unit in edges}
    told = set()
    for unit in sorted(edges):
        circle = {other for other in reach[unit] if unit in reach[other]}
        if len(circle) > 2 and not circle & told:
            told |= circle
            yield f"{unit}: a circle of {len(circle)}: {', '.join(sorted(map(str, circle)))}"


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=host.TOP / "qemu-device/model", metavar="FOLDER", help="default: the model's")
    top = parser.parse_args().folder
    rooms = tomllib.loads((top / "rooms.toml").read_text(encoding="utf-8"))["rooms"]
    found = includes(top)
    complaints = [*upwards(found, rooms), *circles(found)]
    print("".join(f"{line}\n" for line in complaints), end="")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(program(main))
