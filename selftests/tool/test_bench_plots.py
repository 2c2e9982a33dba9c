# SPDX-License-Identifier: GPL-2.0-or-later
"""Drawings of a bench, from what it writes."""

import importlib.util
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

BENCH = host.TOP / "scripts/bench.py"
DRAWINGS = {"bench-latency.svg", "bench-bandwidth.svg", "bench-promises.svg"}


def row(test, size, **figures):
    """One row of the table."""
    return {"test": test, "size": size, **figures}


REPORT = {
    "accelerator": "tcg", "kernel": "6.1",
    "table": [row("fma-put", 8, p50_ns=900, p99_ns=2000, bandwidth_bytes_per_s=1e7), row("fma-put", 64, p50_ns=950, bandwidth_bytes_per_s=7e7),
              row("amo", 8, p50_ns=1000), row("events", 0)],
    "samples": [{"host_memcpy_ns": {"4096": 400, "1048576": 90000}}, {"host_memcpy_ns": {"4096": 500, "1048576": 80000}}],
    "ratios": [{"text": "put < store & more", "value": 4, "bound": "<= 8", "reached": True},
               {"text": "rate", "value": 0.1, "bound": ">= 0.3", "reached": False},
               {"text": "interrupts", "value": 0, "bound": "= 0", "reached": True}],
}


class Plots(unittest.TestCase):
    def setUp(self):
        self.json = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-plots-")), "bench.json")

    def draw(self, *python):
        """bench.py --draw of what is in the file."""
        return subprocess.run(["/usr/bin/python3", *python, BENCH, "--draw", self.json], capture_output=True, text=True, timeout=120, check=False)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed (scripts/setup.sh figures)")
    def test_a_bench_is_drawn(self):
        self.json.write_text(json.dumps(REPORT), encoding="utf-8")
        done = self.draw()
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = {path.name: path.read_text(encoding="utf-8") for path in self.json.parent.glob("*.svg")}
        self.assertEqual(set(drawn), DRAWINGS)
        for name in ("bench-latency.svg", "bench-bandwidth.svg"):
            self.assertIn(">fma-put</text>", drawn[name])
            self.assertNotIn(">amo</text>", drawn[name])  # one size is no line
        self.assertIn("host's memcpy", drawn["bench-bandwidth.svg"])
        self.assertIn("put &lt; store &amp; more", drawn["bench-promises.svg"])
        self.assertNotIn("interrupts", drawn["bench-promises.svg"])  # no part of a bound of 0
        self.json.write_text("{}", encoding="utf-8")
        self.assertRegex(self.draw().stderr, "is not what the bench writes")
        self.json.unlink()
        self.assertRegex(self.draw().stderr, "No such file")

    def test_without_matplotlib(self):
        # -S: none of the packages of the host
        done = subprocess.run(["/usr/bin/python3", "-S", BENCH, "--plot"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("drawings need matplotlib", done.stderr)
