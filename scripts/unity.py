#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Divide C++ sources among a few files that include them: headers are then read once for each of those, not for each source.

usage: unity.py ROOT -o OUTPUT... -- SOURCE...

The files include the sources by their names below ROOT, after all headers that those include: no header sees what a source
declares. Sources that could take each other's names are kept apart: two of which one declares a name for itself (in a
namespace without a name, static, by using) that is a word in the other, unless both use the same thing under it. A source
that leaves a macro defined has a file alone. An output is written only if it changes.
Exit status: 0 done, 1 no file is left for a source: more outputs are needed, 2 wrong usage.
"""

import os
import re
import sys
from pathlib import Path

from opengni.arguments import Parser
from opengni.output import program
from opengni.writing import write_text

NO_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
GUARD = re.compile(r"^#pragma once|\A(?:\s|//[^\n]*|/\*.*?\*/)*#ifndef\b", re.MULTILINE | re.DOTALL)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
ENDED_MACRO = re.compile(r"^\s*#\s*undef\s+(\w+)", re.MULTILINE)
DIRECTIVE = re.compile(r"^\s*#(?:.*\\\n)*.*$", re.MULTILINE)
ARGUMENTS = re.compile(r"<[^<>;{}()]*>")
DECLARED = re.compile(r"\b([A-Za-z_]\w*)\s*(?=[(={;\[,])")
USING = re.compile(r"\busing\s+((?:\w+::)+(\w+))\s*;")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(\w+)")
ENUMERATORS = re.compile(r"\benum\b(?!\s+(?:class|struct)\b)[^{;]*$")
NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)\s*$")
WORD = re.compile(r"[A-Za-z_]\w*")
# Not of what belongs to something that is named before it.
LOOKED_UP = re.compile(r"(?<![.\w:])(?<!->)[A-Za-z_]\w*")
# What stands where a name could, and is none that could be taken.
NO_NAMES = frozenset("alignas bool char const constexpr decltype double float int long noexcept offsetof operator requires short size_t "
                     "sizeof static_assert uint8_t uint16_t uint32_t uint64_t unsigned void __attribute__ std".split())


def closing(text, at):
    """Where the brace that opens at a place ends."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    return len(text)


def own_names(code, private=False):
    """Names that C++ without comments, literals and directives declares for its file alone."""
    names, head, at = set(), "", 0
    while at < len(code):
        if code[at] == "{":
            end = closing(code, at)
            inside = code[at + 1:end]
            opens = NAMESPACE.search(head)
            if opens:
                names |= own_names(inside, private or not opens[1])
                head = ""
            elif re.search(r'\bextern\s*$', head):
                names |= own_names(inside, private)
                head = ""
            else:
                if private and ENUMERATORS.search(head):
                    names |= set(WORD.findall(inside))
                head += "{}"
                # What is no initializer ends a declaration: a function's body, which no ; follows.
                if head.rstrip("{}").rstrip().endswith((")", "const", "noexcept")):
                    names |= declared(head, private)
                    head = ""
            at = end + 1
        elif code[at] == ";":
            names |= declared(head + ";", private)
            head, at = "", at + 1
        else:
            head += code[at]
            at += 1
    return names


def declared(statement, private):
    """Names that a declaration gives to its file alone."""
    statement = statement.strip()
    if not private and not re.match(r"(?:static|using)\b(?!\s+namespace)", statement):
        return set()
    before = None
    while before != statement:
        before, statement = statement, ARGUMENTS.sub(" ", statement)
    # Of a function the name, not those of its parameters.
    function = re.search(r"\b([A-Za-z_]\w*|operator\s*\S+)\s*\(", statement.split("=")[0].split("{")[0])
    head = statement[:function.end()] if function else statement
    return (set(DECLARED.findall(head)) | set(TYPE.findall(statement))) - NO_NAMES


def headers(text, folder, root):
    """A source's own headers that may be included anywhere, by their names below the root."""
    for name in INCLUDE.findall(text):
        for path in (folder / name, root / name):
            if path.is_file():
                if GUARD.search(path.read_text(encoding="utf-8")):
                    yield os.path.relpath(path, root)
                break


class Source:
    """A source, the names that are its own, and all its words."""

    def __init__(self, path, root):
        text = path.read_text(encoding="utf-8")
        code = NO_CODE.sub(" ", text)
        self.name = os.path.relpath(path, root)
        self.size = len(text)
        self.alone = bool(set(MACRO.findall(code)) - set(ENDED_MACRO.findall(code)))
        self.own = own_names(DIRECTIVE.sub("", code))
        self.words = set(LOOKED_UP.findall(code))
        self.using = {name: whole for whole, name in USING.findall(code)}
        self.headers = set(headers(text, path.parent, root))

    def takes(self, other):
        """Whether a name of its own is a word in the other, where it is something else."""
        return any(self.using.get(name) is None or self.using[name] != other.using.get(name) for name in self.own & other.words)

    def fits(self, other):
        """Whether both may be in one file."""
        return not (self.alone or other.alone or self.takes(other) or other.takes(self))


def divide(sources, count):
    """Sources in count groups, those that fit the fewest others first, each into the smallest group that it fits."""
    groups = [[] for _ in range(count)]
    misfits = {source: sum(not source.fits(other) for other in sources) for source in sources}
    for source in sorted(sources, key=lambda source: (-misfits[source], -source.size, source.name)):
        for group in sorted(groups, key=lambda group: sum(other.size for other in group)):
            if all(source.fits(other) for other in group):
                group.append(source)
                break
        else:
            raise ValueError(f"no file is left for {source.name}, whose names are {', '.join(sorted(source.own))}: "
                             "name more outputs, or give it names of its own")
    return groups


def main():
    """Read sources, write outputs."""
    parser = Parser(description="Divide C++ sources among a few files that include them.")
    parser.add_argument("root", metavar="ROOT", help="folder below which sources are named")
    parser.add_argument("-o", "--output", nargs="+", required=True, help="files to write")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="sources to include, after --")
    args = parser.parse_args()
    for path in args.sources:
        if not path.endswith(".cpp"):
            parser.error(f"{path} is not C++: compiled as what it is not, it might do something else")
    root = Path(os.path.abspath(args.root))
    try:
        groups = divide([Source(Path(os.path.abspath(path)), root) for path in args.sources], len(args.output))
    except (OSError, ValueError) as error:
        print(f"unity.py: {error}", file=sys.stderr)
        return 1
    for output, group in zip(map(Path, args.output), groups):
        own = sorted(source.name for source in group)
        before = [] if any(source.alone for source in group) else sorted(set().union(*(source.headers for source in group)))
        text = "".join(f'#include "{name}"\n' for name in [*before, *own])
        if not output.exists() or output.read_text(encoding="utf-8") != text:
            write_text(output, text)
    return 0


if __name__ == "__main__":
    sys.exit(program(main))
