# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Layers of Python tests: each test counts once, whatever becomes of it, side by side or alone."""

import os
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

from opengni import layers, tap

# Tests of every kind of end.
OUTCOMES = """
    import os, time, unittest


    class Good(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            time.sleep(0.2)

        def test_passes(self):
            time.sleep(0.3)

        def test_fails(self):
            self.assertEqual(1, 2, "one is not two")

        @unittest.skip("no reason")
        def test_skipped(self):
            pass


    class Parts(unittest.TestCase):
        def test_parts(self):
            for part in range(3):
                with self.subTest(part=part):
                    self.assertNotEqual(part, 1, "a part is wrong")


    class NoBoot(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise RuntimeError("does not boot")

        def test_never_runs(self):
            pass


    class Complains(unittest.TestCase):
        @classmethod
        def tearDownClass(cls):
            raise AssertionError("the kernel complained")

        def test_passes(self):
            pass


    class Quiet(unittest.TestCase):
        ALONE = "measures something"

        def test_alone(self):
            self.assertNotIn("PYTEST_XDIST_WORKER", os.environ)
"""
DIES = """
    import os, unittest


    class Dies(unittest.TestCase):
        def test_ends_the_process(self):
            if "PYTEST_XDIST_WORKER" in os.environ:
                os._exit(3)
"""


class Layer(unittest.TestCase):
    """A folder of tests as a layer."""

    def run_layer(self, files, workers):
        """(cases by name, times by name) of a layer with these files."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, text in files.items():
                (folder / file).write_text(textwrap.dedent(text), encoding="utf-8")
            ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}  # a worker may run this
            with mock.patch.object(layers, "LOGS", folder / "logs"), mock.patch.object(layers, "_workers", lambda: workers), \
                    mock.patch.dict(os.environ, ours, clear=True):
                cases = layers._python("outcomes", folder)  # pylint: disable=protected-access
                times = [line.split(" s  ", 1) for line in layers.times_file("outcomes").read_text(encoding="utf-8").splitlines()]
        return cases, {name: float(seconds) for seconds, name in times}

    def statuses(self, cases, of):
        return [case.status for case in cases if case.name == f"test_outcomes.{of}"]

    def check_ends(self, cases):
        """What is the same with any number of workers."""
        self.assertEqual(self.statuses(cases, "Good.test_passes"), [tap.PASS])
        self.assertEqual(self.statuses(cases, "Good.test_fails"), [tap.FAIL])
        self.assertEqual(self.statuses(cases, "Good.test_skipped"), [tap.SKIP])
        self.assertEqual(self.statuses(cases, "Parts.test_parts"), [tap.FAIL])
        self.assertEqual(self.statuses(cases, "NoBoot.test_never_runs"), [tap.FAIL])
        self.assertEqual(self.statuses(cases, "Complains.test_passes"), [tap.FAIL])
        self.assertEqual(self.statuses(cases, "Quiet.test_alone"), [tap.PASS])
        details = {case.name: case.detail for case in cases if case.status != tap.PASS}
        self.assertIn("one is not two", details["test_outcomes.Good.test_fails"])
        self.assertEqual(details["test_outcomes.Good.test_skipped"], "no reason")

    def test_one_after_the_other(self):
        cases, times = self.run_layer({"test_outcomes.py": OUTCOMES}, 1)
        self.check_ends(cases)
        self.assertGreaterEqual(times["(boot) test_outcomes.Good"], 0.2)
        self.assertGreaterEqual(times["test_outcomes.Good.test_passes"], 0.3)

    def test_side_by_side(self):
        cases, _ = self.run_layer({"test_outcomes.py": OUTCOMES}, 2)
        self.check_ends(cases)

    def test_a_process_that_dies_is_a_failure(self):
        cases, _ = self.run_layer({"test_outcomes.py": DIES}, 2)
        self.assertEqual(self.statuses(cases, "Dies.test_ends_the_process"), [tap.FAIL])

    def test_a_file_that_cannot_be_read_is_a_failure(self):
        for workers in (1, 2):
            cases, _ = self.run_layer({"test_broken.py": "import nothing_of_this_name\n", "test_outcomes.py": OUTCOMES}, workers)
            self.check_ends(cases)
            self.assertEqual([case.status for case in cases if case.name == "test_broken"], [tap.FAIL], workers)

    def test_no_tests_are_an_error(self):
        with self.assertRaisesRegex(layers.LayerError, "no tests"):
            self.run_layer({"test_nothing.py": ""}, 2)
