# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of make's goals: which there are, and what leads to each."""

import re

from opengni import host

MAKEFILE = (host.TOP / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")


def rules():
    """Prerequisites of each target."""
    found = {}
    for name, words in re.findall(r"^([a-z][a-z-]*):(?!=)([^#=\n]*?)(?:##.*)?$", MAKEFILE, re.M):
        found.setdefault(name, set()).update(words.split())
    return found


def shown():
    """The goals that `make help` lists."""
    return re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.M)


def steps(goal, graph):
    """The goal and all that leads to it."""
    reached, new = set(), {goal}
    while new:
        reached |= new
        new = {name for done in new for name in graph.get(done, ())} - reached
    return reached
