# SPDX-License-Identifier: GPL-2.0-or-later
"""Time-outs of tests on a machine that has other things to do."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from gnitest import layers, patience
from gnitest.testing import wait_until
from opengni import host


class Machine:
    """Its /proc, and a clock that moves by hand."""

    def __init__(self):
        self.wall, self.running, self.stolen, self.ticks = 100.0, 1, 0, 1000

    def read(self, name):
        if name == "/proc/loadavg":
            return f"9.99 9.99 9.99 {self.running}/456 789\n"
        return f"cpu  {self.ticks - self.stolen} 0 0 0 0 0 0 {self.stolen} 0 0\ncpu0 1 2 3\n"

    def clock(self):
        return patience.Clock(2, self.read, lambda: self.wall)

    def passes(self, clock, seconds, stolen=0.0):
        """A sample, then @seconds on the wall."""
        self.ticks += 1000
        self.stolen += int(1000 * stolen)
        clock.look()
        self.wall += seconds


class TheClock(unittest.TestCase):
    def test_alone(self):
        machine = Machine()
        clock = machine.clock()
        machine.passes(clock, 10)
        self.assertAlmostEqual(clock.now(), 10)

    def test_beside_others(self):
        machine = Machine()
        clock = machine.clock()
        machine.running = 8
        machine.passes(clock, 10)
        self.assertAlmostEqual(clock.now(), 2.5)
        machine.running = 2
        machine.passes(clock, 10)
        self.assertAlmostEqual(clock.now(), 12.5)

    def test_stolen_by_the_hypervisor(self):
        machine = Machine()
        clock = machine.clock()
        machine.passes(clock, 10, stolen=0.75)
        self.assertAlmostEqual(clock.now(), 2.5)

    def test_it_never_stands_still(self):
        """A hang must be found on any machine."""
        machine = Machine()
        clock = machine.clock()
        machine.passes(clock, 10, stolen=1.0)
        self.assertGreater(clock.now(), 0.1)

    def test_proc_cannot_be_read(self):
        def fails(_name):
            raise OSError
        wall = iter((0.0, 10.0))
        self.assertEqual(patience.Clock(2, fails, lambda: next(wall)).now(), 10.0)

    def test_loop_counts_by_it(self):
        loop = patience.PatientLoop()
        try:
            with self.assertRaises(asyncio.TimeoutError):
                loop.run_until_complete(asyncio.wait_for(asyncio.sleep(1000), 0.05))
        finally:
            loop.close()


class Log(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile(delete=False) as log:
            self.log = log.name
        self.addCleanup(os.unlink, self.log)
        self.passed = 0.0

    def now(self):
        """Each look is a second later: nothing here depends on how fast the machine is."""
        self.passed += 1.0
        return self.passed

    def start(self, script):
        with open(self.log, "wb") as out:
            process = subprocess.Popen(["/bin/sh", "-c", script], stdout=out, start_new_session=True)
        self.addCleanup(process.wait)
        return process

    def wait(self, process, silence, pause=0.02):
        return patience.wait_speaking(process, self.log, silence, lambda: self, pause)

    def test_slow_but_getting_on(self):
        process = self.start("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exit 3")
        self.assertEqual(self.wait(process, 200), 3)
        self.assertEqual(Path(self.log).read_text(encoding="ascii").split(), list("123456"))

    def test_long_in_all_but_never_silent(self):
        process = self.start("for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.2; done")
        begin = self.passed
        self.assertEqual(self.wait(process, 60, 0.01), 0)
        self.assertGreater(self.passed - begin, 60)

    def test_silent(self):
        process = self.start("echo begun; sleep 1000 & wait")
        with self.assertRaisesRegex(patience.Silent, "no output for 30 s; it is at sleep"):
            self.wait(process, 30)
        os.killpg(process.pid, signal.SIGKILL)

    def test_layer_says_so_and_ends_it(self):
        script = "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid, flush=True); import time; time.sleep(999)"
        with self.assertRaisesRegex(layers.LayerError, r"no output for 0\.5 s; it is at sleep; log .*silent-test\.log"):
            layers._command("silent-test", [sys.executable, "-c", script], silence=0.5)
        child = int((layers.LOGS / "silent-test.log").read_text(encoding="ascii"))
        # it was killed; how soon it is gone is up to the kernel
        self.assertTrue(wait_until(lambda: not host.is_alive(child), 60.0))
