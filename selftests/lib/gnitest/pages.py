# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that a page of the documentation shows, for the tests that run them (selftests/tool/test_pages.py)."""

import re

from opengni import host

FENCED = re.compile(r"^```([^`\n]*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^\n|\A)((?:^ {4}.*\n)+)", re.M)
INLINE = re.compile(r"`((?:[A-Z]+=\S+ )*(?:make|scripts/\w+) [^`]+)`")
COMMAND = re.compile(r"^.*<<'?(\w+)'?.*\n(?:.*\n)*?\1$|^.*$", re.M)
# What is said about a command, behind it.
COMMENT = re.compile(r"(^|\s+)# .*$")


def text(name):
    """A page, by its path below the project's folder."""
    return (host.TOP / name).read_text(encoding="utf-8")


def blocks(page):
    """Its blocks of code but for those in a language of their own, as lists of lines, by their order."""
    found = [(match.start(), match[2].splitlines()) for match in FENCED.finditer(page) if match[1] in ("", "sh")]
    # of the same length, so that places are kept
    rest = FENCED.sub(lambda match: "x" * len(match[0]), page)
    found += [(match.start(), [line[4:] for line in match[1].splitlines()]) for match in INDENTED.finditer(rest)]
    return [lines for _, lines in sorted(found)]


def commands(page):
    """Every command of its blocks, without what is said about it behind a #: a line, or several that end with a backslash, or with
    what is between << WORD and WORD."""
    found = []
    for lines in blocks(page):
        text = re.sub(r" *\\\n\s*", " ", "\n".join(lines))
        found += [match[0] if match[1] else COMMENT.sub("", match[0]) for match in COMMAND.finditer(text)]
    return found


def section(page, title):
    """The part of a page below a heading, as far as the next one of its kind."""
    match = re.search(rf"^(#+) {re.escape(title)}$\n(.*?)(?=^\1 |\Z)", page, re.M | re.S)
    if match is None:
        raise ValueError(f"there is no section '{title}'")
    return match[2]


def inline(page):
    """Commands of this project that stand in a sentence."""
    return INLINE.findall(FENCED.sub("", page))
