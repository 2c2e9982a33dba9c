# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers that are projects of meson: which tests run by default and in check-all, and what is compiled for them."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from gnitest import layers

PROJECT = """project('p', 'c')
foreach name, of : {'ordinary': [], 'measures': ['plain'], 'long': ['slow'], 'both': ['plain', 'slow']}
  test(name, executable(name, 'main.c'), suite: of)
endforeach
benchmark('speed', executable('speed', 'main.c'))
executable('tool', 'main.c')
"""


class Projects(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.source = self.top / "source"
        self.source.mkdir()
        (self.source / "meson.build").write_text(PROJECT, encoding="ascii")
        (self.source / "main.c").write_text("int main(void) { return 0; }\n", encoding="ascii")

    def run_layer(self, all_of_it=False, **options):
        """(tests that ran, programs that were compiled) of the project as a layer."""
        with mock.patch.multiple(layers, BUILD=self.top, LOGS=self.top / "logs", slow_tests=lambda: all_of_it):
            cases = layers._meson("p", self.source, [], **options)  # pylint: disable=protected-access
        programs = {path.name for path in (self.top / "p").iterdir() if path.is_file() and path.stat().st_mode & 0o100}
        return {case.name.rpartition(" / ")[2] for case in cases if case.status == layers.tap.PASS}, programs

    def test_each_test_runs_once(self):
        """By default: in one of the two layers, which compile nothing twice; what is slow in none."""
        self.assertEqual(self.run_layer(without=["plain"]), ({"ordinary"}, {"ordinary"}))
        self.assertEqual(self.run_layer(suite="plain"), ({"measures"}, {"ordinary", "measures"}))

    def test_benchmarks_are_compiled(self):
        self.assertEqual(self.run_layer(suite="plain", benchmarks=True), ({"measures"}, {"measures", "speed"}))

    def test_check_all_has_everything(self):
        tests, programs = {"ordinary", "measures", "long", "both"}, {"ordinary", "measures", "long", "both", "speed", "tool"}
        self.assertEqual(self.run_layer(all_of_it=True, suite="plain"), (tests, programs))
        self.assertEqual(self.run_layer(all_of_it=True, without=["plain"]), (tests, programs))
