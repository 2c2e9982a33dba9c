#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Check that each file names its licence and who holds its copyright, as `reuse lint` wants it.

usage: copyright-lines.py [--fix]

A file says so in its first lines, the licence first; .reuse/dep5 speaks for files that have no comments. --fix adds the
copyright line where it is missing. Exit status: 0 all have one, 1 some have not (they are listed).
"""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

from opengni.arguments import Parser
from opengni.output import program
from opengni.writing import write_text

TOP = Path(__file__).resolve().parent.parent
HOLDER = "Copyright (c) 2026 The OpenGNI authors"
LICENCE = re.compile(r"(?P<begin>\S* *)SPDX[-]License-Identifier: [\w.+() -]*?(?P<end>| \*/| -->)\n")
LOOK = 3  # lines


def spoken_for():
    """Patterns of .reuse/dep5."""
    text = (TOP / ".reuse/dep5").read_text(encoding="utf-8")
    return [pattern for line in re.findall(r"^Files: (.*)$", text, re.MULTILINE) for pattern in line.split()]


def copyright_line(lines):
    """Where a copyright line belongs and what it is: (index, line, whether it is there); None without a licence."""
    for at, line in enumerate(lines[:LOOK]):
        if found := LICENCE.fullmatch(line):
            there = any("Copyright (c)" in other for other in lines[at:at + LOOK])
            return at + 1, f"{found['begin']}{HOLDER}{found['end']}\n", there
    return None


def main():
    """Look at every file of the repository."""
    parser = Parser(description="Check that each file names its licence and who holds its copyright.")
    parser.add_argument("--fix", action="store_true", help="add the copyright line where it is missing")
    arguments = parser.parse_args()
    patterns, bad = spoken_for(), 0
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        path = TOP / name
        if not path.is_file() or path.is_symlink() or not path.stat().st_size or name.startswith(("LICENSES/", ".reuse/")):
            continue
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        found = copyright_line(lines)
        if found and not found[2] and arguments.fix:
            lines.insert(found[0], found[1])
            write_text(path, "".join(lines))
        elif not (found and found[2]) and not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            print(f"{name} has no {'copyright' if found else 'SPDX'} line")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(program(main))
