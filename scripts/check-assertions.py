#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds assertions of the kernel's test harness that are the body of a loop or a condition without braces.

Such an assertion is two statements, the second of which ends the test: without braces the loop goes on after a failure.
"""

import argparse
import re
import sys
from pathlib import Path

from opengni.arguments import Parser
from opengni.output import program

ASSERTION = re.compile(r"(\t+)(ASSERT|EXPECT)_\w+\(")
HEAD = re.compile(r"\t*(\} )?(for|while|if|else|\w*for_each\w*)\b")


def indent(line):
    return len(re.match(r"\t*", line)[0])


def bare(lines):
    """Numbers of lines, from 1, with an assertion that needs braces."""
    for number, line in enumerate(lines):
        found = ASSERTION.match(line)
        before = lines[number - 1].rstrip() if number else ""
        if not found or not before.strip() or before.endswith(("{", ";", "}", ":", "*/")):
            continue
        # lines of a condition that goes on are aligned with spaces, or indented as deeply as its body
        head = next((one for one in reversed(lines[:number]) if indent(one) < len(found[1]) and one[indent(one):indent(one) + 1] != " "), "")
        if HEAD.match(head):
            yield number + 1


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="C sources")
    bad = False
    for name in parser.parse_args().files:
        for number in bare(Path(name).read_text(encoding="utf-8").split("\n")):
            print(f"{name}:{number}: an assertion without braces: what is around it goes on after a failure")
            bad = True
    return int(bad)


if __name__ == "__main__":
    sys.exit(program(main))
