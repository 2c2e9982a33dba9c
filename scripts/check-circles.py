#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds circles among the files of kernel modules, and uses of what stands in a higher folder.

A file uses another one if its object has a symbol undefined that the other object of the same module defines. More than two files that use each other
directly or by others are a circle: none of them can be understood or tested without the rest. The order of folders is that of "folders" in the Kbuild of
a module; its top level comes after all of them. Neither objects nor #include lines may lead from a lower folder to a higher one.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from opengni.arguments import Parser
from opengni.output import program

DEFINED = frozenset("ABCDGRSTVW")
# Declared for whoever compiles the files of driver/gni, as the environment that they are compiled in (gni_env.h).
HOOK = re.compile(r"gni_env_\w+")


class Failure(Exception):
    """Something that is missing; its text is for the user."""


def listed(folder, path):
    """Lines of a list that kbuild has written, whose paths are absolute or count from @folder."""
    try:
        return [folder / line for line in path.read_text(encoding="utf-8").split()]
    except FileNotFoundError:
        raise Failure(f"{path} is missing: build the modules first") from None


def symbols(path):
    """Names that an object defines for others, and those that it wants."""
    result = subprocess.run(["nm", "--format=posix", path], capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failure(f"{path}: {result.stderr.strip()}")
    defined, wanted = set(), set()
    for line in result.stdout.splitlines():
        name, kind = line.split()[:2]
        if kind == "U":
            wanted.add(name)
        elif kind in DEFINED:
            defined.add(name)
    return defined, wanted


def arrows(objects):
    """Who uses whom for what: {user: {used: [symbol]}} of the objects of one module."""
    tables = {name: symbols(path) for name, path in objects.items()}
    home = {symbol: name for name, (defined, _) in tables.items() for symbol in defined}
    uses = {name: {} for name in tables}
    for name, (_, wanted) in tables.items():
        for symbol in sorted(wanted):
            if home.get(symbol, name) != name:
                uses[name].setdefault(home[symbol], []).append(symbol)
    return uses


def reached(uses, start):
    """What @start uses, directly or by others."""
    seen, waiting = set(), [start]
    while waiting:
        for name in uses[waiting.pop()]:
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def circles(uses):
    """Sets of files that all use each other."""
    below = {name: reached(uses, name) for name in uses}
    return sorted({tuple(sorted(other for other in below[name] if name in below[other])) for name in uses if name in below[name]})


def order(folder):
    """Names of folders, the lowest first."""
    kbuild = folder / "Kbuild"
    found = re.search(r"^folders := (.*)$", kbuild.read_text(encoding="utf-8"), re.M) if kbuild.exists() else None
    return found[1].split() if found else []


def place(folders, name):
    """How high the folder of a file stands; None if the order says nothing of it."""
    parent = Path(name).parent.as_posix()
    return len(folders) if parent == "." else folders.index(parent) if parent in folders else None


def upwards(folders, user, used):
    low, high = place(folders, user), place(folders, used)
    return low is not None and high is not None and low < high


def includes(build, folders):
    """Complaints about #include lines."""
    headers = {path.name: path.relative_to(build) for name in [*folders, "."] for path in (build / name).glob("*.h")}
    for name in folders:
        for path in sorted((build / name).glob("*.[ch]")):
            for header in re.findall(r'^#include "(.*)"$', path.read_text(encoding="utf-8"), re.M):
                if header in headers and upwards(folders, path.relative_to(build), headers[header]):
                    yield f"upwards: {path.relative_to(build)} includes {headers[header]}"


def examine(build):
    """Prints what is wrong with the modules that were built in a folder. Return: whether something is."""
    folders = order(build)
    lines = list(includes(build, folders))
    for module in listed(build, build / "modules.order"):
        objects = {path.relative_to(build).with_suffix("").as_posix(): path for path in listed(build, module.with_suffix(".mod"))}
        uses = arrows(objects)
        for circle in (found for found in circles(uses) if len(found) > 2):
            print(f"{module.stem}: circle of {len(circle)} files: {' '.join(circle)}")
            lines += [f"circle: {user} uses {used}: {' '.join(names)}" for user in circle for used, names in uses[user].items() if used in circle]
        for user, all_used in uses.items():
            for used, names in all_used.items():
                wrong = [name for name in names if not HOOK.fullmatch(name)]
                if wrong and upwards(folders, user, used):
                    lines.append(f"upwards: {user} uses {used}: {' '.join(wrong)}")
    for line in lines:
        print(line)
    return bool(lines)


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="where modules were built, with modules.order", type=Path)
    try:
        return int(any([examine(folder.resolve()) for folder in parser.parse_args().folders]))
    except Failure as failure:
        print(f"check-circles.py: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(program(main))
