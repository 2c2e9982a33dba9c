# SPDX-License-Identifier: GPL-2.0-or-later
"""The counting of results: what fails must count as failed, whatever it looks like."""

import json
import tempfile
import unittest
from pathlib import Path

from gnitest import tap


class Tap(unittest.TestCase):
    def test_plain(self):
        text = "TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no device\n"
        cases = tap.parse(text)
        self.assertEqual([(case.name, case.status) for case in cases], [("a", "pass"), ("b", "fail"), ("c", "skip")])
        self.assertEqual(tap.count(cases), (1, 1, 1))

    def test_nothing_at_all_is_a_failure(self):
        self.assertEqual(tap.count(tap.parse("")), (0, 1, 0))
        self.assertEqual(tap.count(tap.parse_kselftest("sh: not found\n")), (0, 1, 0))

    def test_early_end_is_a_failure(self):
        self.assertEqual(tap.count(tap.parse("1..3\nok 1 a\n")), (1, 1, 0))

    def test_whole_stream_skipped(self):
        self.assertEqual(tap.count(tap.parse("1..0 # SKIP no device\n")), (0, 0, 1))

    def test_cmocka_has_no_numbers(self):
        self.assertEqual(tap.count(tap.parse("1..2\nok - first\nnot ok - second\n")), (1, 1, 0))

    def test_what_cmocka_says_of_a_failure_is_its_detail(self):
        text = "1..3\n# of the first\nok 1 - a\n# of nobody\nnot ok 2 - b\n# 1 != 2\n# b.cpp:7: error: Failure!\n# not ok - all\nok 3 - c\n# end\n"
        self.assertEqual([case.detail for case in tap.parse(text)], ["", "1 != 2; b.cpp:7: error: Failure!", ""])


class Kselftest(unittest.TestCase):
    HEAD = "TAP version 13\n1..2\n# selftests: aries: abi\n# TAP version 13\n# 1..2\n# ok 1 abi.a\n"

    def test_cases_of_programs_count(self):
        text = self.HEAD + "# ok 2 abi.b\nok 1 selftests: aries: abi\n# selftests: aries: x\n# 1..1\n# ok 1 x.a # SKIP why\nok 2 selftests: aries: x\n"
        self.assertEqual(tap.count(tap.parse_kselftest(text)), (2, 0, 1))

    def test_failed_case_counts_once(self):
        text = self.HEAD + "# not ok 2 abi.b\nnot ok 1 selftests: aries: abi # exit=1\nok 2 selftests: aries: x # SKIP\n"
        self.assertEqual(tap.count(tap.parse_kselftest(text)), (1, 1, 1))

    def test_crash_after_good_cases_is_a_failure(self):
        text = self.HEAD + "not ok 1 selftests: aries: abi # exit=139\n# selftests: aries: x\nok 2 selftests: aries: x\n"
        cases = tap.parse_kselftest(text)
        self.assertEqual(tap.count(cases), (2, 1, 0))
        self.assertIn("139", [case.detail for case in cases if case.status == tap.FAIL][0])

    def test_timeout_is_a_failure(self):
        text = "1..1\n# selftests: aries: abi\n#\nnot ok 1 selftests: aries: abi # TIMEOUT 45 seconds\n"
        self.assertEqual(tap.count(tap.parse_kselftest(text)), (0, 1, 0))

    def test_runner_that_stops_is_a_failure(self):
        self.assertEqual(tap.count(tap.parse_kselftest(self.HEAD))[1], 1)


class Meson(unittest.TestCase):
    @staticmethod
    def parse(*entries):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "testlog.json"
            path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
            return tap.count(tap.parse_meson(path))

    def test_results(self):
        self.assertEqual(self.parse({"name": "a", "result": "OK", "stdout": "1..2\nok - x\nok - y\n"}), (2, 0, 0))
        self.assertEqual(self.parse({"name": "a", "result": "OK", "stdout": ""}), (1, 0, 0))
        self.assertEqual(self.parse({"name": "a", "result": "FAIL", "stdout": "1..2\nok - x\nnot ok - y\n"}), (1, 1, 0))
        self.assertEqual(self.parse({"name": "a", "result": "SKIP"}), (0, 0, 1))

    def test_sanitizer_report_after_good_cases_is_a_failure(self):
        self.assertEqual(self.parse({"name": "a", "result": "FAIL", "stdout": "1..1\nok - x\n"}), (1, 1, 0))
        self.assertEqual(self.parse({"name": "a", "result": "TIMEOUT", "stdout": ""}), (0, 1, 0))

    def test_times(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "testlog.json"
            path.write_text('{"name": "a", "result": "OK", "duration": 1.5}\n', encoding="utf-8")
            self.assertEqual(tap.meson_times(path), [(1.5, "a")])
        self.assertEqual(tap.meson_times(Path("/nonexistent")), [])

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.parse(), (0, 1, 0))
        self.assertEqual(tap.count(tap.parse_meson(Path("/nonexistent"))), (0, 1, 0))
