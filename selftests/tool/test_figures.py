# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Figures of the simulator: what cannot be asked for, and that every one can be simulated."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from opengni.figures import FIGURES, SCALES

TOP = Path(__file__).resolve().parents[2]
FIGURE = TOP / "scripts" / "figures.py"
SIM = Path(os.environ.get("OPENGNI_BUILD", TOP / ".build")) / "sim" / "aries-sim"


class Figures(unittest.TestCase):
    """scripts/figures.py without a simulation."""

    def test_labels_are_files_of_their_own(self):
        """Two sweeps of a figure never share a file."""
        for figure in FIGURES.values():
            for scale in SCALES.values():
                labels = [sweep.label for sweep in figure.sweeps(scale)]
                self.assertEqual(len(labels), len(set(labels)), figure.name)
                self.assertFalse([label for label in labels if "/" in label], figure.name)

    def test_a_sweep_has_something_to_go_over(self):
        """aries-sim sweep refuses one without."""
        for figure in FIGURES.values():
            for sweep in figure.sweeps(SCALES["small"]):
                self.assertTrue([word for word in sweep.arguments if word.startswith("--over=")], (figure.name, sweep.label))

    def test_an_unknown_figure(self):
        """One line with the names that there are."""
        done = subprocess.run([FIGURE, "nothing"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no figure nothing: worst-case,", done.stderr.splitlines()[-1])

    @unittest.skipUnless(SIM.exists(), "aries-sim is not built")
    def test_every_figure(self):
        """Simulated on machines of some dozens of nodes, drawn if matplotlib is there, and not simulated again."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sim").symlink_to(SIM.parent)
            command = [sys.executable, str(FIGURE), "--scale=tiny", f"--to={folder}/figures"]
            if not importlib.util.find_spec("matplotlib"):
                command.append("--no-plot")
            environment = {**os.environ, "OPENGNI_BUILD": folder}
            for left in (True, False):
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual("points left" in done.stderr, left)
            for name in FIGURES:
                self.assertTrue(list((Path(folder) / "figures" / "tiny" / name).glob("*.csv")), name)
                if "--no-plot" not in command:
                    self.assertIn("<svg", (Path(folder) / "figures" / f"{name}-tiny.svg").read_text())


if __name__ == "__main__":
    unittest.main()
