# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules of Python import downwards only, and none imports itself by way of others."""

import graphlib
import unittest

from gnitest import mentions, packages
from opengni import host

# From below: who is in one of these folders imports from there and from folders before it. What is installed comes first.
PLACES = ("scripts/opengni", "selftests/lib", "scripts", "selftests")
INSTALLED = ("scripts/cluster", "scripts/aprun")


def python_files():
    """All of scripts and selftests."""
    files = [path for folder in ("scripts", "selftests") for path in (host.TOP / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    programs = (b"#!/usr/bin/python3", b"#!/usr/bin/env python3")
    return [path for path in files if path.suffix == ".py" or not path.suffix and path.read_bytes().startswith(programs)]


def place(path):
    """Number of the first of PLACES that has the file; what is installed is in the first, wherever it stands."""
    if str(path.relative_to(host.TOP)) in INSTALLED:
        return 0
    return next(number for number, folder in enumerate(PLACES) if host.TOP / folder in path.parents)


class Imports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = python_files()
        # For each file those of the tree that it imports.
        cls.graph = {path: cls.imported(path) for path in cls.files}

    @classmethod
    def imported(cls, path):
        """A module beside it, of a package, or else of any folder: programs put these into sys.path."""
        found = set()
        for name in mentions.imports(path):
            package, *rest = name.split(".")
            if package in packages.FOLDERS:
                module = packages.place(package).joinpath(*rest or ["__init__"]).with_suffix(".py")
                # Whoever imports a module of a package has its __init__.py before: inside of the package that is no way back.
                if module.name != "__init__.py" or packages.owner(path) != package:
                    found.add(module)
            elif path.with_name(f"{name}.py") in cls.files:
                found.add(path.with_name(f"{name}.py"))
            else:
                found.update(other for other in cls.files if other.name == f"{name}.py" and not packages.owner(other))
        return found & set(cls.files)

    def test_they_are_found(self):
        """Lest the other tests look at nothing."""
        top = host.TOP
        self.assertIn(top / "scripts/opengni/host.py", self.graph[top / "scripts/opengni/fabric.py"])
        self.assertIn(top / "scripts/opengni/cli.py", self.graph[top / "scripts/cluster"])
        self.assertIn(top / "selftests/lib/gnitest/testing.py", self.graph[top / "selftests/cluster/test_data.py"])
        self.assertIn(top / "scripts/testlib.py", self.graph[top / "scripts/interop/guests.py"])

    def test_no_circle(self):
        try:
            graphlib.TopologicalSorter(self.graph).prepare()
        except graphlib.CycleError as error:
            self.fail(" imports ".join(mentions.names(reversed(error.args[1]))))

    def test_none_upwards(self):
        upwards = [" imports ".join(mentions.names([path, other])) for path, others in self.graph.items() for other in others if place(other) > place(path)]
        self.assertEqual(upwards, [])
