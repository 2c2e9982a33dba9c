# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/tutorial.md and the examples it walks through: its listings are what stands in the files."""

import re
import unittest

from opengni import host

TUTORIAL = (host.TOP / "Documentation/tutorial.md").read_text(encoding="utf-8")
EXAMPLES = host.TOP / "userlib/examples"
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.c")}
LISTING = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"`([\w-]+\.c)`")


def listings():
    """(file, text) of each listing; the file is the last one named before it."""
    return [(FILE.findall(TUTORIAL[:found.start()])[-1], found[1]) for found in LISTING.finditer(TUTORIAL)]


class Tutorial(unittest.TestCase):
    def test_listings_are_in_the_files(self):
        for name, text in listings():
            with self.subTest(name, first=text.splitlines()[0]):
                self.assertIn("\n" + text, "\n" + SOURCES[name])

    def test_every_example_has_a_command_and_a_listing(self):
        listed = {name for name, _ in listings()}
        self.assertEqual({f"{name}.c" for name in re.findall(r"^\$ .*\$E/([\w-]+)", TUTORIAL, re.M)}, set(SOURCES))
        self.assertEqual(listed, set(SOURCES))

    def test_every_example_is_built(self):
        build = (EXAMPLES / "meson.build").read_text(encoding="utf-8")
        self.assertEqual({f"{name}.c" for name in re.findall(r"^  '([\w-]+)',$", build, re.M)}, set(SOURCES))

    def test_the_first_put_is_short_and_shown_as_a_whole(self):
        self.assertIn(("first-put.c", SOURCES["first-put.c"]), listings())
        self.assertLessEqual(sum(1 for line in SOURCES["first-put.c"].splitlines()[2:] if line), 60)  # licence and copyright aside
