# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the simulator: what cannot be asked for, and that every one can be simulated."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from gnitest.figures import FIGURES, SCALES, channel_share

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

    def test_channels_for_the_line_rate(self):
        """What the closed form says is Q11: two channels near, three far away; more for small packets."""
        for label, channels in (("1-1024-from-memory", 2), ("5-1024-at-once", 2), ("5-1024-from-memory", 3), ("5-64-from-memory", 22)):
            self.assertEqual(channel_share(label, channels), 1, label)
            self.assertLess(channel_share(label, channels - 1), 1, label)

    @unittest.skipUnless(SIM.exists(), "aries-sim is not built")
    def test_channels_as_the_closed_form(self):
        """What is simulated is what the closed form says, but for messages that come at random times."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sim").symlink_to(SIM.parent)
            command = [sys.executable, str(FIGURE), "--scale=tiny", "--no-plot", "--quiet", "qsnet-channels"]
            subprocess.run(command, check=True, env={**os.environ, "OPENGNI_BUILD": folder})
            results = list((Path(folder) / "figures" / "tiny" / "qsnet-channels").glob("*.json"))
            self.assertEqual(len(results), 8)
            for result in results:
                for entry in json.loads(result.read_text()):
                    share = channel_share(result.stem, int(entry["point"]["channels"]))
                    self.assertAlmostEqual(entry["result"]["accepted"], share, delta=0.04, msg=(result.stem, entry["point"]))

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
