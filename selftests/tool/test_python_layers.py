# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers of Python tests: each test counts once, whatever becomes of it, side by side or alone."""

import re
import signal
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

from gnitest import layers, tap

# Tests of every kind of end.
OUTCOMES = """
    import time, unittest
    from pathlib import Path


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
            self.assertFalse((Path(__file__).parent / "busy").exists())
"""
# One that is at work for a while.
BUSY = """
    import time, unittest
    from pathlib import Path


    class Busy(unittest.TestCase):
        def test_works(self):
            busy = Path(__file__).parent / "busy"
            busy.touch()
            time.sleep(3)
            busy.unlink()
"""
# Two files whose classes take clusters of one shape, and one that does not.
SHARING = """
    import os, unittest
    from pathlib import Path


    def tell(case):
        with open(Path(__file__).parent / "order", "a") as file:
            file.write(f"{os.getpid()} {type(case).__name__}\\n")


    class Spoils%(name)s(unittest.TestCase):
        SHARES = "pair"
        LEAVES = "something"

        def test_last(self):
            tell(self)


    class Keeps%(name)s(unittest.TestCase):
        SHARES = "pair"

        def test_first(self):
            tell(self)
"""
DIES = """
    import os, unittest


    class Dies(unittest.TestCase):
        def test_before(self):
            pass

        def test_ends_the_process(self):
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
            with mock.patch.object(layers, "LOGS", folder / "logs"), mock.patch.object(layers, "_workers", lambda: workers):
                cases = layers._python("outcomes", folder)  # pylint: disable=protected-access
                lines = layers.times_file("outcomes").read_text(encoding="utf-8").splitlines()
        times = [re.fullmatch(r" *([\d.]+) s( +[\d.]+ s of processors)?  (.*)", line).groups() for line in lines]
        self.processor = {name: float(processor.split()[0]) for _, processor, name in times if processor}
        return cases, {name: float(seconds) for seconds, _, name in times}

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
        cases, _ = self.run_layer({"test_outcomes.py": OUTCOMES, "test_busy.py": BUSY}, 2)
        self.check_ends(cases)

    def test_files_that_share_clusters_have_one_process(self):
        """And what spoils a cluster comes last."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for of in ("A", "B"):
                (folder / f"test_{of}.py").write_text(textwrap.dedent(SHARING % {"name": of}), encoding="utf-8")
            (folder / "test_other.py").write_text(textwrap.dedent(SHARING % {"name": "C"}).replace('SHARES = "pair"', ""), encoding="utf-8")
            with mock.patch.object(layers, "LOGS", folder / "logs"), mock.patch.object(layers, "_workers", lambda: 1):
                cases = layers._python("sharing", folder)  # pylint: disable=protected-access
            told = [line.split() for line in (folder / "order").read_text(encoding="ascii").splitlines()]
        self.assertEqual({case.status for case in cases}, {tap.PASS})
        shared = [(process, name) for process, name in told if not name.endswith("C")]
        self.assertEqual([name for _, name in shared], ["KeepsA", "KeepsB", "SpoilsA", "SpoilsB"])
        self.assertEqual(len({process for process, _ in shared}), 1)
        self.assertEqual(len({process for process, _ in told}), 2)

    def test_a_group_that_would_be_waited_for_is_divided(self):
        with tempfile.TemporaryDirectory() as name:
            shared = [Path(name) / f"test_{i}.py" for i in range(6)]
            for number, file in enumerate(shared):
                file.write_text('    SHARES = "pair"\n' + "#" * 100 * (number + 1) + "\n", encoding="ascii")
            other = Path(name) / "test_other.py"
            other.write_text("#" * 2400, encoding="ascii")
            for workers, parts in ((1, [6]), (2, [6]), (3, [3, 3])):
                with mock.patch.object(layers, "_workers", lambda count=workers: count):
                    groups = layers._groups([*shared, other])  # pylint: disable=protected-access
                divided = [files for name, files in groups if name.startswith("sharing-pair")]
                self.assertEqual(([len(files) for files in divided], sorted(file for files in divided for file in files)), (parts, shared))
                self.assertIn(("test_other", [other]), groups)
                self.assertEqual(len({name for name, _ in groups}), len(groups))

    def test_some_files_alone(self):
        with mock.patch.dict(layers.only, {"outcomes": {"test_busy"}}):
            cases, _ = self.run_layer({"test_outcomes.py": OUTCOMES, "test_busy.py": BUSY}, 2)
        self.assertEqual([case.name for case in cases], ["test_busy.Busy.test_works"])

    def test_processor_seconds_are_told_beside_those_on_the_wall(self):
        works = """
            import subprocess, sys, time, unittest


            class Works(unittest.TestCase):
                def test_works(self):
                    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.6: pass"], check=True)
                    end = time.process_time() + 0.6
                    while time.process_time() < end:
                        pass

                def test_waits(self):
                    time.sleep(1)
        """
        self.run_layer({"test_outcomes.py": works}, 1)
        self.assertGreaterEqual(self.processor["test_outcomes.Works.test_works"], 1.0)
        self.assertLess(self.processor["test_outcomes.Works.test_waits"], 0.5)

    def test_a_process_that_dies_is_a_failure_of_its_file(self):
        cases, _ = self.run_layer({"test_dies.py": DIES, "test_outcomes.py": OUTCOMES}, 1)
        self.check_ends(cases)
        self.assertEqual([(case.name, case.status) for case in cases if "dies" in case.name],
                         [("test_dies.Dies.test_before", tap.PASS), ("test_dies", tap.FAIL)])

    def test_a_file_that_cannot_be_read_is_a_failure(self):
        cases, _ = self.run_layer({"test_broken.py": "import nothing_of_this_name\n", "test_outcomes.py": OUTCOMES}, 2)
        self.check_ends(cases)
        self.assertEqual([case.status for case in cases if case.name == "test_broken"], [tap.FAIL])

    def test_who_is_stopped_stops_its_tests(self):
        """check.py ends by an exception in its main thread, while others wait for tests."""
        hangs = "import time, unittest\n\n\nclass Hangs(unittest.TestCase):\n    def test_hangs(self):\n        time.sleep(1000)\n"

        def stop(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, stop)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.alarm(5)
        with self.assertRaises(KeyboardInterrupt):
            self.run_layer({"test_hangs.py": hangs, "test_hangs_too.py": hangs}, 2)
        self.assertEqual(layers._running, set())  # pylint: disable=protected-access

    def test_one_process_more_than_processors_if_there_is_memory(self):
        for cpus, mib, expected in ((2, 64000, 3), (2, 2 * layers.WORKER_MIB + 1, 2), (1, 64000, 2), (64, 640000, layers.WORKERS_MAX), (2, 100, 1)):
            with self.subTest(cpus=cpus, mib=mib), mock.patch.multiple("opengni.host", cpus=lambda n=cpus: n, available_mib=lambda n=mib: n):
                self.assertEqual(layers._workers(), expected)  # pylint: disable=protected-access

    def test_no_tests_are_an_error(self):
        with self.assertRaisesRegex(layers.LayerError, "no tests"):
            self.run_layer({"test_nothing.py": ""}, 2)
