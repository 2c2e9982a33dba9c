# SPDX-License-Identifier: GPL-2.0-or-later
"""Which layers check.py runs beside which, by what they say they need."""

import contextlib
import io
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from commands import script
from gnitest import layers, tap
from opengni import host

SOON = 20.0  # seconds for what does not happen at all if it does not happen at once


class Rows(unittest.TestCase):
    def setUp(self):
        self.logs = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.story = []

    def layer(self, name, needs, body=lambda: None):
        """A layer that tells when it begins and ends, with one case."""
        def run():
            self.story.append(f"{name} begins")
            body()
            self.story.append(f"{name} ends")
            return [tap.Case(name, tap.PASS)]
        return layers.Layer(name, run, needs)

    def check(self, *fakes, mib=64000):
        """What check.py prints with these layers."""
        check = script(host.TOP / "scripts/check.py")
        out = io.StringIO()
        with mock.patch.multiple(layers, LAYERS=list(fakes), LOGS=self.logs, until_alone=layers.until_alone), contextlib.redirect_stdout(out), \
                mock.patch.object(host, "available_mib", lambda: mib), mock.patch.object(sys, "argv", ["check.py"]):
            try:
                self.status = check.main()
            finally:
                self.said = out.getvalue()
        return self.said

    def test_what_waits_has_what_fills_beside_it(self):
        waits, fills = threading.Event(), threading.Event()

        def begin(own, other):
            own.set()
            self.assertTrue(other.wait(SOON))

        said = self.check(self.layer("first", layers.ALONE), self.layer("compiles", layers.FILLS, lambda: begin(fills, waits)),
                          self.layer("tests", layers.FILLS), self.layer("second", layers.ALONE),
                          self.layer("guest", layers.WAITS, lambda: begin(waits, fills)), self.layer("cluster", layers.WAITS))
        self.assertEqual(self.story[:4], ["first begins", "first ends", "second begins", "second ends"])
        for row in (("compiles", "tests"), ("guest", "cluster")):
            self.assertEqual([line for line in self.story if line.split()[0] in row],
                             [f"{name} {what}" for name in row for what in ("begins", "ends")])
        self.assertEqual((said.splitlines()[-1], self.status), ("6 passed, 0 failed, 0 skipped", 0))

    def test_one_after_the_other(self):
        """Where there is no memory for two rows, or nothing for one of them."""
        kinds = (layers.FILLS, layers.ALONE, layers.WAITS)
        for mib, needs in ((2000, kinds), (64000, kinds[:2]), (64000, kinds[1:])):
            with self.subTest(mib=mib, needs=needs):
                self.story.clear()
                self.check(*(self.layer(name, name) for name in needs), mib=mib)
                self.assertEqual(self.story, [f"{name} {what}" for name in needs for what in ("begins", "ends")])

    def test_who_wants_to_be_alone_in_a_row_waits_for_the_other(self):
        began, slow = threading.Event(), threading.Event()

        def measure():
            self.assertTrue(began.wait(SOON))
            threading.Timer(0.5, slow.set).start()
            layers.until_alone()
            self.story.append("measured")

        def compiles():
            began.set()
            self.assertTrue(slow.wait(SOON))

        self.check(self.layer("compiles", layers.FILLS, compiles), self.layer("tests", layers.FILLS), self.layer("cluster", layers.WAITS, measure))
        self.assertLess(self.story.index("tests ends"), self.story.index("measured"))

    def test_who_is_stopped_ends_both_rows(self):
        began = threading.Event()

        def hangs():
            began.set()
            status, _ = layers._command("hangs", ["sleep", str(SOON)])  # pylint: disable=protected-access
            self.story.append("hangs is ended" if status else "hangs is waited for")

        def stopped():
            self.assertTrue(began.wait(SOON))
            sys.exit(143)

        with self.assertRaises(SystemExit):
            self.check(self.layer("hangs", layers.FILLS, hangs), self.layer("never", layers.FILLS), self.layer("cluster", layers.WAITS, stopped))
        self.assertEqual(sorted(self.story), ["cluster begins", "hangs begins", "hangs ends", "hangs is ended"])
        self.assertEqual(self.said, "")

    def test_a_failure_in_either_row_counts(self):
        def fails():
            raise layers.LayerError("no compiler")

        for needs, other in ((layers.FILLS, layers.WAITS), (layers.WAITS, layers.FILLS)):
            said = self.check(self.layer("bad", needs, fails), self.layer("good", other))
            self.assertRegex(said, r"(?m)^bad +0 passed, 1 failed, 0 skipped .*\n    FAILED bad: no compiler\n")
            self.assertEqual((said.splitlines()[-1], self.status), ("1 passed, 1 failed, 0 skipped", 1))


class Declared(unittest.TestCase):
    def test_needs_are_known(self):
        self.assertLessEqual({layer.needs for layer in layers.LAYERS}, {layers.ALONE, layers.WAITS, layers.FILLS})
