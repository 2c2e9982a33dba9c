#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile a header with the flags of a source, for GCC to take in its place.

usage: precompile.py COMPILE_COMMANDS SOURCE HEADER OUTPUT DEPENDENCIES
"""

import json
import shlex
import subprocess
import sys

# Of a source's command: what it makes, what it reads, and that the header comes before it.
WITH_A_WORD = ("-o", "-c", "-MF", "-MQ", "-include")
ALONE = ("-MD", "-Winvalid-pch")


def command_of(entries, source):
    """How a source is compiled, without its own files."""
    words = next(shlex.split(entry["command"]) for entry in entries if entry["file"].endswith(source))
    kept, skip = [], False
    for word in words:
        if skip or word in ALONE or word in WITH_A_WORD:
            skip = not skip and word in WITH_A_WORD
        else:
            kept.append(word)
    return kept


def main():
    """Run the compiler."""
    commands, source, header, output, dependencies = sys.argv[1:]
    with open(commands, encoding="utf-8") as file:
        words = command_of(json.load(file), source)
    return subprocess.run([*words, "-x", "c++-header", "-MD", "-MQ", output, "-MF", dependencies, "-o", output, "-c", header], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
