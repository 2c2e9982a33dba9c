# SPDX-License-Identifier: GPL-2.0-or-later
"""Rooms of the model have an order, which includes follow."""

import tempfile
import unittest
from pathlib import Path

from opengni import host

from commands import run

CHECK = host.TOP / "scripts" / "check-rooms.py"
ROOMS = {"rooms.toml": '[rooms]\nlow = "first"\n"high/up" = "last"\n', "low/a.hpp": "", "high/up/z.hpp": '#include "low/a.hpp"\n'}


class Rooms(unittest.TestCase):
    def check(self, **files):
        """(exit status, output) for sources by their names with __ for a slash and without .hpp."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**ROOMS, **{f"{name.replace('__', '/')}.hpp": text for name, text in files.items()}}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return run(CHECK, folder)

    def test_the_model(self):
        self.assertEqual(run(CHECK), (0, ""))

    def test_downwards_and_within_a_room(self):
        self.assertEqual(self.check(low__b='#include "low/a.hpp"\n#include <vector>\n#include "aries_hw.h"\n'), (0, ""))

    def test_upwards(self):
        self.assertEqual(self.check(low__b='#include "high/up/z.hpp"\n'),
                         (1, "low/b.hpp: includes high/up/z.hpp, and high/up stands above low\n"))
        self.assertEqual(self.check(tests__b='#include "high/up/z.hpp"\n'), (0, ""))

    def test_circles(self):
        self.assertEqual(self.check(low__b='#include "low/c.hpp"\n', low__c='#include "low/b.hpp"\n'), (0, ""))
        self.assertEqual(self.check(low__b='#include "low/c.hpp"\n', low__c='#include "low/d.hpp"\n', low__d='#include "low/b.hpp"\n'),
                         (1, "low/b: a circle of 3: low/b, low/c, low/d\n"))

    def test_rooms_that_are_not_named_or_not_there(self):
        self.assertEqual(self.check(high__b=""), (1, "high/b.hpp: rooms.toml does not say where high stands\n"))
        self.assertEqual(self.check(rooms=""), (1, "rooms.hpp: rooms.toml does not say where . stands\n"))
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "rooms.toml").write_text('[rooms]\nlow = "first"\n', encoding="utf-8")
            self.assertEqual(run(CHECK, folder), (1, "rooms.toml: nothing is in low\n"))
