# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages of Python that a tree has: where they are, and how programs find them."""

from opengni import host

# Folders that have a package of that name.
FOLDERS = {"opengni": "scripts", "gnitest": "selftests/lib"}


def python_path(top=host.TOP):
    """PYTHONPATH of a program that uses all of them."""
    return ":".join(str(top / folder) for folder in FOLDERS.values())


def place(package):
    """Folder of a package's modules in this tree."""
    return host.TOP / FOLDERS[package] / package


def owner(path):
    """The package that a file is in; empty if it is in none."""
    return next((name for name in FOLDERS if place(name) in path.parents), "")
