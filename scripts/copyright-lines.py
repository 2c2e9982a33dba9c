#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that each file names its licence, and that it is known who holds its copyright, as `reuse lint` wants it.

usage: copyright-lines.py [--fix]

The licence stands in a file's first lines. For files of whole folders, and for what has no comments, .reuse/dep5 says who holds the
copyright and repeats the licence; all others have a line of their own below that of the licence. --fix adds copyright lines where they
are missing, and removes those that .reuse/dep5 makes superfluous. Exit status: 0 all is well, 1 it is not (the files are listed).
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
LICENCE = re.compile(r"(?P<begin>\S* *)SPDX[-]License-Identifier: (?P<licence>[\w.+() -]*?)(?P<end>| \*/| -->)\n")
LOOK = 3  # lines
PARAGRAPH = re.compile(r"^Files: (.*(?:\n .*)*)\nCopyright: .*\nLicense: (.*)$", re.MULTILINE)
# These have comments, so that they can name their licence themselves; programs can as well.
WITH_COMMENTS = {".py", ".sh", ".c", ".h", ".cpp", ".hpp", ".toml", ".lua", ".build"}


def paragraphs():
    """(patterns, licence) of each paragraph of .reuse/dep5; for a file the last one counts that matches."""
    found = PARAGRAPH.findall((TOP / ".reuse/dep5").read_text(encoding="utf-8"))
    return [(patterns.split(), licence) for patterns, licence in reversed(found)]


def look(name, lines, spoken_for):
    """What is wrong with a file, and its lines when that is put right (None: nobody but its author can)."""
    at, licence = next(((at, found) for at, line in enumerate(lines[:LOOK]) if (found := LICENCE.fullmatch(line))), (0, None))
    below = [number for number in range(at, min(at + LOOK, len(lines))) if "Copyright (c)" in lines[number]]
    expected = next((named for patterns, named in spoken_for if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)), None)
    if not licence:
        commented = Path(name).suffix in WITH_COMMENTS or lines[0].startswith("#!")
        return ("has no SPDX line", None) if commented or not expected else ("", None)
    if not expected:
        own = f"{licence['begin']}{HOLDER}{licence['end']}\n"
        return ("", None) if below else ("has no copyright line", [*lines[:at + 1], own, *lines[at + 1:]])
    if licence["licence"] != expected:
        return f"is under {licence['licence']}, and under {expected} by .reuse/dep5", None
    if below and HOLDER in lines[below[0]]:
        return "has a copyright line, which .reuse/dep5 has for it", [*lines[:below[0]], *lines[below[0] + 1:]]
    return "", None


def main():
    """Look at every file of the repository."""
    parser = Parser(description="Check that each file names its licence, and that it is known who holds its copyright.")
    parser.add_argument("--fix", action="store_true", help="add copyright lines that are missing, remove those that are superfluous")
    arguments = parser.parse_args()
    spoken_for, bad = paragraphs(), 0
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        path = TOP / name
        if not path.is_file() or path.is_symlink() or not path.stat().st_size or name.startswith(("LICENSES/", ".reuse/")):
            continue
        wrong, right = look(name, path.read_text(encoding="utf-8").splitlines(keepends=True), spoken_for)
        if right and arguments.fix:
            write_text(path, "".join(right))
        elif wrong:
            print(f"{name} {wrong}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(program(main))
